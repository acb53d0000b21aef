// rest.c - splits what is left of a stream into segments: kernels between products,
// known runs and other ends, each fed by one before it. A training step has few
// different segments, repeated often; repeats are looked for in the different ones.
#include "base/base.h"

#include "prof/repeats.h"
#include "prof/rest.h"

enum { MAX_DIFFERENT = 1 << 16 }; // kernels of different segments that are compared

// One place of a segment in the stream.
typedef struct Place {
    uint32_t at, segment;
} Place;

typedef struct Segments {
    Arena scratch;
    VEC(Place) places;
    VEC(RepeatText) texts; // the different segments
    uint32_t *slots, cap;
    uint64_t total;
} Segments;

void rest_init(Rest *rest, Arena *arena, const Profile *profile, uint32_t custom_max) {
    *rest = (Rest){.arena = arena, .profile = profile, .custom_max = custom_max};
    rest->late = late_new(arena, profile);
    rest->affinity = NEW_N(arena, const Affinity *, profile->kind_count);
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        rest->affinity[i] = affinity_find(&profile->kinds[i]);
    }
}

static const ProfKind *kind_at(const Stream *stream, uint32_t at) {
    return &stream->profile->kinds[stream->kinds[at]];
}

// One among the rows of a run of another stream is said to be a part of that.
static void add_affinity(TallyBook *book, const Stream *stream, uint32_t at,
                         const Affinity *affinity) {
    Occurrence o = {.stream = stream, .at = at, .length = 1, .members = 1,
                    .bytes = (double)kind_at(stream, at)->bytes};
    const ProfRun *around = tally_around(book, &o);
    ProfRun like = {
        .kind = RUN_AFFINITY, .pattern = affinity->id, .note = affinity->advice,
        .direction = RUN_ANY, .contiguous = true, .bound = affinity->bound,
        .part_of = around ? around->pattern : NULL,
    };
    tally_add(book, tally_get(book, &like), &o);
}

// Kernels that a vector kernel of one's own could take in.
static bool is_simple(const ProfKind *kind) {
    static const uint8_t others[] = {
        OP_OTHER, OP_MATMUL, OP_CONV, OP_FLASH_ATTENTION, OP_FLASH_ATTENTION_GRAD, OP_RMS_NORM,
        OP_RMS_NORM_GRAD, OP_SWIGLU, OP_SWIGLU_GRAD, OP_ROTARY, OP_ROTARY_GRAD, OP_FUSED_ADAM,
        OP_FUSED_OTHER, OP_EMBEDDING, OP_TOPK, OP_SORT, OP_NONZERO,
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        if (kind->op == others[i]) return false;
    }
    return kind->core != CORE_AICPU;
}

static bool same_tensor(const ProfTensor *a, const ProfTensor *b) {
    return !a->is_absent && !b->is_absent && a->count == b->count && a->dtype == b->dtype;
}

// Whether kernel b takes something that kernel a makes.
static bool feeds(const ProfKind *a, const ProfKind *b) {
    for (uint32_t o = 0; o < a->out_count; o++) {
        for (uint32_t i = 0; i < b->in_count; i++) {
            if (same_tensor(&a->out[o], &b->in[i])) return true;
        }
    }
    return !a->has_shapes && !b->has_shapes; // nothing is known of either
}

static uint32_t find_text(Segments *all, const RepeatText *text) {
    uint64_t hash = hash_bytes(HASH_SEED, text->ids, text->len * sizeof(*text->ids));
    uint32_t slot = (uint32_t)(hash ^ hash >> 32) & (all->cap - 1);
    for (; all->slots[slot]; slot = (slot + 1) & (all->cap - 1)) {
        const RepeatText *other = &all->texts.at[all->slots[slot] - 1];
        bool same = other->len == text->len &&
                    memcmp(other->ids, text->ids, text->len * sizeof(*text->ids)) == 0;
        if (same) return all->slots[slot] - 1;
    }
    if (all->texts.len * 2 >= all->cap || all->total + text->len > MAX_DIFFERENT) {
        return UINT32_MAX;
    }
    vec_push(&all->scratch, &all->texts, *text);
    all->slots[slot] = all->texts.len;
    all->total += text->len;
    return all->texts.len - 1;
}

static void add_segment(Rest *rest, Segments *all, const Stream *stream, uint32_t from,
                        uint32_t end) {
    if (end - from < 2) return;
    RepeatText text = {.ids = stream->kinds + from, .len = end - from};
    uint32_t index = find_text(all, &text);
    if (index == UINT32_MAX) {
        rest->stopped = true;
        return;
    }
    all->texts.at[index].times++;
    vec_push(&all->scratch, &all->places, ((Place){from, index}));
}

// The kernels of [from, end) that no known run has.
static void split(Rest *rest, Segments *all, TallyBook *book, const Stream *stream,
                  const uint32_t bounds[2]) {
    uint32_t from = bounds[0];
    for (uint32_t at = bounds[0]; at < bounds[1]; at++) {
        uint32_t end = late_take(rest->late, book, stream, (uint32_t[]){at, bounds[1]});
        if (end > at) {
            add_segment(rest, all, stream, from, at);
            from = end;
            at = end - 1;
            continue;
        }
        const Affinity *affinity = rest->affinity[stream->kinds[at]];
        bool simple = is_simple(kind_at(stream, at));
        bool linked = at == from || feeds(kind_at(stream, at - 1), kind_at(stream, at));
        if (simple && !affinity && linked) continue;
        add_segment(rest, all, stream, from, at);
        from = simple && !affinity ? at : at + 1;
        if (affinity) add_affinity(book, stream, at, affinity);
    }
    add_segment(rest, all, stream, from, bounds[1]);
}

