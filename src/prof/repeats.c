// repeats.c - sorts all suffixes of the texts; what neighbours have in common is a
// repeat, and the places where that grows or ends are the maximal ones. Of these
// the costliest is taken first, and its places are then no other's.
#include "base/base.h"

#include "prof/opclass.h"
#include "prof/repeats.h"

#include <stdlib.h>

enum { LEAST_TIMES = 3, CANDIDATES = 512 };

typedef struct Suffix {
    const uint32_t *ids; // to the end of its text
    uint32_t len;        // at most REPEAT_MAX
    uint32_t text, at;
} Suffix;

// A repeat of `len` kernels, at the suffixes [from, end).
typedef struct Choice {
    uint32_t from, end, len;
    double cost_ns;
} Choice;

typedef struct Search {
    const RepeatInput *input;
    Arena *arena;
    Suffix *suffixes;
    uint32_t count;
    uint32_t *common; // of suffix i and i - 1
    Choice best[CANDIDATES];
    uint32_t best_count;
    bool **used; // of each text's places
} Search;

static int compare_suffixes(const void *a, const void *b) {
    const Suffix *x = a, *y = b;
    uint32_t len = x->len < y->len ? x->len : y->len;
    for (uint32_t i = 0; i < len; i++) {
        if (x->ids[i] != y->ids[i]) return x->ids[i] < y->ids[i] ? -1 : 1;
    }
    if (x->len != y->len) return x->len < y->len ? -1 : 1;
    if (x->text != y->text) return x->text < y->text ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static void sort_suffixes(Search *search) {
    const RepeatInput *input = search->input;
    for (uint32_t t = 0; t < input->count; t++) search->count += input->texts[t].len;
    search->suffixes = NEW_N(search->arena, Suffix, search->count);
    uint32_t n = 0;
    for (uint32_t t = 0; t < input->count; t++) {
        const RepeatText *text = &input->texts[t];
        for (uint32_t i = 0; i < text->len; i++) {
            uint32_t len = text->len - i < REPEAT_MAX ? text->len - i : REPEAT_MAX;
            search->suffixes[n++] = (Suffix){text->ids + i, len, t, i};
        }
    }
    if (n) qsort(search->suffixes, n, sizeof(Suffix), compare_suffixes);
    search->common = NEW_N(search->arena, uint32_t, n + 1);
    for (uint32_t i = 1; i < n; i++) {
        const Suffix *a = &search->suffixes[i - 1], *b = &search->suffixes[i];
        uint32_t len = 0;
        while (len < a->len && len < b->len && a->ids[len] == b->ids[len]) len++;
        search->common[i] = len;
    }
}

static bool computes(const ProfKind *kind) {
    return kind->op != OP_TRANSPOSE && kind->op != OP_SLICE && kind->op != OP_COPY &&
           kind->op != OP_RETILE && kind->op != OP_CAST && kind->op != OP_FILL &&
           kind->op != OP_BROADCAST && kind->op != OP_SPLIT;
}

static double cost_of(const Search *search, const uint32_t *ids, uint32_t len) {
    double cost = 0;
    uint32_t working = 0;
    for (uint32_t i = 0; i < len; i++) {
        const ProfKind *kind = &search->input->profile->kinds[ids[i]];
        cost += kind->count ? (double)kind->total_ns / (double)kind->count : 0;
        working += computes(kind);
    }
    return working >= 2 ? cost : 0;
}

// The kernels of the text around a place that repeat those `period` before them, and the first
// of these.
static uint32_t stretch_around(const RepeatText *text, uint32_t at, uint32_t period) {
    uint32_t from = at, end = at + period;
    while (from && text->ids[from - 1] == text->ids[from - 1 + period]) from--;
    while (end < text->len && text->ids[end] == text->ids[end - period]) end++;
    return end - from;
}

// Whether the run is more than the body of the loop that it stands in. One kernel over and
// over is a loop over tensors that are alike, as likely as a chain.
static bool is_loop(const Search *search, const Suffix *suffix, uint32_t len) {
    for (uint32_t period = 1; period < len; period++) {
        uint32_t i = period;
        while (i < len && suffix->ids[i] == suffix->ids[i - period]) i++;
        if (i < len) continue;
        const RepeatText *text = &search->input->texts[suffix->text];
        if (stretch_around(text, suffix->at, period) >= 2 * period) return true;
    }
    return false;
}

static bool is_better(const Choice *a, const Choice *b) {
    if (a->cost_ns > b->cost_ns) return true;
    if (a->cost_ns < b->cost_ns) return false;
    return a->len != b->len ? a->len > b->len : a->from < b->from;
}

// Keeps the best, best first.
static void offer(Search *search, Choice choice) {
    uint64_t times = 0;
    for (uint32_t i = choice.from; i < choice.end; i++) {
        times += search->input->texts[search->suffixes[i].text].times;
    }
    if (choice.len < 2 || times < LEAST_TIMES) return;
    if (is_loop(search, &search->suffixes[choice.from], choice.len)) return;
    choice.cost_ns = (double)times * cost_of(search, search->suffixes[choice.from].ids, choice.len);
    if (choice.cost_ns <= 0) return;
    uint32_t i = search->best_count < CANDIDATES ? search->best_count++ : CANDIDATES - 1;
    if (i == CANDIDATES - 1 && search->best_count == CANDIDATES &&
        search->best[i].cost_ns > choice.cost_ns) {
        return;
    }
    for (; i && is_better(&choice, &search->best[i - 1]); i--) {
        search->best[i] = search->best[i - 1];
    }
    search->best[i] = choice;
}

// All stretches of suffixes with more in common than their neighbours, and each
// whole text that comes often enough by itself.
static void find_choices(Search *search) {
    Choice *open = NEW_N(search->arena, Choice, search->count + 1);
    uint32_t depth = 0;
    for (uint32_t i = 1; i <= search->count; i++) {
        uint32_t common = i < search->count ? search->common[i] : 0, from = i - 1;
        while (depth && open[depth - 1].len > common) {
            Choice done = open[--depth];
            done.end = i;
            from = done.from;
            offer(search, done);
        }
        if (common >= 2 && (!depth || open[depth - 1].len < common)) {
            open[depth++] = (Choice){.from = from, .len = common};
        }
    }
    for (uint32_t i = 0; i < search->count; i++) {
        const Suffix *suffix = &search->suffixes[i];
        if (suffix->at == 0 && search->input->texts[suffix->text].times >= LEAST_TIMES) {
            offer(search, (Choice){.from = i, .end = i + 1, .len = suffix->len});
        }
    }
}

static int compare_places(const void *a, const void *b) {
    const Suffix *x = *(const Suffix *const *)a, *y = *(const Suffix *const *)b;
    if (x->text != y->text) return x->text < y->text ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static bool is_free(const Search *search, const Suffix *suffix, uint32_t len) {
    for (uint32_t i = 0; i < len; i++) {
        if (search->used[suffix->text][suffix->at + i]) return false;
    }
    return true;
}

static void claim(Search *search, const Suffix *suffix, uint32_t len, uint32_t mark) {
    RepeatText *text = &search->input->texts[suffix->text];
    for (uint32_t i = 0; i < len; i++) search->used[suffix->text][suffix->at + i] = true;
    if (!text->repeat) text->repeat = NEW_N(search->arena, uint32_t, text->len);
    text->repeat[suffix->at] = mark;
}

// The places of a choice that are still free, from left to right.
static uint32_t free_places(const Suffix **out, const Search *search, const Choice *choice,
                            uint64_t *times) {
    uint32_t count = 0, n = 0;
    for (uint32_t i = choice->from; i < choice->end; i++) out[n++] = &search->suffixes[i];
    qsort(out, n, sizeof(*out), compare_places);
    *times = 0;
    for (uint32_t i = 0; i < n; i++) {
        const Suffix *last = count ? out[count - 1] : NULL;
        bool overlaps = last && last->text == out[i]->text && last->at + choice->len > out[i]->at;
        if (overlaps || !is_free(search, out[i], choice->len)) continue;
        *times += search->input->texts[out[i]->text].times;
        out[count++] = out[i];
    }
    return count;
}

static void choose(RepeatList *out, Search *search) {
    const Suffix **places = NEW_N(search->arena, const Suffix *, search->count + 1);
    for (uint32_t c = 0; c < search->best_count && out->len < search->input->max; c++) {
        const Choice *choice = &search->best[c];
        uint64_t times;
        uint32_t count = free_places(places, search, choice, &times);
        if (times < LEAST_TIMES) continue;
        Repeat repeat = {.ids = search->suffixes[choice->from].ids, .len = choice->len,
                         .count = times};
        repeat.cost_ns = (double)times * cost_of(search, repeat.ids, repeat.len);
        vec_push(search->arena, out, repeat);
        for (uint32_t i = 0; i < count; i++) claim(search, places[i], choice->len, out->len);
    }
}

void repeats_find(RepeatList *out, Arena *arena, const RepeatInput *input) {
    Search *search = NEW(arena, Search);
    *search = (Search){.input = input, .arena = arena};
    search->used = NEW_N(arena, bool *, input->count);
    for (uint32_t t = 0; t < input->count; t++) {
        search->used[t] = NEW_N(arena, bool, input->texts[t].len);
    }
    sort_suffixes(search);
    find_choices(search);
    choose(out, search);
}
