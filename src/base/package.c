// package.c - the version of an installed package by the files that installers
// and builds leave.
#include "base/base.h"

#include "base/package.h"

#include "base/file.h"

enum { SMALL = 1 << 20 };

Str text_small(Arena *arena, const char *path) {
    Str text;
    Err ignored;
    if (file_kind(path) != FILE_REGULAR) return STR("");
    return file_read(&text, arena, path, SMALL, &ignored) ? text : STR("");
}

static Str trim(Str s) {
    while (s.len && (s.at[0] == ' ' || s.at[0] == '\t' || s.at[0] == '[')) {
        s = (Str){s.at + 1, s.len - 1};
    }
    while (s.len && (s.at[s.len - 1] <= ' ' || s.at[s.len - 1] == ']')) s.len--;
    return s;
}

Str text_value(Str text, const char *key) {
    size_t n = strlen(key);
    while (text.len) {
        Str line = str_take(&text, '\n');
        size_t i = 0;
        while (i < n && i < line.len && (line.at[i] | 0x20) == (key[i] | 0x20)) i++;
        if (i < n) continue;
        while (i < line.len && (line.at[i] == ' ' || line.at[i] == '\t')) i++;
        if (i >= line.len || (line.at[i] != ':' && line.at[i] != '=')) continue;
        Str value = trim((Str){line.at + i + 1, line.len - i - 1});
        const char *last = value.len ? memchr(value.at, ':', value.len) : NULL;
        // [7.0.0.1:8.0.RC1]
        if (last && line.at[i] == '=') value = trim((Str){last + 1, (size_t)(value.at + value.len -
                                                                              last - 1)});
        return value;
    }
    return STR("");
}

// "torch-2.7.1+cpu.dist-info" -> "2.7.1+cpu"; METADATA has it too.
static Str version_in(Arena *arena, Str folder, const char *package) {
    FolderList list;
    Err ignored;
    size_t n = strlen(package);
    if (!folder_read(&list, arena, arena_cstr(arena, folder), &ignored)) return STR("");
    for (size_t i = 0; i < list.len; i++) {
        Str name = str_of(list.at[i].name);
        if (!str_starts(name, package) || name.len <= n || name.at[n] != '-') continue;
        if (!str_ends(name, ".dist-info")) continue;
        const char *info = path_join(arena, folder, name);
        Str meta = text_small(arena, path_join(arena, str_of(info), STR("METADATA")));
        Str version = text_value(meta, "Version");
        if (version.len) return version;
        return (Str){name.at + n + 1, name.len - n - 1 - strlen(".dist-info")};
    }
    return STR("");
}

// __version__ = '2.7.1+cpu' of a build that no installer wrote down.
static Str version_of_source(Arena *arena, Str folder, const char *package) {
    Str file = arena_printf(arena, "%s/version.py", package);
    Str text = text_value(text_small(arena, path_join(arena, folder, file)), "__version__");
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] != '\'' && text.at[i] != '"') continue;
        const char *start = text.at + i + 1;
        const char *end = memchr(start, text.at[i], text.len - i - 1);
        return end ? (Str){start, (size_t)(end - start)} : STR("");
    }
    return STR("");
}

Str package_version(Arena *arena, Str folder, const char *package) {
    Str version = version_in(arena, folder, package);
    return version.len ? version : version_of_source(arena, folder, package);
}
