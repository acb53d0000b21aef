// runs.c - a profile to a report: the runs of each stream, decided by what stands
// around, added up, and held against the limits of the chip.
#include "base/base.h"

#include "prof/bound.h"
#include "prof/context.h"
#include "prof/dynamic.h"
#include "prof/notes.h"
#include "prof/rest.h"
#include "prof/runs.h"
#include "prof/tally.h"

#include <pthread.h>
#include <unistd.h>

enum { ROWS_OF_A_THREAD = 50000 }; // with fewer one thread is as fast

// The tally of a found run, by what it was found as: thousands are of the same few.
typedef struct Known {
    const char *id; // NULL: nothing is here
    uint32_t match, tally;
    bool is_part;
} Known;

enum { KNOWN = 256 };

static RunTally *tally_of(TallyBook *book, const Occurrence *o, const Found *found,
                          const char *part_of) {
    const Match *match = &o->stream->matches[found->match];
    const Pattern *pattern = match->pattern;
    bool whole = match->members == (match->length == MATCH_WINDOW
                                        ? UINT64_MAX : (UINT64_C(1) << match->length) - 1);
    bool backward = found->id != pattern->id;
    ProfRun like = {
        .kind = pattern->is_remark ? RUN_AFFINITY : RUN_FUSION,
        .pattern = found->id,
        .api = pattern->api,
        .note = pattern->note,
        .part_of = part_of,
        .direction = backward ? RUN_BACKWARD : pattern->direction,
        .contiguous = whole,
        .module_inferred = !book->profile->row_module,
    };
    return tally_get(book, &like);
}

static void add_part(TallyBook *book, Known *known, const Occurrence *o, const Found *found,
                     const char *part_of) {
    Known *at = &known[found->match % KNOWN];
    bool same = at->id == found->id && at->match == found->match && at->is_part == !!part_of;
    if (!same) {
        RunTally *tally = tally_of(book, o, found, part_of);
        *at = (Known){found->id, found->match, (uint32_t)(tally - book->tallies.at), !!part_of};
    }
    tally_add(book, &book->tallies.at[at->tally], o);
}

// add + rms_norm as one run, and the norm inside it as a part.
static void add_composite(TallyBook *book, const Stream *stream, const Found *found) {
    const Match *match = &stream->matches[found->match];
    uint32_t sum = found->at - 1;
    while (stream->profile->kinds[stream->kinds[sum]].op != OP_ADD) sum--;
    uint32_t before = found->at - sum;
    const ProfKind *add = &stream->profile->kinds[stream->kinds[sum]];
    Occurrence o = {
        .stream = stream,
        .at = sum,
        .length = match->length + before,
        .members = match->members << before | 1,
        .bytes = match->bytes + (double)add->bytes,
        .external_bytes = match->external_bytes + 2 * match->x_bytes,
        .flops = match->flops,
    };
    ProfRun like = {
        .kind = RUN_FUSION,
        .pattern = PATTERN_ADD_RMS_NORM,
        .api = "torch_npu.npu_add_rms_norm",
        .direction = RUN_FORWARD,
        .contiguous = true,
        .module_inferred = !book->profile->row_module,
    };
    tally_add(book, tally_get(book, &like), &o);
}

static void add_found(TallyBook *book, const Stream *stream) {
    Known known[KNOWN] = {{0}};
    for (uint32_t i = 0; i < stream->found.len; i++) {
        const Found *found = &stream->found.at[i];
        const Match *match = &stream->matches[found->match];
        Occurrence o = {
            .stream = stream, .at = found->at, .length = match->length,
            .members = match->members, .bytes = match->bytes,
            .external_bytes = match->external_bytes, .flops = match->flops,
        };
        bool joined = found->has_add && match->length < MATCH_WINDOW - 8;
        if (joined) add_composite(book, stream, found);
        add_part(book, known, &o, found, joined ? PATTERN_ADD_RMS_NORM : NULL);
    }
}

typedef struct Miner {
    TallyBook book;
    Matcher *matcher;
    Rest rest;
    Arena scratch;
} Miner;

