// fuzz_library.c - any bytes as a shared library. What is found is sorted,
// each text once, in order; what is refused is refused with a message.
#include "base/base.h"

#include "apidoc/library.h"
#include "fuzz.h"

static int compare(const Schema *a, const Schema *b) {
    int order = str_cmp(a->name, b->name);
    if (!order) order = str_cmp(a->overload, b->overload);
    return order ? order : str_cmp(a->text, b->text);
}

static void check(Arena *arena, const Library *library) {
    for (uint32_t i = 0; i < library->schemas.len; i++) {
        const Schema *schema = &library->schemas.at[i];
        Schema again;
        Err err;
        if (i && compare(schema - 1, schema) >= 0) BUG("schema %u is out of order", i);
        if (!schema_parse(&again, arena, schema->text, &err)) BUG("%s", err.text);
        library_has_backward(library, arena, schema->name);
    }
    for (uint32_t i = 0; i < library->nodes.len; i++) {
        const Str *node = &library->nodes.at[i];
        if (i && str_cmp(node[-1], *node) >= 0) BUG("class %u is out of order", i);
        if (!str_contains(*node, STR("Backward"))) BUG("class %u is none", i);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    Library library;
    Err err = {{0}};
    arena_init(&arena);
    if (library_read(&library, &arena, (Str){(const char *)data, size}, &err)) {
        check(&arena, &library);
    } else if (!err.text[0]) {
        BUG("refused without a word");
    }
    arena_free(&arena);
    return 0;
}
