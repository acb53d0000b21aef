// context.c - decisions by what stands around.
//
// A rotation and its gradient are the same kernels: the runs around say which.
//
// A sum followed by a norm is one run (add + norm) where both are of one block, and
// none where the sum ends a block and the norm begins the next. Without module
// names the repetition of blocks tells: a norm with no sum in front opens a block
// (the model's first). Norms that go on like it open blocks as well, so the sum in
// front of them is another block's.
#include "base/base.h"

#include "prof/context.h"

static RunDirection direction_of(const Stream *stream, uint32_t index) {
    return stream->matches[stream->found.at[index].match].pattern->direction;
}

static bool is_rotary(const Found *found) {
    return strcmp(found->id, PATTERN_ROTARY) == 0;
}

// The direction of the nearest run before or after; RUN_ANY if there is none.
static RunDirection near_direction(const Stream *stream, uint32_t index, int step) {
    for (int64_t i = (int64_t)index + step; i >= 0 && i < (int64_t)stream->found.len; i += step) {
        const Found *found = &stream->found.at[i];
        RunDirection direction = direction_of(stream, (uint32_t)i);
        if (direction == RUN_OPTIMIZER) return RUN_ANY;
        if (!is_rotary(found)) return direction;
    }
    return RUN_ANY;
}

// Forward code negates the half that it has just cut; backwards both are cut first.
static bool negates_at_once(const Stream *stream, const Found *found) {
    const Match *match = &stream->matches[found->match];
    uint32_t cuts = 0;
    for (uint32_t i = 0; i < match->length; i++) {
        uint32_t op = stream->profile->kinds[stream->kinds[found->at + i]].op;
        cuts += op == OP_SLICE;
        if (op == OP_NEG) return cuts < 2;
    }
    return true;
}

static void decide_rotary(Stream *stream, uint32_t index, RunDirection before) {
    Found *found = &stream->found.at[index];
    RunDirection after = near_direction(stream, index, 1);
    if (before == RUN_ANY) before = after;
    if (after == RUN_ANY) after = before;
    bool backward = before == after && before != RUN_ANY ? before == RUN_BACKWARD
                                                         : !negates_at_once(stream, found);
    if (backward) found->id = PATTERN_ROTARY_BWD;
}

static void decide_directions(Stream *stream) {
    RunDirection before = RUN_ANY;
    for (uint32_t i = 0; i < stream->found.len; i++) {
        RunDirection own = direction_of(stream, i);
        if (is_rotary(&stream->found.at[i])) decide_rotary(stream, i, before);
        else before = own == RUN_OPTIMIZER ? RUN_ANY : own;
    }
}

// A norm, with what stands before and behind it.
typedef struct Norm {
    uint32_t found;
    bool has_add;
    uint64_t before, behind; // keys of the nearest run that is no norm; 0: none
    uint64_t product;        // width of the next matrix product
    uint64_t elements;
    bool opens;
    bool ends_model; // no forward run is behind it
} Norm;

typedef VEC(Norm) NormList;

static const ProfKind *kind_at(const Stream *stream, uint32_t at) {
    return &stream->profile->kinds[stream->kinds[at]];
}

static bool is_norm(const Found *found) {
    return strcmp(found->id, PATTERN_RMS_NORM) == 0;
}

static uint64_t id_key(const char *id) {
    return hash_bytes(HASH_SEED, id, strlen(id)) | 1;
}

// The width of the product that follows; 0: there is none near.
static uint64_t product_behind(const Stream *stream, uint32_t from) {
    for (uint32_t at = from; at < stream->lane->len && at < from + MATCH_WINDOW; at++) {
        const ProfKind *kind = kind_at(stream, at);
        if (kind->op != OP_MATMUL || kind->out_count < 1 || kind->out[0].rank < 1) continue;
        return (uint64_t)kind->out[0].dims[kind->out[0].rank - 1];
    }
    return 0;
}

// Fills what is behind: the forward run that follows before any other.
static void look_behind(Norm *norm, const Stream *stream) {
    const Found *found = &stream->found.at[norm->found];
    uint32_t from = found->at + stream->matches[found->match].length;
    uint32_t next = norm->found + 1;
    while (next < stream->found.len && is_norm(&stream->found.at[next])) next++;
    bool has_next = next < stream->found.len;
    bool near = has_next && stream->found.at[next].at - from < 2 * MATCH_WINDOW;
    norm->product = product_behind(stream, from);
    if (near && direction_of(stream, next) == RUN_FORWARD &&
        strcmp(stream->found.at[next].id, PATTERN_ROTARY_BWD) != 0) {
        norm->behind = id_key(stream->found.at[next].id);
        return;
    }
    // Where the profile is cut soon after it may just not show the run.
    norm->ends_model = has_next || stream->lane->len - from > MATCH_WINDOW;
}

// Whether the run's last kernel is a sum that a norm behind it may have: there is no
// operator for the run, and one for the sum with its norm.
static bool ends_with_sum(const Found *found) {
    return strcmp(found->id, PATTERN_BIAS_DROPOUT_ADD) == 0;
}

static uint64_t key_before(const Stream *stream, uint32_t index) {
    for (uint32_t i = index; i-- > 0;) {
        const Found *found = &stream->found.at[i];
        if (!is_norm(found) && !ends_with_sum(found)) return id_key(found->id);
    }
    return 0;
}

