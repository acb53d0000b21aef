// locate.c - finds rules/, ops/ and assets/ from the place of the executable.
//
// Every lookup starts at the real path of the executable, so a symbolic link
// to the command (pipx makes one) works. A prefix may hold the packages of
// several Pythons; the one whose npufuse has our own version is preferred.
#include "base/base.h"

#include "base/locate.h"

#include "base/file.h"

#include <glob.h>
#include <stdlib.h>

// Where a data folder may lie, seen from the executable, in this order.
static const char *const PLACES[] = {
    "../lib/python3*/site-packages/npufuse/",
    "../lib64/python3*/site-packages/npufuse/",
    "../lib/python3*/dist-packages/npufuse/",
    "../npufuse/", // pip install --target
    "../share/npufuse/",
    "",       // what a build makes beside build/release/npufuse
    "../../", // build/release/npufuse of a source tree
    "../",
};

// Whether the package that holds `found` has the version of this program.
static bool is_same_version(Arena *arena, const char *found) {
    Str info = arena_printf(arena, "%s/../../npufuse-%s.dist-info", found,
                            NPUFUSE_VERSION);
    return file_kind(info.at) == FILE_FOLDER;
}

// The best folder that `pattern` matches, or NULL.
static const char *find_folder(Arena *arena, const char *pattern) {
    glob_t found;
    const char *best = NULL;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            const char *path = found.gl_pathv[i];
            if (file_kind(path) != FILE_FOLDER) continue;
            best = arena_cstr(arena, str_of(path));
            if (is_same_version(arena, path)) break;
        }
    }
    globfree(&found);
    return best;
}

// Puts a backslash before what glob would take for a pattern.
static Str glob_escape(Arena *arena, Str path) {
    char *at = arena_alloc(arena, path.len * 2 + 1);
    size_t len = 0;
    for (size_t i = 0; i < path.len; i++) {
        if (path.at[i] && strchr("\\*?[", path.at[i])) at[len++] = '\\';
        at[len++] = path.at[i];
    }
    return (Str){at, len};
}

bool locate_data_from(Str *out, Arena *arena, Str exe_folder, const char *name,
                      Err *err) {
    Str base = glob_escape(arena, exe_folder);
    for (size_t i = 0; i < COUNT(PLACES); i++) {
        Str pattern = arena_printf(arena, "%.*s/%s%s", STR_FMT(base),
                                   PLACES[i], name);
        const char *found = find_folder(arena, pattern.at);
        const char *real = found ? path_real(arena, found) : NULL;
        if (!real) continue;
        *out = str_of(real);
        return true;
    }
    return err_set(err, "cannot find the folder '%s' of this installation",
                   name);
}

bool locate_data(Str *out, Arena *arena, const char *name, Err *err) {
    const char *exe = path_real(arena, "/proc/self/exe");
    if (!exe) return err_set(err, "cannot read '/proc/self/exe'");
    return locate_data_from(out, arena, path_folder(str_of(exe)), name, err);
}

bool locate_rules(Str *out, Arena *arena, Err *err) {
    const char *set = getenv("NPUFUSE_RULES");
    if (!set || !*set) return locate_data(out, arena, "rules", err);
    const char *real = path_real(arena, set);
    if (!real || file_kind(real) != FILE_FOLDER) {
        return err_set(err, "NPUFUSE_RULES names no folder: '%s'", set);
    }
    *out = str_of(real);
    return true;
}
