// library.c - an ELF file's read-only data, searched for schemas.
//
// Only the headers and the sections that can hold text are read: of a library
// of 97 MB these are 3 MB. Every offset comes from the file and is checked
// against its size before it is used.
#include "base/base.h"

#include "apidoc/library.h"

#include "base/elf.h"

#include <stdlib.h>

enum { NODE_NAME_MAX = 200 }; // a longer name is no class of torch's

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

typedef struct Search {
    Library *out;
    Arena *arena;
    size_t text_bytes; // of the schemas
    bool full;         // there is more than a torch_npu has
} Search;

static void add_schema(Search *search, Str text) {
    Schema schema;
    Err ignored;
    Arena *arena = search->arena;
    ArenaMark mark = arena_mark(arena);
    if (!schema_parse(&schema, arena, arena_str(arena, text), &ignored)) {
        arena_reset(arena, mark);
        return;
    }
    vec_push(arena, &search->out->schemas, schema);
    search->text_bytes += text.len;
    search->full = search->out->schemas.len > LIBRARY_MAX_SCHEMAS ||
                   search->text_bytes > LIBRARY_MAX_TEXT;
}

static void find_schemas(Search *search, Str data) {
    size_t at = 0;
    while (at < data.len && !search->full) {
        const char *found = memchr(data.at + at, '>', data.len - at);
        if (!found) return;
        size_t offset = (size_t)(found - data.at);
        at = offset + 1;
        if (!offset || found[-1] != '-') continue;
        Str text = text_around(data, offset);
        if (memchr(text.at, '(', text.len)) add_schema(search, text);
        size_t end = (size_t)(text.at + text.len - data.at);
        if (end > at) at = end;
    }
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word_char(char c) {
    return is_letter(c) || is_digit(c) || c == '_';
}

// The class name whose "Backward" stands at `at`; empty if that is part of
// something else. How far back it looks is bounded: a run of one word may be
// as long as the file.
static Str node_around(Str data, size_t at) {
    size_t start = at, end = at + strlen("Backward"), digits = end;
    while (start && at - start < NODE_NAME_MAX && is_word_char(data.at[start - 1])) start--;
    while (end < data.len && end - digits < 3 && is_digit(data.at[end])) end++;
    bool whole = end < data.len && data.at[end] == '\0' && (!start || !data.at[start - 1]);
    bool capital = data.at[start] >= 'A' && data.at[start] <= 'Z';
    if (!whole || !capital || end == digits) return STR("");
    return (Str){data.at + start, end - start};
}

// A string that is one class name and ends in Backward0 (or another digit).
static void find_nodes(Search *search, Str data) {
    static const char word[] = "Backward";
    size_t n = strlen(word), at = 0;
    Library *out = search->out;
    while (at + n < data.len && !search->full) {
        const char *found = memchr(data.at + at, word[0], data.len - at - n);
        if (!found) return;
        at = (size_t)(found - data.at) + 1;
        if (memcmp(found, word, n) != 0) continue;
        Str node = node_around(data, at - 1);
        at += n - 1;
        if (!node.len) continue;
        vec_push(search->arena, &out->nodes, arena_str(search->arena, node));
        search->full = out->nodes.len > LIBRARY_MAX_SCHEMAS;
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
    Search *search = data;
    (void)arena;
    find_schemas(search, part);
    find_nodes(search, part);
    return !search->full;
}

static bool finish(Search *search, const char *name, Err *err) {
    if (search->full) {
        *search->out = (Library){0};
        return err_set(err, "'%s' has more schemas than any torch_npu", name);
    }
    sort(search->out);
    return true;
}

bool library_read_file(Library *out, Arena *arena, const char *path, Err *err) {
    *out = (Library){0};
    Search search = {.out = out, .arena = arena};
    ElfVisit visit = {take_part, &search, arena, LIBRARY_MAX_DATA};
    return elf_visit_file(&visit, path, err) && finish(&search, path, err);
}

bool library_read(Library *out, Arena *arena, Str bytes, Err *err) {
    *out = (Library){0};
    Search search = {.out = out, .arena = arena};
    ElfVisit visit = {take_part, &search, arena, LIBRARY_MAX_DATA};
    return elf_visit(&visit, bytes, err) && finish(&search, "the library", err);
}

// npu_deformable_conv2d -> NpuDeformableConv2DBackward. torch's code generator
// uses Python's str.title(): a letter is a capital where none is before it.
bool library_has_backward(const Library *library, Arena *arena, Str name) {
    char *text = arena_alloc(arena, name.len + sizeof("Backward"));
    size_t n = 0;
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool first = !i || !is_letter(name.at[i - 1]);
        if (c == '_') continue;
        text[n++] = (char)(!is_letter(c) ? c : first ? c & ~0x20 : c | 0x20);
    }
    memcpy(text + n, "Backward", sizeof("Backward"));
    for (uint32_t i = 0; i < library->nodes.len; i++) {
        Str node = library->nodes.at[i];
        if (str_starts(node, text) && node.len <= n + strlen("Backward") + 2) return true;
    }
    return false;
}