// The place of a sum of two X that ends just before the run; its own place if none.
static uint32_t add_before(const Stream *stream, uint32_t index) {
    const Found *found = &stream->found.at[index];
    uint32_t at = found->at, floor = 0;
    if (index) {
        const Found *last = &stream->found.at[index - 1];
        floor = last->at + stream->matches[last->match].length - ends_with_sum(last);
    }
    while (at > floor && kind_at(stream, at - 1)->op == OP_FILL) at--;
    if (at <= floor) return found->at;
    const ProfKind *sum = kind_at(stream, at - 1), *first = kind_at(stream, found->at);
    if (sum->op != OP_ADD || sum->in_count != 2 || sum->out_count != 1) return found->at;
    if (first->in_count < 1) return found->at;
    const ProfTensor *x = &first->in[0], *out = &sum->out[0];
    bool same = out->count == x->count && out->dtype == x->dtype && out->rank && x->rank &&
                out->dims[out->rank - 1] == x->dims[x->rank - 1] &&
                sum->in[0].count == x->count && sum->in[1].count == x->count;
    return same ? at - 1 : found->at;
}

static void list_norms(NormList *out, const Stream *stream, Arena *scratch) {
    for (uint32_t i = 0; i < stream->found.len; i++) {
        const Found *found = &stream->found.at[i];
        if (!is_norm(found)) continue;
        const ProfKind *first = kind_at(stream, found->at);
        Norm norm = {
            .found = i,
            .has_add = add_before(stream, i) != found->at,
            .before = key_before(stream, i),
            .elements = first->in_count ? first->in[0].count : 0,
        };
        norm.opens = !norm.has_add;
        look_behind(&norm, stream);
        vec_push(scratch, out, norm);
    }
}

// A small set of keys.
typedef struct KeySet {
    uint64_t keys[64];
    uint32_t len;
} KeySet;

static bool has_key(const KeySet *set, uint64_t key) {
    for (uint32_t i = 0; i < set->len; i++) {
        if (set->keys[i] == key) return true;
    }
    return false;
}

static void add_key(KeySet *set, uint64_t key) {
    if (key && !has_key(set, key) && set->len < COUNT(set->keys)) set->keys[set->len++] = key;
}

static bool module_contains(Str outer, Str inner) {
    return inner.len >= outer.len && memcmp(inner.at, outer.at, outer.len) == 0 &&
           (inner.len == outer.len || inner.at[outer.len] == '/');
}

// With a trace: the sum's module is around the norm's.
static bool in_one_module(const Stream *stream, uint32_t sum, uint32_t norm) {
    const Profile *profile = stream->profile;
    Str outer = profile->modules[profile->row_module[stream->lane->rows[sum]]];
    Str inner = profile->modules[profile->row_module[stream->lane->rows[norm]]];
    return outer.len && inner.len && module_contains(outer, inner);
}

// Whether the trace has modules inside of others: where it has their spans one after
// the other only, it does not say which belongs to which.
static bool has_nested_modules(const Profile *profile) {
    if (!profile->row_module) return false;
    for (uint32_t i = 0; i < profile->row_count; i++) {
        Str module = profile->modules[profile->row_module[i]];
        if (module.len && memchr(module.at, '/', module.len)) return true;
    }
    return false;
}

// What opens a block, what ends one, and what goes on inside.
typedef struct Blocks {
    KeySet openings, ends, inner_products, inner_before;
} Blocks;

static uint64_t opening_key(const Norm *norm) {
    return norm->behind ? norm->behind ^ norm->elements << 8 : 0;
}

// Whether the norm begins a block, so that the sum in front is another's.
static bool begins_block(const Blocks *blocks, const Norm *norm) {
    if (norm->behind) return has_key(&blocks->openings, opening_key(norm));
    if (!norm->ends_model) {
        return blocks->inner_before.len && !has_key(&blocks->inner_before, norm->before);
    }
    return blocks->inner_products.len &&
           !has_key(&blocks->inner_products, norm->product);
}

static void learn_blocks(Blocks *blocks, const NormList *norms) {
    for (uint32_t i = 0; i < norms->len; i++) {
        if (norms->at[i].opens) add_key(&blocks->openings, opening_key(&norms->at[i]));
    }
    for (uint32_t i = 0; i < norms->len; i++) {
        const Norm *norm = &norms->at[i];
        bool inner = norm->has_add && norm->behind &&
                     !has_key(&blocks->openings, opening_key(norm));
        if (!inner) continue;
        add_key(&blocks->inner_products, norm->product);
        add_key(&blocks->inner_before, norm->before);
    }
    for (uint32_t i = 0; i < norms->len; i++) {
        const Norm *norm = &norms->at[i];
        if (norm->has_add && begins_block(blocks, norm)) add_key(&blocks->ends, norm->before);
    }
}

static void decide_adds(Stream *stream, const NormList *norms) {
    Blocks blocks = {0};
    bool is_nested = norms->len && has_nested_modules(stream->profile);
    learn_blocks(&blocks, norms);
    for (uint32_t i = 0; i < norms->len; i++) {
        const Norm *norm = &norms->at[i];
        Found *found = &stream->found.at[norm->found];
        if (!norm->has_add) continue;
        if (is_nested) {
            uint32_t sum = add_before(stream, norm->found);
            found->has_add = in_one_module(stream, sum, found->at);
        } else {
            found->has_add = !begins_block(&blocks, norm) &&
                             !has_key(&blocks.ends, norm->before);
        }
    }
}

// Runs whose sum went to the norm behind them are none.
static void drop_without_sum(Stream *stream) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stream->found.len; i++) {
        const Found *found = &stream->found.at[i];
        bool taken = ends_with_sum(found) && i + 1 < stream->found.len && found[1].has_add &&
                     add_before(stream, i + 1) < found->at + stream->matches[found->match].length;
        if (!taken) stream->found.at[kept++] = *found;
    }
    stream->found.len = kept;
}

void context_decide(Stream *stream, Arena *scratch) {
    NormList norms = {0};
    decide_directions(stream);
    list_norms(&norms, stream, scratch);
    decide_adds(stream, &norms);
    drop_without_sum(stream);
}
