// library.c - an ELF file's read-only data, searched for schemas.
//
// Only the headers and the sections that can hold text are read: of a library
// of 97 MB these are 3 MB. Every offset comes from the file and is checked
// against its size before it is used.
#include "base/base.h"

#include "apidoc/library.h"

#include "base/elf.h"

#include <stdlib.h>

static bool is_printable(char c) {
    return c >= ' ' && c <= '~';
}

// The text around `at`, up to bytes that no text has.
static Str text_around(Str data, size_t at) {
    size_t start = at, end = at;
    while (start && at - start < SCHEMA_MAX_BYTES && is_printable(data.at[start - 1])) start--;
    while (end < data.len && end - at < SCHEMA_MAX_BYTES && is_printable(data.at[end])) end++;
    return (Str){data.at + start, end - start};
}

static void add_schema(Library *out, Arena *arena, Str text) {
    Schema schema;
    Err ignored;
    ArenaMark mark = arena_mark(arena);
    Str copy = arena_str(arena, text);
    if (out->schemas.len >= LIBRARY_MAX_SCHEMAS) return;
    if (schema_parse(&schema, arena, copy, &ignored)) {
        vec_push(arena, &out->schemas, schema);
    } else {
        arena_reset(arena, mark);
    }
}

static void find_schemas(Library *out, Arena *arena, Str data) {
    size_t at = 0;
    while (at < data.len) {
        const char *found = memchr(data.at + at, '>', data.len - at);
        if (!found) return;
        size_t offset = (size_t)(found - data.at);
        at = offset + 1;
        if (!offset || found[-1] != '-') continue;
        Str text = text_around(data, offset);
        if (memchr(text.at, '(', text.len)) add_schema(out, arena, text);
        size_t end = (size_t)(text.at + text.len - data.at);
        if (end > at) at = end;
    }
}

static bool is_word_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// A string that is one class name and ends in Backward0 (or another digit).
static void find_nodes(Library *out, Arena *arena, Str data) {
    static const char word[] = "Backward";
    size_t n = strlen(word), at = 0;
    while (at + n < data.len && out->nodes.len < LIBRARY_MAX_SCHEMAS) {
        const char *found = memchr(data.at + at, word[0], data.len - at - n);
        if (!found) return;
        size_t start = (size_t)(found - data.at), end = start + n;
        at = start + 1;
        if (memcmp(found, word, n) != 0) continue;
        at = end;
        while (start && is_word_char(data.at[start - 1])) start--;
        while (end < data.len && data.at[end] >= '0' && data.at[end] <= '9') end++;
        bool whole = end < data.len && data.at[end] == '\0' && (!start || !data.at[start - 1]);
        bool digit = end > at, capital = data.at[start] >= 'A' && data.at[start] <= 'Z';
        if (!whole || !digit || !capital || end - start > 200) continue;
        vec_push(arena, &out->nodes, arena_str(arena, (Str){data.at + start, end - start}));
    }
}

static int by_name(const void *a, const void *b) {
    const Schema *x = a, *y = b;
    int order = str_cmp(x->name, y->name);
    if (!order) order = str_cmp(x->overload, y->overload);
    return order ? order : str_cmp(x->text, y->text);
}

static int by_text(const void *a, const void *b) {
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

static void sort(Library *out) {
    uint32_t kept = 0;
    if (out->schemas.len) {
        qsort(out->schemas.at, out->schemas.len, sizeof(Schema), by_name);
    }
    for (uint32_t i = 0; i < out->schemas.len; i++) {
        Schema *at = out->schemas.at;
        if (kept && str_eq(at[i].text, at[kept - 1].text)) continue;
        at[kept++] = at[i];
    }
    out->schemas.len = kept;
    if (out->nodes.len) qsort(out->nodes.at, out->nodes.len, sizeof(Str), by_text);
    kept = 0;
    for (uint32_t i = 0; i < out->nodes.len; i++) {
        Str *at = out->nodes.at;
        if (kept && str_eq(at[i], at[kept - 1])) continue;
        at[kept++] = at[i];
    }
    out->nodes.len = kept;
}

static bool take_part(void *data, Arena *arena, Str part) {
    find_schemas(data, arena, part);
    find_nodes(data, arena, part);
    return true;
}

static bool finish(Library *out, bool ok) {
    if (ok) sort(out);
    return ok;
}

bool library_read_file(Library *out, Arena *arena, const char *path, Err *err) {
    *out = (Library){0};
    ElfVisit visit = {take_part, out, arena, LIBRARY_MAX_DATA};
    return finish(out, elf_visit_file(&visit, path, err));
}

bool library_read(Library *out, Arena *arena, Str bytes, Err *err) {
    *out = (Library){0};
    ElfVisit visit = {take_part, out, arena, LIBRARY_MAX_DATA};
    return finish(out, elf_visit(&visit, bytes, err));
}

// npu_rms_norm -> NpuRmsNormBackward, as torch's code generator names it.
bool library_has_backward(const Library *library, Arena *arena, Str name) {
    char *text = arena_alloc(arena, name.len + sizeof("Backward"));
    size_t n = 0;
    bool start = true;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        if (c == '_') {
            start = true;
            continue;
        }
        bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z';
        text[n++] = (char)(start && lower ? c - 32 : !start && upper ? c + 32 : c);
        start = false;
    }
    memcpy(text + n, "Backward", sizeof("Backward"));
    for (uint32_t i = 0; i < library->nodes.len; i++) {
        Str node = library->nodes.at[i];
        if (str_starts(node, text) && node.len <= n + strlen("Backward") + 2) return true;
    }
    return false;
}
