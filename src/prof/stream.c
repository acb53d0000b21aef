// stream.c - goes through a stream and tries the patterns at each kernel. Training
// repeats itself: what a pattern said about a sequence of kernels is remembered by
// the first of them, with as many of those that follow as had a say.
#include "base/base.h"

#include "prof/stream.h"

enum { MEMORIES = 6 }; // of one first kernel; more push out the oldest

typedef struct Memory {
    uint32_t *ids; // the kernels that had a say, `count` of them
    uint32_t count;
    uint32_t match; // index into matches; NO_MATCH
} Memory;

#define NO_MATCH UINT32_MAX

typedef struct KindMemory {
    uint64_t may_start; // bit i: patterns[i]
    uint32_t len, next;
    Memory at[MEMORIES];
} KindMemory;

struct Matcher {
    const Profile *profile;
    Arena arena;  // memories, matches and streams; what is there stays where it is
    KindMemory *kinds;
    VEC(Match) matches;
};

static uint64_t starts_of(const Profile *profile, const ProfKind *kind) {
    uint64_t bits = 0;
    if (!kind->has_shapes) return 0;
    for (uint32_t i = 0; i < pattern_count; i++) {
        if (patterns[i].without_outputs == profile->has.out_shapes) continue;
        if (match_may_start(&patterns[i], kind)) bits |= UINT64_C(1) << i;
    }
    return bits;
}

Matcher *matcher_new(Arena *arena, const Profile *profile) {
    if (pattern_count > 64) BUG("%u patterns for 64 bits", pattern_count);
    Matcher *matcher = NEW(arena, Matcher);
    matcher->profile = profile;
    arena_init(&matcher->arena);
    matcher->kinds = NEW_N(&matcher->arena, KindMemory, profile->kind_count);
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        matcher->kinds[i].may_start = starts_of(profile, &profile->kinds[i]);
    }
    return matcher;
}

void matcher_free(Matcher *matcher) {
    arena_free(&matcher->arena);
}

static const Memory *recall(const KindMemory *memory, const uint32_t *ids, uint32_t left) {
    for (uint32_t m = 0; m < memory->len; m++) {
        const Memory *known = &memory->at[m];
        if (known->count > left) continue;
        uint32_t i = 1;
        while (i < known->count && known->ids[i] == ids[i]) i++;
        if (i == known->count) return known;
    }
    return NULL;
}

static void remember(Matcher *matcher, KindMemory *memory, Memory fact, const uint32_t *ids) {
    Memory *to = &memory->at[memory->next];
    memory->next = (memory->next + 1) % MEMORIES;
    if (memory->len < MEMORIES) memory->len++;
    if (!to->ids) to->ids = NEW_N(&matcher->arena, uint32_t, MATCH_WINDOW);
    memcpy(to->ids, ids, fact.count * sizeof(*ids));
    to->count = fact.count;
    to->match = fact.match;
}

// Tries all patterns that may begin there; the first that fits counts.
static uint32_t try_patterns(Matcher *matcher, const MatchView *view, uint64_t bits,
                             uint32_t *seen) {
    *seen = 1;
    for (uint32_t i = 0; i < pattern_count; i++) {
        if (!(bits >> i & 1)) continue;
        Match match;
        bool fits = match_pattern(&match, &patterns[i], view);
        if (match.seen > *seen) *seen = match.seen;
        if (!fits) continue;
        vec_push(&matcher->arena, &matcher->matches, match);
        return matcher->matches.len - 1;
    }
    return NO_MATCH;
}

static uint32_t match_at(Matcher *matcher, const Stream *stream, uint32_t at) {
    const uint32_t *ids = stream->kinds + at;
    KindMemory *memory = &matcher->kinds[ids[0]];
    uint32_t left = stream->lane->len - at, seen;
    if (!memory->may_start) return NO_MATCH;
    const Memory *known = recall(memory, ids, left);
    if (known) return known->match;
    MatchView view = {matcher->profile->kinds, ids, left, matcher->profile->has.out_shapes};
    uint32_t match = try_patterns(matcher, &view, memory->may_start, &seen);
    // At the end of the stream the kernels that are missing had a say.
    if (seen < left) remember(matcher, memory, (Memory){.count = seen, .match = match}, ids);
    return match;
}

// Whether the gradients of a gate are put together in one tensor: they are where the
// gate's input was one. `same` is a run before, `match` the gradient's.
static bool is_of_one_tensor(const Match *same, const Match *match) {
    return same->pattern->direction == RUN_FORWARD && same->is_double &&
           same->x_count == match->x_count;
}

// A gradient that lacks no more than that has all there is if no gate before it took a
// tensor of both halves, and one of its size is there.
static bool is_gate_whole(const Matcher *matcher, const Stream *stream, const Match *match) {
    bool has_gate = false;
    if (!match->lacks_double || match->pattern->direction != RUN_BACKWARD) return false;
    for (uint32_t i = 0; i < stream->found.len; i++) {
        const Match *other = &matcher->matches.at[stream->found.at[i].match];
        if (is_of_one_tensor(other, match)) return false;
        has_gate |= other->pattern->direction == RUN_FORWARD && other->x_count == match->x_count;
    }
    return has_gate;
}

// A run at the very end counts if it looks like one elsewhere.
static bool is_whole(const Matcher *matcher, const Stream *stream, const Match *match,
                     uint32_t at) {
    if (!match->may_be_cut || is_gate_whole(matcher, stream, match)) return true;
    for (uint32_t i = 0; i < stream->found.len; i++) {
        const Found *found = &stream->found.at[i];
        const Match *other = &matcher->matches.at[found->match];
        bool same = other->pattern == match->pattern && other->length == match->length &&
                    stream->kinds[found->at + other->length - 1] ==
                        stream->kinds[at + match->length - 1];
        if (same) return true;
    }
    return false;
}

void matcher_scan(Matcher *matcher, Stream *out, const ProfLane *lane) {
    const Profile *profile = matcher->profile;
    *out = (Stream){.profile = profile, .lane = lane};
    out->kinds = arena_raw(&matcher->arena, (size_t)lane->len * sizeof(uint32_t));
    for (uint32_t i = 0; i < lane->len; i++) {
        out->kinds[i] = profile->rows[lane->rows[i]].kind;
    }
    for (uint32_t i = 0; i < lane->len;) {
        uint32_t index = match_at(matcher, out, i);
        if (index == NO_MATCH || !is_whole(matcher, out, &matcher->matches.at[index], i)) {
            i++;
            continue;
        }
        const Match *match = &matcher->matches.at[index];
        Found found = {.at = i, .match = index, .id = match->pattern->id};
        vec_push(&matcher->arena, &out->found, found);
        i += match->length;
    }
    out->matches = matcher->matches.at;
}
