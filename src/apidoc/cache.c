// cache.c - one text file for each library: a line that says of what it is, the
// schemas, an empty line, the autograd classes, and a line that ends it.
#include "base/base.h"

#include "apidoc/cache.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/sha256.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { CACHE_MAX_BYTES = 16 * 1024 * 1024 };

static const char last_line[] = "end";

// The first line of a cache of this file as it is now; empty if there is none.
static Str identity(Arena *arena, const char *path) {
    struct stat status;
    const char *real = path_real(arena, path);
    if (!real || stat(real, &status) != 0) return STR("");
    return arena_printf(arena, "npufuse-library 1 %lld %lld.%09ld %llu %s",
                        (long long)status.st_size, (long long)status.st_mtim.tv_sec,
                        status.st_mtim.tv_nsec, (unsigned long long)status.st_ino, real);
}

// $XDG_CACHE_HOME/npufuse, or ~/.cache/npufuse; NULL where neither is known.
static const char *folder(Arena *arena) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') return path_join(arena, str_of(cache), STR("npufuse"));
    if (!home || home[0] != '/') return NULL;
    return path_join(arena, str_of(home), STR(".cache/npufuse"));
}

static const char *file_of(Arena *arena, Str id) {
    Sha256 hash;
    char hex[SHA256_HEX + 1];
    const char *in = folder(arena);
    // The place alone names the file, so that a new version takes the old one's.
    const char *place = id.len ? strchr(id.at, '/') : NULL;
    if (!in || !place) return NULL;
    sha256_init(&hash);
    sha256_add(&hash, str_of(place));
    sha256_end(&hash, hex);
    Str name = arena_printf(arena, "library-%.16s.txt", hex);
    return path_join(arena, str_of(in), name);
}

static bool read_lines(Library *out, Arena *arena, Str *rest) {
    while (rest->len) {
        Str line = str_take(rest, '\n');
        Schema schema;
        Err ignored;
        if (!line.len) return true;
        if (!schema_parse(&schema, arena, line, &ignored)) return false;
        vec_push(arena, &out->schemas, schema);
    }
    return false;
}

static bool read_nodes(Library *out, Arena *arena, Str *rest) {
    while (rest->len) {
        Str line = str_take(rest, '\n');
        if (str_is(line, last_line)) return true;
        vec_push(arena, &out->nodes, line);
    }
    return false; // it ends in the middle
}

bool cache_read(Library *out, Arena *arena, const char *path) {
    Str id = identity(arena, path), text;
    const char *file = file_of(arena, id);
    Err ignored;
    *out = (Library){0};
    if (!file || file_kind(file) != FILE_REGULAR) return false;
    if (!file_read(&text, arena, file, CACHE_MAX_BYTES, &ignored)) return false;
    if (!str_eq(str_take(&text, '\n'), id)) return false;
    if (read_lines(out, arena, &text) && read_nodes(out, arena, &text)) return true;
    *out = (Library){0};
    return false;
}

void cache_write(const Library *library, Arena *arena, const char *path) {
    Str id = identity(arena, path);
    const char *file = file_of(arena, id);
    Err ignored;
    if (!file || !file_make_folder(folder(arena), &ignored)) return;
    Buf text = {0};
    buf_addf(&text, "%.*s\n", STR_FMT(id));
    for (uint32_t i = 0; i < library->schemas.len; i++) {
        buf_addf(&text, "%.*s\n", STR_FMT(library->schemas.at[i].text));
    }
    buf_add_char(&text, '\n');
    for (uint32_t i = 0; i < library->nodes.len; i++) {
        buf_addf(&text, "%.*s\n", STR_FMT(library->nodes.at[i]));
    }
    buf_addf(&text, "%s\n", last_line);
    (void)!file_write(file, buf_str(&text), &ignored);
    buf_free(&text);
}