static void split_all(Rest *rest, Segments *all, TallyBook *book, const Stream *stream) {
    uint32_t from = 0;
    for (uint32_t i = 0; i < stream->found.len; i++) {
        const Found *found = &stream->found.at[i];
        uint32_t begin = found->at - (found->has_add ? 1 : 0);
        if (begin > from) split(rest, all, book, stream, (uint32_t[]){from, begin});
        from = found->at + stream->matches[found->match].length;
    }
    split(rest, all, book, stream, (uint32_t[]){from, stream->lane->len});
}

// Whether an input comes from a kernel before; each of these gives one input only,
// so that of two equal shapes one may still come from outside.
static bool comes_from_inside(const Profile *profile, const uint32_t *ids, uint32_t before,
                              const ProfTensor *input, bool *given) {
    for (uint32_t m = before; m-- > 0;) {
        const ProfKind *maker = &profile->kinds[ids[m]];
        bool makes = maker->out_count && same_tensor(&maker->out[0], input);
        if (given[m] || !makes) continue;
        given[m] = true;
        return true;
    }
    return false;
}

// The bytes that one kernel in place of ids[0..len) would move: what comes from
// outside, and what nobody inside takes.
static double outside_bytes(const Profile *profile, const uint32_t *ids, uint32_t len) {
    double bytes = 0;
    for (uint32_t k = 0; k < len; k++) {
        const ProfKind *kind = &profile->kinds[ids[k]];
        bool given[REPEAT_MAX] = {false}, taken = false;
        for (uint32_t i = 0; i < kind->in_count; i++) {
            bool inside = comes_from_inside(profile, ids, k, &kind->in[i], given);
            if (!inside) bytes += (double)prof_tensor_bytes(&kind->in[i]);
        }
        for (uint32_t m = k + 1; m < len && !taken; m++) {
            taken = feeds(kind, &profile->kinds[ids[m]]);
        }
        for (uint32_t o = 0; o < kind->out_count && !taken; o++) {
            bytes += (double)prof_tensor_bytes(&kind->out[o]);
        }
    }
    return bytes;
}

static void add_repeat(Rest *rest, TallyBook *book, Occurrence *o, const Repeat *repeat) {
    ProfRun like = {
        .kind = RUN_CUSTOM, .pattern = "custom", .direction = RUN_ANY, .contiguous = true,
        .note = "no operator is known for this run: a kernel of one's own, by the estimate",
        .module_inferred = !rest->profile->row_module, .sequence = repeat->sequence,
    };
    o->bytes = repeat->bytes;
    o->external_bytes = repeat->external_bytes;
    tally_add(book, tally_get(book, &like), o);
}

static void describe(Rest *rest, Repeat *repeat) {
    repeat->external_bytes = outside_bytes(rest->profile, repeat->ids, repeat->len);
    repeat->sequence = STR("");
    for (uint32_t i = 0; i < repeat->len; i++) {
        const ProfKind *kind = &rest->profile->kinds[repeat->ids[i]];
        repeat->bytes += (double)kind->bytes;
        repeat->sequence = arena_printf(rest->arena, "%.*s%s%.*s", STR_FMT(repeat->sequence),
                                        i ? " " : "", STR_FMT(kind->type));
    }
}

static void add_repeats(Rest *rest, TallyBook *book, const Stream *stream, Segments *all,
                        RepeatList *repeats) {
    for (uint32_t r = 0; r < repeats->len; r++) describe(rest, &repeats->at[r]);
    for (uint32_t p = 0; p < all->places.len; p++) {
        const Place *place = &all->places.at[p];
        const RepeatText *text = &all->texts.at[place->segment];
        for (uint32_t i = 0; i < text->len;) {
            uint32_t r = text->repeat ? text->repeat[i] : 0;
            if (!r) {
                i++;
                continue;
            }
            const Repeat *repeat = &repeats->at[r - 1];
            Occurrence o = {.stream = stream, .at = place->at + i, .length = repeat->len,
                            .members = UINT64_MAX};
            // Among the rows of a run of another stream it would claim them twice.
            if (!tally_around(book, &o)) add_repeat(rest, book, &o, repeat);
            i += repeat->len;
        }
    }
}

void rest_mine(Rest *rest, TallyBook *book, const Stream *stream) {
    Segments all = {.cap = 1 << 16};
    arena_init(&all.scratch);
    all.slots = NEW_N(&all.scratch, uint32_t, all.cap);
    split_all(rest, &all, book, stream);
    RepeatList repeats = {0};
    RepeatInput input = {all.texts.at, all.texts.len, rest->profile, rest->custom_max};
    repeats_find(&repeats, &all.scratch, &input);
    add_repeats(rest, book, stream, &all, &repeats);
    arena_free(&all.scratch);
}
