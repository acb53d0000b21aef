// stream.c - goes through a stream and tries the patterns at each kernel. Training
// repeats itself: what a pattern said about a sequence of kernels is remembered by
// the first of them, with as many of those that follow as had a say.
//
// A weight decay that comes last in AdamW is the same kernel as one that comes first.
// Where runs follow each other it is taken for the next one's; which it is shows at
// both ends of such a group.
#include "base/base.h"

#include "prof/stream.h"

enum { MEMORIES = 6 }; // of one first kernel; more push out the oldest

typedef struct Memory {
    uint32_t *ids; // the kernels that had a say, `count` of them
    uint32_t count;
    uint32_t match; // index into matches; NO_MATCH
} Memory;

#define NO_MATCH UINT32_MAX

enum { START_WORDS = 2 };

// Which patterns may begin: bit i is patterns[i].
typedef struct Starts {
    uint64_t words[START_WORDS];
    bool any;
} Starts;

typedef struct KindMemory {
    Starts may_start;
    uint32_t len, next;
    Memory at[MEMORIES];
} KindMemory;

struct Matcher {
    const Profile *profile;
    Arena arena;  // memories, matches and streams; what is there stays where it is
    KindMemory *kinds;
    VEC(Match) matches;
    bool *is_adamw; // of each pattern
    uint32_t moved; // matches from here on are of runs whose decay comes last
};

static Starts starts_of(const Profile *profile, const ProfKind *kind) {
    Starts starts = {0};
    if (!kind->has_shapes) return starts;
    for (uint32_t i = 0; i < pattern_count; i++) {
        if (patterns[i].without_outputs == profile->has.out_shapes) continue;
        if (!match_may_start(&patterns[i], kind)) continue;
        starts.words[i / 64] |= UINT64_C(1) << i % 64;
        starts.any = true;
    }
    return starts;
}

