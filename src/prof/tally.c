// tally.c - one ProfRun for each pattern, with its time and its gaps summed up
// over all occurrences.
#include "base/base.h"

#include "prof/bound.h"
#include "prof/tally.h"

#include <stdlib.h>

enum {
    MAX_VARIANTS = 32,
    SEQUENCE_MAX = 64, // types that are named
    SEAM_ROWS = 16, // rows of other streams, about, inside a run
};

static bool is_same(const ProfRun *a, const ProfRun *b) {
    bool one_part = (a->part_of == NULL) == (b->part_of == NULL) &&
                    (!a->part_of || strcmp(a->part_of, b->part_of) == 0);
    return strcmp(a->pattern, b->pattern) == 0 && a->contiguous == b->contiguous &&
           one_part && (a->kind != RUN_CUSTOM || str_eq(a->sequence, b->sequence));
}

RunTally *tally_get(TallyBook *book, const ProfRun *like) {
    for (uint32_t i = 0; i < book->tallies.len; i++) {
        if (is_same(&book->tallies.at[i].run, like)) return &book->tallies.at[i];
    }
    RunTally tally = {.run = *like};
    vec_push(book->arena, &book->tallies, tally);
    return &book->tallies.at[book->tallies.len - 1];
}

// Only short runs have strangers inside.
static bool is_member(const Occurrence *o, uint32_t i) {
    return i >= 64 || (o->members >> i & 1);
}

static Str sequence_of(Arena *arena, const Occurrence *o) {
    Str text = STR("");
    for (uint32_t i = 0; i < o->length && i < SEQUENCE_MAX; i++) {
        if (!is_member(o, i)) continue;
        const ProfKind *kind = &o->stream->profile->kinds[o->stream->kinds[o->at + i]];
        text = arena_printf(arena, "%.*s%s%.*s", STR_FMT(text), text.len ? " " : "",
                            STR_FMT(kind->type));
    }
    return text;
}

static void add_variant(TallyBook *book, RunTally *tally, const Occurrence *o,
                        const RunVariant *part) {
    uint32_t kind = o->stream->kinds[o->at], i = 0;
    while (i < tally->variants.len && tally->variant_kinds.at[i] != kind) i++;
    if (i == tally->variants.len) {
        if (i == MAX_VARIANTS) return;
        const ProfKind *first = &book->profile->kinds[kind];
        Str shape = first->in_count ? prof_tensor_text(book->arena, &first->in[0]) : STR("");
        vec_push(book->arena, &tally->variants, (RunVariant){.shape = shape});
        vec_push(book->arena, &tally->variant_kinds, kind);
    }
    RunVariant *variant = &tally->variants.at[i];
    variant->count++;
    variant->device_ns += part->device_ns;
    variant->gap_ns += part->gap_ns;
}

static void begin_run(TallyBook *book, RunTally *tally, const Occurrence *o) {
    const Profile *profile = book->profile;
    uint32_t row = o->stream->lane->rows[o->at];
    ProfRun *run = &tally->run;
    if (run->sequence.len == 0) run->sequence = sequence_of(book->arena, o);
    for (uint32_t i = 0; i < o->length; i++) run->kernels += is_member(o, i);
    if (profile->row_module) run->module = profile->modules[profile->row_module[row]];
    if (profile->row_site) run->site = profile->sites[profile->row_site[row]];
}

// The bytes that the kernels' counters say, where they have them.
static void add_counted(RunTally *tally, const Occurrence *o) {
    const Profile *profile = o->stream->profile;
    for (uint32_t i = 0; i < o->length && !tally->is_uncounted; i++) {
        double bytes;
        if (!is_member(o, i)) continue;
        const ProfKind *kind = &profile->kinds[o->stream->kinds[o->at + i]];
        if (bound_counted_bytes(&bytes, kind)) tally->run.counted_bytes += bytes;
        else tally->is_uncounted = true;
    }
    if (tally->is_uncounted) tally->run.counted_bytes = 0;
}

void tally_init(TallyBook *book, Arena *arena, const Profile *profile) {
    uint32_t busy = 0;
    *book = (TallyBook){.arena = arena, .profile = profile};
    for (uint32_t i = 0; i < profile->lane_count; i++) busy += profile->lanes[i].len > 0;
    if (busy > 1) book->around = NEW_N(arena, uint8_t, profile->row_count);
}

