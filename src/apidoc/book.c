// book.c - opens both parts of an installation. One may be missing: an old
// torch_npu has no texts, a folder of pages no library.
#include "base/base.h"

#include "apidoc/book.h"

#include "apidoc/wheel.h"

static void read_docs(Book *out, Arena *arena) {
    Err err;
    // A library that was named by itself has no texts to miss.
    if (out->install.library && str_is(out->install.root, out->install.library)) return;
    if (!install_docs(&out->docs, arena, &out->install, &err)) {
        out->docs_fault = arena_str(arena, str_of(err.text));
    }
}

static void read_library(Book *out, Arena *arena, bool cache) {
    Err err;
    const char *wheel = out->install.wheel, *library = out->install.library;
    bool ok = wheel     ? wheel_library(&out->library, arena, wheel, cache, &err)
              : library ? library_read_file(&out->library, arena, library, &err)
                        : true;
    if (!ok) out->library_fault = arena_str(arena, str_of(err.text));
}

bool book_open(Book *out, Arena *arena, const Install *install, bool cache, Err *err) {
    *out = (Book){.install = *install};
    read_docs(out, arena);
    read_library(out, arena, cache);
    if (out->docs.at.len || out->library.schemas.len) return true;
    Str fault = out->docs_fault.len ? out->docs_fault : out->library_fault;
    if (!fault.len) fault = arena_printf(arena, "'%.*s' registers nothing",
                                         STR_FMT(out->install.root));
    return err_set(err, "%.*s", STR_FMT(fault));
}

uint32_t book_first(const Book *book, Str name) {
    uint32_t low = 0, high = book->library.schemas.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (str_cmp(book->library.schemas.at[middle].name, name) < 0) low = middle + 1;
        else high = middle;
    }
    const Schema *at = book->library.schemas.at;
    bool found = low < book->library.schemas.len && str_eq(at[low].name, name);
    return found ? low : book->library.schemas.len;
}

bool book_has_library(const Book *book) {
    return book->library.schemas.len > 0;
}

Str book_title(Arena *arena, const Book *book) {
    Str version = book->install.version;
    if (!version.len) return STR("torch_npu");
    return arena_printf(arena, "torch_npu %.*s", STR_FMT(version));
}
