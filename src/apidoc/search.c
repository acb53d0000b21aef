// search.c - plain search over a megabyte of text: no index, one pass a word.
#include "base/base.h"

#include "apidoc/search.h"

#include <stdlib.h>

enum {
    SCORE_IS_NAME = 1000, SCORE_IN_NAME = 100, SCORE_IN_SUMMARY = 10, SCORE_IN_TEXT = 1,
    NEAR_MAX = 5, NEAR_NAME_MAX = 100,
};

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool is_at(Str text, size_t at, Str word) {
    for (size_t k = 0; k < word.len; k++) {
        if (lower(text.at[at + k]) != word.at[k]) return false;
    }
    return true;
}

// Whether `text` holds `word`, which is in lower case.
static bool holds(Str text, Str word) {
    for (size_t i = 0; i + word.len <= text.len; i++) {
        if (lower(text.at[i]) == word.at[0] && is_at(text, i, word)) return true;
    }
    return false;
}

static Str lower_copy(Arena *arena, Str word) {
    char *copy = arena_alloc(arena, word.len + 1);
    for (size_t i = 0; i < word.len; i++) copy[i] = lower(word.at[i]);
    return (Str){copy, word.len};
}

static Str without_prefix(Str name) {
    return str_starts(name, "npu_") ? (Str){name.at + 4, name.len - 4} : name;
}

// 0 if the word is nowhere.
static uint32_t score_word(Str name, Str summary, Str body, Str word) {
    if (str_eq(name, word) || str_eq(without_prefix(name), word)) return SCORE_IS_NAME;
    if (holds(name, word)) return SCORE_IN_NAME;
    if (holds(summary, word)) return SCORE_IN_SUMMARY;
    return holds(body, word) ? SCORE_IN_TEXT : 0;
}

static uint32_t score_all(Str name, Str summary, Str body, const Names *words) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < words->len; i++) {
        uint32_t score = score_word(name, summary, body, words->at[i]);
        if (!score) return 0;
        total += score;
    }
    return total;
}

static int by_score(const void *a, const void *b) {
    const SearchHit *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    return str_cmp(x->name, y->name);
}

void search_docs(SearchHits *out, Arena *arena, const Docs *docs, const Names *registered,
                 const Names *words) {
    Names lowered = {0};
    *out = (SearchHits){0};
    for (uint32_t i = 0; i < words->len; i++) {
        if (!words->at[i].len) continue;
        vec_push(arena, &lowered, lower_copy(arena, words->at[i]));
    }
    if (!lowered.len) return;
    for (uint32_t i = 0; i < docs->at.len; i++) {
        const DocEntry *entry = &docs->at.at[i];
        if (entry->superseded) continue;
        if (!score_all(entry->name, STR(""), entry->body, &lowered)) continue;
        Str summary = search_summary(arena, entry);
        SearchHit hit = {entry, entry->name,
                         score_all(entry->name, summary, entry->body, &lowered)};
        vec_push(arena, out, hit);
    }
    for (uint32_t i = 0; i < registered->len; i++) {
        Str name = registered->at[i];
        uint32_t score = score_all(name, STR(""), STR(""), &lowered);
        if (!score || docs_find(docs, name)) continue;
        vec_push(arena, out, ((SearchHit){NULL, name, score}));
    }
    if (out->len) qsort(out->at, out->len, sizeof(SearchHit), by_score);
}

// ---- some of the words ------------------------------------------------------------

static bool is_letter(char c) {
    return lower(c) >= 'a' && lower(c) <= 'z';
}

// Whether `text` holds `word` with no letters around it.
static bool holds_word(Str text, Str word) {
    for (size_t i = 0; i + word.len <= text.len; i++) {
        if (!is_at(text, i, word) || (i && is_letter(text.at[i - 1]))) continue;
        size_t end = i + word.len;
        if (end == text.len || !is_letter(text.at[end])) return true;
    }
    return false;
}

static uint32_t count_words(Str name, Str summary, const Names *words) {
    uint32_t score = 0;
    for (uint32_t i = 0; i < words->len; i++) {
        if (!words->at[i].len) continue;
        if (holds_word(name, words->at[i])) score += SCORE_IN_NAME;
        else if (holds_word(summary, words->at[i])) score += SCORE_IN_SUMMARY;
    }
    return score;
}

static int by_score_and_length(const void *a, const void *b) {
    const SearchHit *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    if (x->name.len != y->name.len) return x->name.len < y->name.len ? -1 : 1;
    return str_cmp(x->name, y->name);
}

