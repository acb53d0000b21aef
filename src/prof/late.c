// late.c - see late.h: patterns that come last, some only where several of them stand
// in a row, and loops of norms, which have no length of their own.
#include "base/base.h"

#include "prof/late.h"
#include "prof/opclass.h"

enum { LEAST_NORMS = 4 }; // norms that make a loop

enum { DEAD_PAIRS = 4 }; // remembered of one kind

// What is known of a kind: which patterns may begin with it (bit i: late_patterns[i]),
// and kinds that, next, let none of them begin.
typedef struct LateKind {
    uint32_t may_start, next;
    uint32_t dead[DEAD_PAIRS];
} LateKind;

struct Late {
    LateKind *kinds;
};

Late *late_new(Arena *arena, const Profile *profile) {
    Late *late = NEW(arena, Late);
    if (late_pattern_count > 32) BUG("%u late patterns for 32 bits", late_pattern_count);
    late->kinds = NEW_N(arena, LateKind, profile->kind_count);
    for (uint32_t k = 0; k < profile->kind_count; k++) {
        for (int d = 0; d < DEAD_PAIRS; d++) late->kinds[k].dead[d] = PROF_NO_KIND;
        for (uint32_t i = 0; i < late_pattern_count && profile->kinds[k].has_shapes; i++) {
            bool may = match_may_start(&late_patterns[i], &profile->kinds[k]);
            if (may) late->kinds[k].may_start |= 1u << i;
        }
    }
    return late;
}

static const ProfKind *kind_at(const Stream *stream, uint32_t at) {
    return &stream->profile->kinds[stream->kinds[at]];
}

// ---- norms ------------------------------------------------------------------------

// Whether the kernel is a step of norms over many tensors, one after the other: it
// reduces a tensor to a number, or works on such numbers.
static bool is_norm_step(const ProfKind *kind) {
    bool number = kind->out_count == 0 || kind->out[0].is_absent || kind->out[0].count == 1;
    static const uint8_t ops[] = {OP_NORM_STEP, OP_SQUARE, OP_ADD, OP_FILL, OP_SQRT, OP_CAST,
                                  OP_MUL, OP_DIV, OP_RECIPROCAL, OP_CLAMP, OP_MAXIMUM};
    for (size_t i = 0; i < COUNT(ops) && number; i++) {
        if (kind->op == ops[i]) return true;
    }
    return false;
}

// The norm of a tensor: one number, of more than one.
static bool is_norm(const ProfKind *kind) {
    return kind->op == OP_NORM_STEP && kind->in_count && kind->in[0].count > 1;
}

// The end of a loop of at least LEAST_NORMS norms at `from`; `from` if there is none.
static uint32_t norm_loop_end(const Stream *stream, uint32_t from, uint32_t end) {
    uint32_t norms = 0, at = from;
    for (; at < end && is_norm_step(kind_at(stream, at)); at++) {
        norms += is_norm(kind_at(stream, at));
    }
    return norms >= LEAST_NORMS ? at : from;
}

// Clipping of gradients by their common norm.
static void add_norm_loop(TallyBook *book, const Stream *stream, uint32_t from, uint32_t end) {
    ProfRun like = {
        .kind = RUN_FUSION, .pattern = "clip_grad_norm",
        .api = "optimizer.clip_grad_norm_fused_", .direction = RUN_OPTIMIZER,
        .contiguous = true, .module_inferred = !stream->profile->row_module,
        .note = "a norm for each tensor, of the fused optimizers: they keep all in one",
    };
    Occurrence o = {.stream = stream, .at = from, .length = end - from, .members = UINT64_MAX};
    for (uint32_t at = from; at < end; at++) {
        const ProfKind *kind = kind_at(stream, at);
        o.bytes += (double)kind->bytes;
        bool reads = kind->in_count && !kind->in[0].is_absent && kind->in[0].count > 1;
        if (reads) o.external_bytes += (double)prof_tensor_bytes(&kind->in[0]);
    }
    tally_add(book, tally_get(book, &like), &o);
}

