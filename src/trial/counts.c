// counts.c - reading what the processes of a run counted.
#include "base/base.h"

#include "trial/counts.h"

#include "base/file.h"

#include <stdlib.h>

enum { DIGITS = 20, FILE_BYTES_MAX = 1 << 20, CANDIDATES_MAX = 10000 };

typedef struct Field {
    const char *name;
    size_t offset;
} Field;

static const Field fields[] = {
    {"loaded", offsetof(Count, loaded)}, {"elsewhere", offsetof(Count, elsewhere)},
    {"fused", offsetof(Count, fused)},   {"else", offsetof(Count, other)},
    {"emulated", offsetof(Count, emulated)},
};

static uint64_t *field_of(Count *count, const Field *field) {
    return (uint64_t *)(void *)((char *)count + field->offset);
}

// "<key> <20 digits>"; false at the end or at anything else.
static bool next_line(Str *text, Str *key, uint64_t *value) {
    const char *end = memchr(text->at, '\n', text->len);
    if (!end) return false;
    Str line = {text->at, (size_t)(end - text->at)};
    *text = (Str){end + 1, text->len - line.len - 1};
    if (line.len < DIGITS + 2 || line.at[line.len - DIGITS - 1] != ' ') return false;
    *value = 0;
    for (size_t i = line.len - DIGITS; i < line.len; i++) {
        if (line.at[i] < '0' || line.at[i] > '9') return false;
        *value = *value * 10 + (uint64_t)(line.at[i] - '0');
    }
    *key = (Str){line.at, line.len - DIGITS - 1};
    return true;
}

static Count *count_of(Counts *out, Arena *arena, uint32_t candidate, uint64_t rank) {
    for (uint32_t i = 0; i < out->len; i++) {
        if (out->at[i].candidate == candidate && out->at[i].rank == rank) return &out->at[i];
    }
    Count fresh = {.candidate = candidate, .rank = rank};
    vec_push(arena, out, fresh);
    return &out->at[out->len - 1];
}

// "3.fused" -> 3 and the field; false for other keys.
static bool read_key(Str key, uint32_t *candidate, const Field **field) {
    char *name = NULL;
    if (!key.len || key.at[0] < '0' || key.at[0] > '9') return false;
    unsigned long number = strtoul(key.at, &name, 10);
    if (*name != '.' || number >= CANDIDATES_MAX) return false;
    Str rest = {name + 1, key.len - (size_t)(name + 1 - key.at)};
    for (size_t i = 0; i < COUNT(fields); i++) {
        if (!str_is(rest, fields[i].name)) continue;
        *candidate = (uint32_t)number;
        *field = &fields[i];
        return true;
    }
    return false;
}

static void add_file(Counts *out, Arena *arena, Str text) {
    Str key;
    uint64_t value, rank;
    if (!next_line(&text, &key, &value) || !str_is(key, "npufuse") || value != 1) return;
    if (!next_line(&text, &key, &rank) || !str_is(key, "rank")) return;
    uint32_t candidate;
    const Field *field;
    while (next_line(&text, &key, &value)) {
        if (!read_key(key, &candidate, &field)) return;
        *field_of(count_of(out, arena, candidate, rank), field) += value;
    }
}

static int compare_counts(const void *a, const void *b) {
    const Count *x = a, *y = b;
    if (x->candidate != y->candidate) return x->candidate < y->candidate ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

bool counts_read(Counts *out, Arena *arena, const char *folder, Err *err) {
    FolderList list;
    *out = (Counts){0};
    if (file_kind(folder) == FILE_NONE) return true;
    if (!folder_read(&list, arena, folder, err)) return false;
    for (size_t i = 0; i < list.len; i++) {
        Str text;
        const char *path = path_join(arena, str_of(folder), str_of(list.at[i].name));
        if (!str_ends(str_of(path), ".txt")) continue;
        if (!file_read(&text, arena, path, FILE_BYTES_MAX, err)) return false;
        add_file(out, arena, text);
    }
    if (out->len) qsort(out->at, out->len, sizeof(*out->at), compare_counts);
    return true;
}

Count counts_sum(const Counts *counts, uint32_t candidate) {
    Count sum = {.candidate = candidate};
    for (uint32_t i = 0; i < counts->len; i++) {
        Count *at = &counts->at[i];
        if (at->candidate != candidate) continue;
        sum.rank++;
        for (size_t k = 0; k < COUNT(fields); k++) {
            *field_of(&sum, &fields[k]) += *field_of(at, &fields[k]);
        }
    }
    return sum;
}

void counts_write(Json *json, const Counts *counts) {
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < counts->len; i++) {
        json_object(json, JSON_LINE);
        json_key(json, "candidate");
        json_uint(json, counts->at[i].candidate);
        json_key(json, "rank");
        json_uint(json, counts->at[i].rank);
        for (size_t k = 0; k < COUNT(fields); k++) {
            json_key(json, fields[k].name);
            json_uint(json, *field_of(&counts->at[i], &fields[k]));
        }
        json_end(json);
    }
    json_end(json);
}

void counts_from_json(Counts *out, Arena *arena, const JsonVal *array) {
    *out = (Counts){0};
    for (JsonIter it = json_first(array); it.value; json_next(&it)) {
        Count count = {.candidate = (uint32_t)json_int(json_member(it.value, "candidate"), 0),
                       .rank = (uint64_t)json_int(json_member(it.value, "rank"), 0)};
        for (size_t k = 0; k < COUNT(fields); k++) {
            int64_t value = json_int(json_member(it.value, fields[k].name), 0);
            *field_of(&count, &fields[k]) = value < 0 ? 0 : (uint64_t)value;
        }
        vec_push(arena, out, count);
    }
}