void search_some(SearchHits *out, Arena *arena, const Docs *docs, const Names *words,
                 const Names *lesser) {
    *out = (SearchHits){0};
    for (uint32_t i = 0; i < docs->at.len && words->len; i++) {
        const DocEntry *entry = &docs->at.at[i];
        if (entry->superseded) continue;
        Str summary = search_summary(arena, entry);
        uint32_t score = count_words(entry->name, summary, words);
        if (!score) continue;
        score += count_words(entry->name, summary, lesser) / SCORE_IN_SUMMARY;
        vec_push(arena, out, ((SearchHit){entry, entry->name, score}));
    }
    if (out->len) qsort(out->at, out->len, sizeof(SearchHit), by_score_and_length);
}

// ---- summaries --------------------------------------------------------------------

static Str trim(Str s) {
    while (s.len && strchr(" \t-*", s.at[0])) s = (Str){s.at + 1, s.len - 1};
    while (s.len && strchr(" \t", s.at[s.len - 1])) s.len--;
    return s;
}

// "API功能：..." and "**算子功能**：..." begin many descriptions.
static Str without_label(Str line) {
    static const char *const labels[] = {"API功能", "接口功能", "算子功能", "功能描述"};
    static const char *const colons[] = {"：", ":"};
    for (size_t i = 0; i < COUNT(labels); i++) {
        if (!str_starts(line, labels[i])) continue;
        Str rest = {line.at + strlen(labels[i]), line.len - strlen(labels[i])};
        if (str_starts(rest, "**")) rest = (Str){rest.at + 2, rest.len - 2};
        for (size_t k = 0; k < COUNT(colons); k++) {
            if (!str_starts(rest, colons[k])) continue;
            return trim((Str){rest.at + strlen(colons[k]), rest.len - strlen(colons[k])});
        }
    }
    return line;
}

Str search_summary(Arena *arena, const DocEntry *entry) {
    DocPage page;
    page_read(&page, arena, entry);
    for (uint32_t i = 0; i < page.sections.len; i++) {
        if (page.sections.at[i].role != ROLE_DESCRIPTION) continue;
        Str rest = page.sections.at[i].text;
        while (rest.len) {
            Str line = without_label(trim(str_take(&rest, '\n')));
            if (line.len) return line;
        }
    }
    return STR("");
}

// ---- near names -------------------------------------------------------------------

// Edits (insert, delete, change a byte) from a to b, at most `limit` + 1.
static uint32_t distance(Str a, Str b, uint32_t limit) {
    uint32_t row[NEAR_NAME_MAX + 1];
    if (a.len > NEAR_NAME_MAX || b.len > NEAR_NAME_MAX) return limit + 1;
    for (uint32_t k = 0; k <= b.len; k++) row[k] = k;
    for (uint32_t i = 0; i < a.len; i++) {
        uint32_t corner = row[0];
        row[0] = i + 1;
        for (uint32_t k = 0; k < b.len; k++) {
            uint32_t above = row[k + 1];
            uint32_t best = corner + (lower(a.at[i]) != lower(b.at[k]));
            if (above + 1 < best) best = above + 1;
            if (row[k] + 1 < best) best = row[k] + 1;
            corner = above;
            row[k + 1] = best;
        }
    }
    return row[b.len] > limit ? limit + 1 : row[b.len];
}

static int by_distance(const void *a, const void *b) {
    const SearchHit *x = a, *y = b;
    if (x->score != y->score) return x->score < y->score ? -1 : 1;
    return str_cmp(x->name, y->name);
}

void search_near(Names *out, Arena *arena, const Names *names, Str name) {
    SearchHits found = {0};
    Str word = lower_copy(arena, without_prefix(name));
    uint32_t limit = word.len < 4 ? 1 : word.len / 3;
    *out = (Names){0};
    if (!word.len) return;
    for (uint32_t i = 0; i < names->len; i++) {
        Str other = names->at[i], plain = without_prefix(other);
        uint32_t edits = distance(word, plain, limit);
        // What holds the whole word is near, the nearer the less there is besides.
        if (edits > limit && holds(other, word)) {
            edits = limit + 1 + (uint32_t)(other.len - word.len);
        } else if (edits > limit) {
            continue;
        }
        vec_push(arena, &found, ((SearchHit){NULL, other, edits}));
    }
    if (found.len) qsort(found.at, found.len, sizeof(SearchHit), by_distance);
    for (uint32_t i = 0; i < found.len && out->len < NEAR_MAX; i++) {
        if (i && str_eq(found.at[i].name, found.at[i - 1].name)) continue;
        vec_push(arena, out, found.at[i].name);
    }
}
