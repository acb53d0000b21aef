// cache.c - one text file for each library: a line that says of what it is, the
// schemas, an empty line, the autograd classes, and a line with the hash of all
// that. A new version of a file takes the old one's place.
#include "base/base.h"

#include "apidoc/cache.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/sha256.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { CACHE_MAX_BYTES = 32 * 1024 * 1024 };

static const char last_word[] = "end ";

Str cache_identity(Arena *arena, const char *path) {
    struct stat status;
    const char *real = path_real(arena, path);
    if (!real || stat(real, &status) != 0) return STR("");
    return arena_printf(arena, "npufuse-library 2 %lld %lld.%09ld %llu %s",
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

static Str hash_of(Arena *arena, Str text) {
    char hex[SHA256_HEX + 1];
    sha256_hex(hex, text);
    return arena_str(arena, str_of(hex));
}

// NULL where nothing can be kept. The place alone names the file.
static const char *file_of(Arena *arena, Str identity) {
    const char *in = folder(arena);
    const char *place = identity.len ? memchr(identity.at, '/', identity.len) : NULL;
    if (!in || !place) return NULL;
    size_t len = identity.len - (size_t)(place - identity.at);
    Str hex = hash_of(arena, (Str){place, len});
    return path_join(arena, str_of(in), arena_printf(arena, "library-%.16s.txt", hex.at));
}

// Takes the last line off *text; false unless it has the hash of the rest.
static bool take_hash(Str *text, Arena *arena) {
    const size_t line = strlen(last_word) + SHA256_HEX + 1;
    if (text->len < line) return false;
    Str rest = {text->at, text->len - line}, end = {text->at + rest.len, line};
    *text = rest;
    return str_eq(end, arena_printf(arena, "%s%s\n", last_word, hash_of(arena, rest).at));
}

static bool read_schemas(Library *out, Arena *arena, Str *rest) {
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

bool cache_read(Library *out, Arena *arena, Str identity) {
    Str text;
    const char *file = file_of(arena, identity);
    Err ignored;
    *out = (Library){0};
    if (!file || file_kind(file) != FILE_REGULAR) return false;
    if (!file_read(&text, arena, file, CACHE_MAX_BYTES, &ignored)) return false;
    if (!take_hash(&text, arena) || !str_eq(str_take(&text, '\n'), identity)) return false;
    if (!read_schemas(out, arena, &text)) {
        *out = (Library){0};
        return false;
    }
    while (text.len) vec_push(arena, &out->nodes, str_take(&text, '\n'));
    return true;
}

void cache_write(const Library *library, Arena *arena, Str identity) {
    const char *file = file_of(arena, identity);
    Err ignored;
    if (!file || !file_make_folder(folder(arena), &ignored)) return;
    Buf text = {0};
    buf_addf(&text, "%.*s\n", STR_FMT(identity));
    for (uint32_t i = 0; i < library->schemas.len; i++) {
        buf_addf(&text, "%.*s\n", STR_FMT(library->schemas.at[i].text));
    }
    buf_add_char(&text, '\n');
    for (uint32_t i = 0; i < library->nodes.len; i++) {
        buf_addf(&text, "%.*s\n", STR_FMT(library->nodes.at[i]));
    }
    Str hash = hash_of(arena, buf_str(&text));
    buf_addf(&text, "%s%s\n", last_word, hash.at);
    (void)!file_write(file, buf_str(&text), &ignored);
    buf_free(&text);
}
