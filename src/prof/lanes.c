// lanes.c - rows by lane and time. Most files are in order already: only a lane
// that is not gets sorted, by merging the stretches that are.
#include "base/base.h"

#include "prof/lanes.h"

// Appends the merge of two neighbouring sorted stretches to `out`.
static void merge_two(const Profile *profile, uint32_t *out, const uint32_t *from,
                      const uint32_t bounds[3]) {
    uint32_t a = bounds[0], b = bounds[1], to = bounds[0];
    while (a < bounds[1] && b < bounds[2]) {
        bool right = profile->rows[from[b]].start_ns < profile->rows[from[a]].start_ns;
        out[to++] = from[right ? b++ : a++];
    }
    while (a < bounds[1]) out[to++] = from[a++];
    while (b < bounds[2]) out[to++] = from[b++];
}

// The end of the sorted stretch that begins at `from`.
static uint32_t stretch_end(const Profile *profile, const ProfLane *lane, uint32_t from) {
    uint32_t i = from + 1;
    while (i < lane->len && profile->rows[lane->rows[i]].start_ns >=
                                profile->rows[lane->rows[i - 1]].start_ns) {
        i++;
    }
    return i < lane->len ? i : lane->len;
}

// One round of merging neighbours; true if everything was one stretch already.
static bool merge_round(const Profile *profile, ProfLane *lane, uint32_t *spare) {
    uint32_t end = stretch_end(profile, lane, 0);
    if (end == lane->len) return true;
    for (uint32_t from = 0; from < lane->len;) {
        uint32_t middle = stretch_end(profile, lane, from);
        uint32_t last = middle < lane->len ? stretch_end(profile, lane, middle) : middle;
        merge_two(profile, spare, lane->rows, (uint32_t[]){from, middle, last});
        from = last;
    }
    memcpy(lane->rows, spare, lane->len * sizeof(*spare));
    return false;
}

// The kinds follow the rows.
static void sort_lane(const Profile *profile, ProfLane *lane) {
    Arena scratch;
    arena_init(&scratch);
    uint32_t *spare = NEW_N(&scratch, uint32_t, lane->len);
    while (!merge_round(profile, lane, spare)) continue;
    arena_free(&scratch);
    for (uint32_t i = 0; i < lane->len; i++) lane->kinds[i] = profile->rows[lane->rows[i]].kind;
}

static void add_to_step(ProfStep *step, const ProfRow *row, bool comm) {
    int64_t end = row->start_ns + (int64_t)row->duration_ns;
    if (step->last_ns == 0 || row->start_ns < step->first_ns) step->first_ns = row->start_ns;
    if (end > step->last_ns) step->last_ns = end;
    if (!comm) step->busy_ns += row->duration_ns;
}

static void join_step(ProfStep *step, const ProfStep *part) {
    if (part->last_ns == 0) return;
    if (step->last_ns == 0 || part->first_ns < step->first_ns) step->first_ns = part->first_ns;
    if (part->last_ns > step->last_ns) step->last_ns = part->last_ns;
    step->busy_ns += part->busy_ns;
}

void lanes_share(LaneShare *shares, uint32_t count, const Profile *profile, Arena *arena) {
    bool *is_comm = NEW_N(arena, bool, profile->kind_count);
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        is_comm[i] = profile->kinds[i].core == CORE_COMM;
    }
    for (uint32_t s = 0; s < count; s++) {
        shares[s].len = NEW_N(arena, uint32_t, profile->lane_count + 1);
        shares[s].first = NEW_N(arena, uint32_t, profile->lane_count + 1);
        shares[s].unsorted = NEW_N(arena, bool, profile->lane_count + 1);
        shares[s].steps = NEW_N(arena, ProfStep, profile->step_count + 1);
        shares[s].is_comm = is_comm;
    }
}

// Rows of one step follow each other: its sums are put down where it ends.
void lanes_count(LaneShare *share, const Profile *profile, uint32_t from, uint32_t end) {
    ProfStep part = {0};
    uint32_t step = 0;
    for (uint32_t i = from; i < end; i++) {
        const ProfRow *row = &profile->rows[i];
        if (row->kind == PROF_NO_KIND) continue;
        bool comm = share->is_comm[row->kind];
        share->len[row->lane] += !comm;
        if (row->step != step) {
            join_step(&share->steps[step], &part);
            part = (ProfStep){0};
            step = row->step;
        }
        add_to_step(&part, row, comm);
    }
    join_step(&share->steps[step], &part);
}

void lanes_begin(Profile *profile, Arena *arena, LaneShare *shares, uint32_t count) {
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        ProfLane *lane = &profile->lanes[i];
        for (uint32_t s = 0; s < count; s++) {
            shares[s].first[i] = lane->len;
            lane->len += shares[s].len[i];
        }
        lane->is_comm = lane->len == 0;
        lane->rows = arena_raw_untouched(arena, lane->len * sizeof(uint32_t));
        lane->kinds = arena_raw_untouched(arena, lane->len * sizeof(uint32_t));
    }
    for (uint32_t i = 0; i < profile->step_count; i++) {
        for (uint32_t s = 0; s < count; s++) join_step(&profile->steps[i], &shares[s].steps[i]);
    }
}

void lanes_place(LaneShare *share, Profile *profile) {
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        const ProfLane *lane = &profile->lanes[i];
        arena_touch(lane->rows + share->first[i], share->len[i] * sizeof(*lane->rows));
        arena_touch(lane->kinds + share->first[i], share->len[i] * sizeof(*lane->kinds));
        share->len[i] = 0;
    }
    for (uint32_t i = share->from; i < share->end; i++) {
        const ProfRow *row = &profile->rows[i];
        if (row->kind == PROF_NO_KIND || share->is_comm[row->kind]) continue;
        const ProfLane *lane = &profile->lanes[row->lane];
        uint32_t nth = share->len[row->lane]++, at = share->first[row->lane] + nth;
        lane->rows[at] = i;
        lane->kinds[at] = row->kind;
        if (nth && row->start_ns < profile->rows[lane->rows[at - 1]].start_ns) {
            share->unsorted[row->lane] = true;
        }
    }
}

// Whether the lane is in order within each share, and from one to the next.
static bool is_in_order(const Profile *profile, uint32_t lane, const LaneShare *shares,
                        uint32_t count) {
    const ProfLane *all = &profile->lanes[lane];
    for (uint32_t s = 0; s < count; s++) {
        uint32_t at = shares[s].first[lane];
        if (shares[s].unsorted[lane]) return false;
        if (at == 0 || at == all->len) continue;
        if (profile->rows[all->rows[at]].start_ns < profile->rows[all->rows[at - 1]].start_ns) {
            return false;
        }
    }
    return true;
}

void lanes_end(Profile *profile, const LaneShare *shares, uint32_t count) {
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        if (!is_in_order(profile, i, shares, count)) sort_lane(profile, &profile->lanes[i]);
    }
}