// ---- patterns ---------------------------------------------------------------------

static bool match_at(Match *out, const Pattern *pattern, const Stream *stream,
                     const uint32_t bounds[2]) {
    const Profile *profile = stream->profile;
    MatchView view = {profile->kinds, stream->kinds + bounds[0], bounds[1] - bounds[0],
                      profile->has.out_shapes};
    return bounds[0] < bounds[1] && match_pattern(out, pattern, &view);
}

// How many of the pattern follow each other from bounds[0] on; *seen: as many kernels
// had a say in that.
static uint32_t count_in_a_row(uint32_t *seen, const Pattern *pattern, const Stream *stream,
                               const uint32_t bounds[2]) {
    uint32_t count = 0, at = bounds[0];
    Match match = {0};
    while (match_at(&match, pattern, stream, (uint32_t[]){at, bounds[1]})) {
        at += match.length;
        count++;
    }
    *seen = at - bounds[0] + match.seen;
    return count;
}

static void add_match(TallyBook *book, const Stream *stream, uint32_t at, const Match *match) {
    const Pattern *pattern = match->pattern;
    ProfRun like = {
        .kind = RUN_FUSION, .pattern = pattern->id, .api = pattern->api, .note = pattern->note,
        .direction = pattern->direction, .contiguous = true,
        .module_inferred = !stream->profile->row_module,
    };
    Occurrence o = {
        .stream = stream, .at = at, .length = match->length, .members = match->members,
        .bytes = match->bytes, .external_bytes = match->external_bytes, .flops = match->flops,
    };
    tally_add(book, tally_get(book, &like), &o);
}

// All in a row of the pattern; the place behind them, bounds[0] if they are too few.
static uint32_t take_pattern(uint32_t *seen, TallyBook *book, const Pattern *pattern,
                             const Stream *stream, const uint32_t bounds[2]) {
    uint32_t least = pattern->in_a_row ? pattern->in_a_row : 1, at = bounds[0];
    uint32_t count = count_in_a_row(seen, pattern, stream, bounds);
    for (uint32_t i = 0; i < count && count >= least; i++) {
        Match match;
        if (!match_at(&match, pattern, stream, (uint32_t[]){at, bounds[1]})) break;
        add_match(book, stream, at, &match);
        at += match.length;
    }
    return at;
}

static bool is_dead(const LateKind *kind, uint32_t next) {
    for (int d = 0; d < DEAD_PAIRS; d++) {
        if (kind->dead[d] == next) return true;
    }
    return false;
}

static uint32_t take_patterns(LateKind *kind, TallyBook *book, const Stream *stream,
                              const uint32_t bounds[2]) {
    bool has_next = bounds[0] + 1 < bounds[1];
    uint32_t next = has_next ? stream->kinds[bounds[0] + 1] : PROF_NO_KIND, most = 0;
    if (!has_next || is_dead(kind, next)) return bounds[0];
    for (uint32_t i = 0; i < late_pattern_count; i++) {
        uint32_t seen;
        if (!(kind->may_start >> i & 1)) continue;
        uint32_t end = take_pattern(&seen, book, &late_patterns[i], stream, bounds);
        if (end > bounds[0]) return end;
        if (seen > most) most = seen;
    }
    if (most <= 2) kind->dead[kind->next++ % DEAD_PAIRS] = next;
    return bounds[0];
}

uint32_t late_take(Late *late, TallyBook *book, const Stream *stream,
                   const uint32_t bounds[2]) {
    LateKind *kind = &late->kinds[stream->kinds[bounds[0]]];
    uint32_t end = kind->may_start ? take_patterns(kind, book, stream, bounds) : bounds[0];
    if (end > bounds[0]) return end;
    end = norm_loop_end(stream, bounds[0], bounds[1]);
    if (end > bounds[0]) add_norm_loop(book, stream, bounds[0], end);
    return end;
}
