// groups.c - grouping by equality of what the reader would be shown, and the
// order in which candidates are best verified.
#include "base/base.h"

#include "report/groups.h"

#include <stdlib.h>

// When two findings are one to the reader.
typedef struct Likeness {
    uint64_t (*hash)(const Finding *finding);
    bool (*same)(const Finding *a, const Finding *b);
} Likeness;

Str finding_reason(const Finding *finding) {
    return finding->reasons.len ? finding->reasons.at[0] : (Str){"", 0};
}

const Finding *group_first(const Group *group) {
    return group->members.at[0];
}

static uint64_t hash_str(uint64_t seed, Str s) {
    return hash_bytes(hash_bytes(seed, s.at, s.len), "\n", 1);
}

static bool same_facts(const Finding *a, const Finding *b) {
    if (a->facts.len != b->facts.len) return false;
    for (uint32_t i = 0; i < a->facts.len; i++) {
        const Fact *x = &a->facts.at[i], *y = &b->facts.at[i];
        if (x->state != y->state || !str_eq(x->claim, y->claim)) return false;
    }
    return true;
}

bool finding_is_aside(const Finding *finding) {
    return !family_is_main(finding->family) && !finding->replacement.len &&
           finding->priority == PRIORITY_LOW;
}

// What stands aside is one by what is known of it: a constructor is spelled
// differently in every file.
static bool same_text(const Finding *a, const Finding *b) {
    if (finding_is_aside(a) && finding_is_aside(b)) return same_facts(a, b);
    return str_eq(a->original, b->original) && str_eq(a->replacement, b->replacement);
}

static bool same_candidate(const Finding *a, const Finding *b) {
    return str_eq(a->rule, b->rule) && str_eq(a->variant, b->variant) &&
           a->verdict == b->verdict && a->priority == b->priority && same_text(a, b) &&
           str_eq(finding_reason(a), finding_reason(b));
}

static uint64_t hash_candidate(const Finding *finding) {
    uint64_t hash = hash_str(hash_str(HASH_SEED, finding->rule), finding->variant);
    return finding_is_aside(finding) ? hash : hash_str(hash, finding->original);
}

static bool same_refusal(const Finding *a, const Finding *b) {
    return str_eq(a->family, b->family) && str_eq(a->api, b->api) &&
           str_eq(finding_reason(a), finding_reason(b));
}

static uint64_t hash_refusal(const Finding *finding) {
    uint64_t hash = hash_str(HASH_SEED, finding->family);
    return hash_str(hash_str(hash, finding->api), finding_reason(finding));
}

static void count_facts(Group *group) {
    const Finding *first = group_first(group);
    for (uint32_t i = 0; i < first->facts.len; i++) {
        const Fact *fact = &first->facts.at[i];
        if (fact->guard.len) {
            group->guard_count++;
        } else if (fact->state == FACT_UNKNOWN && !fact_is_context(fact)) {
            group->unknown_count++;
        }
    }
}

// A list of groups with a hash that finds them: indices, plus 1.
typedef struct Index {
    GroupVec *list;
    Likeness likeness;
    uint32_t *slots;
    uint32_t cap;
} Index;

static Index new_index(GroupVec *list, Arena *arena, const Likeness *likeness,
                       uint32_t most) {
    Index index = {list, *likeness, NULL, 64};
    while (index.cap < most * 2) index.cap *= 2;
    index.slots = NEW_N(arena, uint32_t, index.cap);
    return index;
}

static void add_to(Index *index, Arena *arena, const Finding *finding) {
    GroupVec *list = index->list;
    uint64_t hash = index->likeness.hash(finding);
    uint32_t slot = (uint32_t)(hash ^ hash >> 32) & (index->cap - 1);
    for (; index->slots[slot]; slot = (slot + 1) & (index->cap - 1)) {
        Group *group = &list->at[index->slots[slot] - 1];
        if (group->hash != hash) continue;
        if (!index->likeness.same(group_first(group), finding)) continue;
        vec_push(arena, &group->members, finding);
        return;
    }
    Group group = {.hash = hash};
    vec_push(arena, &group.members, finding);
    count_facts(&group);
    vec_push(arena, list, group);
    index->slots[slot] = list->len;
}

static int compare_places(const Finding *a, const Finding *b) {
    int order = str_cmp(a->file, b->file);
    if (order) return order;
    if (a->start_line != b->start_line) {
        return a->start_line < b->start_line ? -1 : 1;
    }
    return str_cmp(a->id, b->id);
}

static int compare_numbers(uint32_t a, uint32_t b) {
    return a < b ? -1 : a > b;
}

static int compare_candidates(const void *left, const void *right) {
    const Group *a = left, *b = right;
    const Finding *x = group_first(a), *y = group_first(b);
    int order = compare_numbers(!x->replacement.len, !y->replacement.len);
    if (!order) order = compare_numbers(x->priority, y->priority);
    if (!order) order = compare_numbers(x->verdict, y->verdict);
    if (!order) order = compare_numbers(a->unknown_count, b->unknown_count);
    if (!order) order = compare_numbers(b->members.len, a->members.len);
    if (!order) order = compare_numbers(a->guard_count, b->guard_count);
    return order ? order : compare_places(x, y);
}

static int compare_refused(const void *left, const void *right) {
    const Finding *x = group_first(left), *y = group_first(right);
    int order = compare_numbers(!family_is_main(x->family), !family_is_main(y->family));
    if (!order) order = str_cmp(x->family, y->family);
    return order ? order : compare_places(x, y);
}

void groups_make(GroupList *out, Arena *arena, const FindingSet *set) {
    static const Likeness candidate = {hash_candidate, same_candidate};
    static const Likeness refusal = {hash_refusal, same_refusal};
    *out = (GroupList){0};
    Index candidates = new_index(&out->candidates, arena, &candidate, set->findings.len);
    Index refused = new_index(&out->refused, arena, &refusal, set->findings.len);
    for (uint32_t i = 0; i < set->findings.len; i++) {
        const Finding *finding = &set->findings.at[i];
        out->counts[finding->verdict]++;
        out->beyond_count += !family_is_main(finding->family) && !finding->replacement.len;
        if (finding->verdict == VERDICT_REJECT) {
            add_to(&refused, arena, finding);
        } else {
            add_to(&candidates, arena, finding);
        }
    }
    if (out->candidates.len) {
        qsort(out->candidates.at, out->candidates.len,
              sizeof(*out->candidates.at), compare_candidates);
    }
    for (uint32_t i = 0; i < out->candidates.len; i++) {
        const Finding *first = group_first(&out->candidates.at[i]);
        out->ready_count += first->replacement.len != 0;
    }
    if (out->refused.len) {
        qsort(out->refused.at, out->refused.len, sizeof(*out->refused.at),
              compare_refused);
    }
}
