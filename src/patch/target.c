// target.c - from the name of a file in a finding to a path that may be written.
#include "base/base.h"

#include "patch/target.h"

#include "base/file.h"

// Calls for each component of the path until one is `word`.
static bool has_component(Str path, const char *word) {
    for (size_t at = 0; at <= path.len;) {
        size_t end = at;
        while (end < path.len && path.at[end] != '/') end++;
        if (str_is((Str){path.at + at, end - at}, word)) return true;
        at = end + 1;
    }
    return false;
}

static bool is_below(Str path, Str folder) {
    bool all = str_is(folder, "/");
    return path.len > folder.len && memcmp(path.at, folder.at, folder.len) == 0 &&
           (all || path.at[folder.len] == '/');
}

bool target_path(const char **out, Arena *arena, Str root, Str file, Err *err) {
    bool plain = file.len && file.at[0] != '/' && !memchr(file.at, 0, file.len) &&
                 !has_component(file, "..");
    if (!plain) {
        return err_set(err, "'%.*s' is outside of the scanned root '%.*s'", STR_FMT(file),
                       STR_FMT(root));
    }
    const char *folder = path_real(arena, arena_cstr(arena, root));
    if (!folder) return err_set(err, "the scanned root '%.*s' does not exist", STR_FMT(root));
    const char *path = path_real(arena, path_join(arena, str_of(folder), file));
    if (!path || file_kind(path) != FILE_REGULAR) {
        return err_set(err, "'%.*s' is no file in '%.*s'; scan again", STR_FMT(file),
                       STR_FMT(root));
    }
    if (!is_below(str_of(path), str_of(folder))) {
        return err_set(err, "'%.*s' is a link that leaves the scanned root '%.*s'",
                       STR_FMT(file), STR_FMT(root));
    }
    if (has_component(str_of(path), "site-packages") ||
        has_component(str_of(path), "dist-packages")) {
        return err_set(err, "'%.*s' belongs to an installed package; copy it into your project "
                            "and scan it there", STR_FMT(file));
    }
    *out = path;
    return true;
}