Matcher *matcher_new(Arena *arena, const Profile *profile) {
    if (pattern_count > START_WORDS * 64) BUG("%u patterns, too many to start", pattern_count);
    Matcher *matcher = NEW(arena, Matcher);
    matcher->profile = profile;
    arena_init(&matcher->arena);
    matcher->kinds = NEW_N(&matcher->arena, KindMemory, profile->kind_count);
    matcher->is_adamw = NEW_N(&matcher->arena, bool, pattern_count);
    for (uint32_t i = 0; i < pattern_count; i++) {
        matcher->is_adamw[i] = strcmp(patterns[i].id, PATTERN_ADAMW) == 0 &&
                               !patterns[i].is_list;
    }
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
static uint32_t try_patterns(Matcher *matcher, const MatchView *view,
                             const Starts *starts, uint32_t *seen) {
    *seen = 1;
    for (uint32_t i = 0; i < pattern_count; i++) {
        if (!(starts->words[i / 64] >> i % 64 & 1)) continue;
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
    if (!memory->may_start.any) return NO_MATCH;
    const Memory *known = recall(memory, ids, left);
    if (known) return known->match;
    MatchView view = {matcher->profile->kinds, ids, left, matcher->profile->has.out_shapes};
    uint32_t match = try_patterns(matcher, &view, &memory->may_start, &seen);
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

// ---- AdamW that decays last ---------------------------------------------------------

// Runs found[first .. last], each right behind the one before.
typedef struct Group {
    uint32_t first, last;
} Group;

static const ProfKind *kind_of(const Stream *stream, uint32_t at) {
    return &stream->profile->kinds[stream->kinds[at]];
}

static uint32_t end_of(const Matcher *matcher, const Found *found) {
    return found->at + matcher->matches.at[found->match].length;
}

static bool is_adamw(const Matcher *matcher, const Found *found) {
    return matcher->is_adamw[matcher->matches.at[found->match].pattern - patterns];
}

// The place in a run of its second kernel that is no fill.
static uint32_t second_of(const Stream *stream, const Found *found) {
    uint32_t i = 1;
    while (kind_of(stream, found->at + i)->op == OP_FILL) i++;
    return i;
}

static bool decays_first(const Stream *stream, const Found *found) {
    uint32_t second = second_of(stream, found);
    uint32_t op = kind_of(stream, found->at + second)->op;
    return kind_of(stream, found->at)->op == OP_MUL && (op == OP_MUL || op == OP_LERP);
}

// The place of the first kernel behind the run that is no fill.
static uint32_t place_behind(const Matcher *matcher, const Stream *stream, const Found *found) {
    uint32_t at = end_of(matcher, found);
    while (at < stream->lane->len && kind_of(stream, at)->op == OP_FILL) at++;
    return at;
}

// Whether the kernel there multiplies a tensor like the run's by a number.
static bool has_decay_behind(const Matcher *matcher, const Stream *stream, const Found *found) {
    uint32_t at = place_behind(matcher, stream, found), end = end_of(matcher, found);
    if (at >= stream->lane->len || at - found->at >= MATCH_WINDOW) return false;
    const ProfKind *decay = kind_of(stream, at), *update = kind_of(stream, end - 1);
    if (decay->op != OP_MUL || !decay->in_count || !decay->out_count) return false;
    const ProfTensor *x = &update->out[0];
    bool number = decay->in_count == 1 || decay->in[1].is_absent || decay->in[1].count == 1;
    return number && update->out_count && decay->in[0].count == x->count &&
           decay->in[0].rank == x->rank && decay->out[0].dtype == x->dtype;
}

static bool next_group(Group *group, const Matcher *matcher, const Stream *stream,
                       uint32_t from) {
    while (from < stream->found.len && !is_adamw(matcher, &stream->found.at[from])) from++;
    if (from >= stream->found.len) return false;
    *group = (Group){from, from};
    while (group->last + 1 < stream->found.len) {
        const Found *next = &stream->found.at[group->last + 1];
        bool follows = is_adamw(matcher, next) && decays_first(stream, next) &&
                       next->at == place_behind(matcher, stream, next - 1);
        if (!follows) break;
        group->last++;
    }
    return true;
}

static bool decays_last(const Matcher *matcher, const Stream *stream, const Group *group) {
    const Found *found = stream->found.at;
    uint32_t behind = place_behind(matcher, stream, &found[group->last]);
    bool is_next = group->last + 1 < stream->found.len && found[group->last + 1].at == behind;
    return !is_next && !decays_first(stream, &found[group->first]) &&
           has_decay_behind(matcher, stream, &found[group->last]);
}

static void set_match(Matcher *matcher, Found *found, const Match *match) {
    for (uint32_t m = matcher->moved; m < matcher->matches.len; m++) {
        const Match *known = &matcher->matches.at[m];
        bool same = known->members == match->members && known->x_count == match->x_count &&
                    known->bytes >= match->bytes && known->bytes <= match->bytes;
        if (same) {
            found->match = m;
            return;
        }
    }
    vec_push(&matcher->arena, &matcher->matches, *match);
    found->match = matcher->matches.len - 1;
}

// The run without the kernel in front.
static void cut_front(Match *match, const Stream *stream, Found *found) {
    uint32_t cut = second_of(stream, found);
    match->bytes -= (double)kind_of(stream, found->at)->bytes;
    match->members >>= cut;
    match->length = (uint8_t)(match->length - cut);
    found->at += cut;
}

// The run without the decay in front, with the one behind.
static void move_run(Matcher *matcher, const Stream *stream, Found *found) {
    Match match = matcher->matches.at[found->match];
    uint32_t decay = place_behind(matcher, stream, found);
    if (decays_first(stream, found)) cut_front(&match, stream, found);
    for (uint32_t at = found->at + match.length; at <= decay; at++) {
        match.members |= UINT64_C(1) << (at - found->at);
    }
    match.bytes += (double)kind_of(stream, decay)->bytes;
    match.length = (uint8_t)(decay + 1 - found->at);
    set_match(matcher, found, &match);
}

// Whether what looks like the decay of the run is the last of a series of scalings, as
// clipping makes them: the run behind it has no decay.
static bool begins_with_scaling(const Matcher *matcher, const Stream *stream, uint32_t i) {
    const Found *found = &stream->found.at[i];
    if (i + 1 >= stream->found.len || !found->at || !is_adamw(matcher, found) ||
        !is_adamw(matcher, found + 1) || !decays_first(stream, found) ||
        decays_first(stream, found + 1)) {
        return false;
    }
    bool follows = found[1].at == place_behind(matcher, stream, found);
    bool is_claimed = i && end_of(matcher, found - 1) == found->at;
    const ProfKind *before = kind_of(stream, found->at - 1);
    const ProfKind *first = kind_of(stream, found->at);
    return follows && !is_claimed && before->op == OP_MUL &&
           before->in_count == first->in_count && before->out_count &&
           before->out[0].dtype == first->out[0].dtype;
}

static void cut_scalings(Matcher *matcher, Stream *stream) {
    for (uint32_t i = 0; i < stream->found.len; i++) {
        if (!begins_with_scaling(matcher, stream, i)) continue;
        Match match = matcher->matches.at[stream->found.at[i].match];
        cut_front(&match, stream, &stream->found.at[i]);
        set_match(matcher, &stream->found.at[i], &match);
    }
}

static void move_decays(Matcher *matcher, Stream *stream) {
    uint32_t late = 0, other = 0;
    Group group;
    for (uint32_t i = 0; next_group(&group, matcher, stream, i); i = group.last + 1) {
        if (decays_last(matcher, stream, &group)) late++;
        else other++;
    }
    if (late <= other) return;
    for (uint32_t i = 0; next_group(&group, matcher, stream, i); i = group.last + 1) {
        bool is_cut = end_of(matcher, &stream->found.at[group.last]) == stream->lane->len;
        if (!is_cut && !decays_last(matcher, stream, &group)) continue;
        uint32_t end = is_cut ? group.last : group.last + 1;
        for (uint32_t r = group.first; r < end; r++) {
            Found *found = &stream->found.at[r];
            if (has_decay_behind(matcher, stream, found)) move_run(matcher, stream, found);
        }
        if (is_cut) stream->found.len--; // it lacks its decay
    }
}

void matcher_scan(Matcher *matcher, Stream *out, const ProfLane *lane) {
    const Profile *profile = matcher->profile;
    *out = (Stream){.profile = profile, .lane = lane, .kinds = lane->kinds};
    for (uint32_t i = 0; i < lane->len;) {
        uint32_t index = match_at(matcher, out, i);
        if (index == NO_MATCH) {
            i++;
            continue;
        }
        const Match *match = &matcher->matches.at[index];
        Found found = {.at = i, .match = index, .id = match->pattern->id};
        bool whole = is_whole(matcher, out, match, i);
        if (whole) vec_push(&matcher->arena, &out->found, found);
        i += match->length;
    }
    matcher->moved = matcher->matches.len;
    cut_scalings(matcher, out);
    move_decays(matcher, out);
    out->matches = matcher->matches.at;
}