// The known runs of all streams come first: what is left of one stream may stand
// among the rows of another's.
static void mine_lanes(Miner *miner) {
    const Profile *profile = miner->book.profile;
    Stream *streams = NEW_N(miner->book.arena, Stream, profile->lane_count);
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        matcher_scan(miner->matcher, &streams[i], &profile->lanes[i]);
        context_decide(&streams[i], &miner->scratch);
        add_found(&miner->book, &streams[i]);
        arena_clear(&miner->scratch);
    }
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        rest_mine(&miner->rest, &miner->book, &streams[i]);
    }
}

static void sum_times(ProfReport *out) {
    const Profile *profile = out->profile;
    bool has_steps = false;
    int64_t first = INT64_MAX, last = 0;
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        const ProfKind *kind = &profile->kinds[i];
        if (kind->core == CORE_COMM) out->comm_ns += kind->total_ns;
        else out->kernel_ns += kind->total_ns;
        out->dynamic_kinds += kind->has_state && kind->is_dynamic;
        out->static_kinds += kind->has_state && !kind->is_dynamic;
    }
    for (uint32_t i = 0; i < profile->step_count; i++) {
        const ProfStep *step = &profile->steps[i];
        if (step->last_ns == 0) continue;
        if (step->id != PROF_NONE) {
            has_steps = true;
            out->span_ns += (uint64_t)(step->last_ns - step->first_ns);
        }
        if (step->first_ns < first) first = step->first_ns;
        if (step->last_ns > last) last = step->last_ns;
    }
    if (!has_steps && last > first) out->span_ns = (uint64_t)(last - first);
    // Starts that lost their digits say nothing of how long a step takes.
    if (profile->has.rounded) out->span_ns = out->kernel_ns;
}

// The shortest kernel of the profile is what a launch takes at least.
static double shortest_us(const Profile *profile) {
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        const ProfKind *kind = &profile->kinds[i];
        bool usual = kind->core != CORE_COMM && kind->core != CORE_OTHER && kind->min_ns > 0;
        if (usual && kind->min_ns < least) least = kind->min_ns;
    }
    return least == UINT64_MAX ? 0 : (double)least / 1000.0;
}

// What needs the rows but no runs, beside the search for these.
typedef struct Aside {
    ProfReport report;
    Arena arena;
    pthread_t thread;
    bool started;
} Aside;

static void *look_aside(void *data) {
    Aside *aside = data;
    bound_kinds(&aside->report, &aside->arena);
    dynamic_find(&aside->report, &aside->arena);
    return NULL;
}

static void begin_aside(Aside *aside, const ProfReport *report, uint32_t jobs) {
    long processors = jobs ? (long)jobs : sysconf(_SC_NPROCESSORS_ONLN);
    bool alone = report->profile->row_count < ROWS_OF_A_THREAD || processors < 2;
    *aside = (Aside){.report = *report};
    arena_init(&aside->arena);
    aside->started = !alone && pthread_create(&aside->thread, NULL, look_aside, aside) == 0;
}

static void end_aside(Aside *aside, ProfReport *out, Arena *arena) {
    if (aside->started) pthread_join(aside->thread, NULL);
    else look_aside(aside);
    out->bounds = aside->report.bounds;
    out->changes = aside->report.changes;
    arena_adopt(arena, &aside->arena);
}

void runs_mine(ProfReport *out, Arena *arena, const Profile *profile,
               const MineOptions *options) {
    *out = (ProfReport){.profile = profile, .chip = options->chip};
    Miner miner = {0};
    tally_init(&miner.book, arena, profile);
    miner.matcher = matcher_new(arena, profile);
    rest_init(&miner.rest, arena, profile, options->custom_max);
    arena_init(&miner.scratch);
    if (out->chip.launch_us <= 0) out->chip.launch_us = shortest_us(profile);
    Aside aside;
    begin_aside(&aside, out, options->jobs);
    mine_lanes(&miner);
    sum_times(out);
    tally_finish(out, &miner.book);
    end_aside(&aside, out, arena);
    bound_runs(out, arena);
    notes_add(out, arena, miner.rest.stopped);
    matcher_free(miner.matcher);
    arena_free(&miner.scratch);
}
