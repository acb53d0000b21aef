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

static void sort_lane(const Profile *profile, ProfLane *lane) {
    Arena scratch;
    arena_init(&scratch);
    uint32_t *spare = NEW_N(&scratch, uint32_t, lane->len);
    while (!merge_round(profile, lane, spare)) continue;
    arena_free(&scratch);
}

static void add_to_step(ProfStep *step, const ProfRow *row, bool comm) {
    int64_t end = row->start_ns + (int64_t)row->duration_ns;
    if (step->last_ns == 0 || row->start_ns < step->first_ns) step->first_ns = row->start_ns;
    if (end > step->last_ns) step->last_ns = end;
    if (!comm) step->busy_ns += row->duration_ns;
}

static void count_rows(Profile *profile, uint32_t *counts, bool *is_comm_kind) {
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        is_comm_kind[i] = profile->kinds[i].core == CORE_COMM;
    }
    for (uint32_t i = 0; i < profile->row_count; i++) {
        const ProfRow *row = &profile->rows[i];
        if (row->kind == PROF_NO_KIND) continue;
        bool comm = is_comm_kind[row->kind];
        counts[row->lane] += !comm;
        add_to_step(&profile->steps[row->step], row, comm);
    }
}

void lanes_order(Profile *profile, Arena *arena) {
    uint32_t *counts = NEW_N(arena, uint32_t, profile->lane_count + 1);
    bool *comm_kind = NEW_N(arena, bool, profile->kind_count);
    bool *unsorted = NEW_N(arena, bool, profile->lane_count + 1);
    count_rows(profile, counts, comm_kind);
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        profile->lanes[i].rows = arena_raw(arena, (size_t)counts[i] * sizeof(uint32_t));
        profile->lanes[i].is_comm = counts[i] == 0;
    }
    for (uint32_t i = 0; i < profile->row_count; i++) {
        const ProfRow *row = &profile->rows[i];
        if (row->kind == PROF_NO_KIND || comm_kind[row->kind]) continue;
        ProfLane *lane = &profile->lanes[row->lane];
        if (lane->len) {
            const ProfRow *before = &profile->rows[lane->rows[lane->len - 1]];
            unsorted[row->lane] |= row->start_ns < before->start_ns;
        }
        lane->rows[lane->len++] = i;
    }
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        if (unsorted[i]) sort_lane(profile, &profile->lanes[i]);
    }
}