// The rows from the first to the last of the occurrence in the file.
static RunRange range_of(const Occurrence *o) {
    const uint32_t *lane = o->stream->lane->rows + o->at;
    RunRange range = {lane[0], lane[0]};
    for (uint32_t i = 0; i < o->length; i++) {
        if (!is_member(o, i)) continue;
        if (lane[i] < range.first) range.first = lane[i];
        if (lane[i] > range.last) range.last = lane[i];
    }
    // Where slices were put together out of order a run has its end at one place of
    // the file and its beginning at another: then as it ran, first > last.
    bool ordered = range.first == lane[0] && range.last == lane[o->length - 1];
    bool torn = !ordered && range.last - range.first > SEAM_ROWS + 4 * o->length;
    return torn ? (RunRange){lane[0], lane[o->length - 1]} : range;
}

const ProfRun *tally_around(const TallyBook *book, const Occurrence *o) {
    RunRange range = range_of(o);
    for (uint32_t row = range.first; book->around && row <= range.last; row++) {
        uint8_t run = book->around[row];
        if (run) return &book->tallies.at[run - 1].run;
    }
    return NULL;
}

static void stand_around(TallyBook *book, const RunTally *tally, RunRange range) {
    size_t index = (size_t)(tally - book->tallies.at) + 1;
    uint8_t mark = index < UINT8_MAX ? (uint8_t)index : UINT8_MAX;
    for (uint32_t row = range.first; row <= range.last; row++) book->around[row] = mark;
}

static uint64_t gap_before(const ProfRow *row, const ProfRow *before) {
    int64_t gap = row->start_ns - before->start_ns - (int64_t)before->duration_ns;
    return gap > 0 ? (uint64_t)gap : 0;
}

void tally_add(TallyBook *book, RunTally *tally, const Occurrence *o) {
    const ProfRow *rows = book->profile->rows;
    const uint32_t *lane = o->stream->lane->rows + o->at;
    RunRange range = range_of(o);
    RunVariant part = {0};
    if (tally->ranges.len == 0) begin_run(book, tally, o);
    if (book->around && !tally->run.part_of) stand_around(book, tally, range);
    for (uint32_t i = 0; i < o->length; i++) {
        if (!is_member(o, i)) continue;
        const ProfRow *row = &rows[lane[i]];
        part.device_ns += row->duration_ns;
        // A run in parts has the gap in front of each of them.
        bool inner = i > 0 || (!tally->run.contiguous && o->at > 0);
        if (inner) part.gap_ns += gap_before(row, &rows[lane[(int64_t)i - 1]]);
    }
    ProfRun *run = &tally->run;
    run->device_ns += part.device_ns;
    run->gap_ns += part.gap_ns;
    run->bytes += o->bytes;
    run->external_bytes += o->external_bytes;
    run->flops += o->flops;
    if (book->profile->has.memory_bytes) add_counted(tally, o);
    if (!run->part_of && run->kind == RUN_FUSION) book->claimed_ns += part.device_ns;
    vec_push(book->arena, &tally->ranges, range);
    add_variant(book, tally, o, &part);
}

static int compare_ranges(const void *a, const void *b) {
    const RunRange *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static int compare_runs(const void *a, const void *b) {
    const ProfRun *x = a, *y = b;
    uint64_t tx = x->device_ns + x->gap_ns, ty = y->device_ns + y->gap_ns;
    if ((x->part_of == NULL) != (y->part_of == NULL)) return x->part_of ? 1 : -1;
    if (tx != ty) return tx > ty ? -1 : 1;
    if (x->count && y->count && x->at[0].first != y->at[0].first) {
        return x->at[0].first < y->at[0].first ? -1 : 1;
    }
    return strcmp(x->pattern, y->pattern);
}

static bool is_sorted(const RunTally *tally) {
    for (uint32_t i = 1; i < tally->ranges.len; i++) {
        if (tally->ranges.at[i].first < tally->ranges.at[i - 1].first) return false;
    }
    return true;
}

void tally_finish(ProfReport *out, TallyBook *book) {
    for (uint32_t i = 0; i < book->tallies.len; i++) {
        RunTally *tally = &book->tallies.at[i];
        if (!is_sorted(tally)) {
            qsort(tally->ranges.at, tally->ranges.len, sizeof(RunRange), compare_ranges);
        }
        tally->run.at = tally->ranges.at;
        tally->run.count = tally->ranges.len;
        tally->run.variants = tally->variants.at;
        tally->run.variant_count = tally->variants.len;
        vec_push(book->arena, &out->runs, tally->run);
    }
    out->claimed_ns = book->claimed_ns;
    if (out->runs.len) qsort(out->runs.at, out->runs.len, sizeof(ProfRun), compare_runs);
}
