// output_folder.c - where a command may write.
#include "base/base.h"

#include "cli/output_folder.h"

#include "base/file.h"

#include <sys/stat.h>

// Whether a component of `path` is where packages are installed.
static bool is_in_packages(Str path) {
    while (path.len > 1) {
        Str base = path_base(path);
        if (str_is(base, "site-packages") || str_is(base, "dist-packages")) {
            return true;
        }
        Str folder = path_folder(path);
        if (folder.len >= path.len || str_is(folder, ".")) return false;
        path = folder;
    }
    return false;
}

// The real path of the deepest part of `folder` that exists.
static Str real_part(Arena *arena, const char *folder) {
    Str path = str_of(folder);
    while (path.len > 1) {
        const char *real = path_real(arena, arena_cstr(arena, path));
        if (real) return str_of(real);
        if (str_is(path, ".")) break;
        path = path_folder(path);
    }
    const char *here = path_real(arena, path.len && path.at[0] == '/' ? "/"
                                                                      : ".");
    return str_of(here ? here : "/");
}

bool output_folder_check(Arena *arena, const char *folder, Err *err) {
    if (!*folder) return err_set(err, "the output folder has no name");
    if (is_in_packages(real_part(arena, folder))) {
        return err_set(err, "cannot write to '%s': it is inside installed "
                       "packages; choose another folder with -o", folder);
    }
    return true;
}

static bool has_gitignore(const FolderList *list) {
    for (size_t i = 0; i < list->len; i++) {
        if (strcmp(list->at[i].name, ".gitignore") == 0) return true;
    }
    return false;
}

bool output_folder_open(Arena *arena, const char *folder, Err *err) {
    FolderList list;
    if (!file_make_folder(folder, err)) return false;
    if (!folder_read(&list, arena, folder, err)) return false;
    // A folder of another name that is in use may be the user's own: hiding
    // it would hide their work.
    Str name = path_base(str_of(folder));
    bool ours = list.len == 0 || str_is(name, OUTPUT_FOLDER);
    if (!ours || has_gitignore(&list)) return true;
    return output_folder_write(arena, folder, ".gitignore", STR("*\n"), err);
}

// A scan of an unchanged project ends with the files that are there already: to write
// them again and wait for the disk would take longer than the rest.
static bool is_there(const char *path, Str data) {
    Arena scratch;
    Str old;
    Err ignored;
    struct stat status;
    if (stat(path, &status) != 0 || (uint64_t)status.st_size != data.len) return false;
    arena_init(&scratch);
    bool same = file_read(&old, &scratch, path, data.len, &ignored) && str_eq(old, data);
    arena_free(&scratch);
    return same;
}

bool output_folder_write(Arena *arena, const char *folder, const char *name,
                         Str data, Err *err) {
    const char *path = arena_printf(arena, "%s/%s", folder, name).at;
    return is_there(path, data) || file_write(path, data, err);
}
