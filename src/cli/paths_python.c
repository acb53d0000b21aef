// paths_python.c - site-packages by looking at files only: pyvenv.cfg, links,
// pyenv's version files, .pth files. Its one idea: each source of folders
// appends to one list; what does not exist is left out there.
#include "base/base.h"

#include "cli/paths_python.h"

#include "base/file.h"
#include "base/locate.h"
#include "base/proc.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

enum { SMALL_FILE = 1 << 20, LINKS_MAX = 40 };

typedef struct Search {
    Arena *arena;
    FolderVec *out;
} Search;

static bool is_folder(const char *path) {
    return file_kind(path) == FILE_FOLDER;
}

static char *join(const Search *search, Str folder, const char *name) {
    return path_join(search->arena, folder, str_of(name));
}

static bool has_folder(const Search *search, Str folder) {
    for (uint32_t i = 0; i < search->out->len; i++) {
        if (str_eq(search->out->at[i], folder)) return true;
    }
    return false;
}

// Adds `path` if it is a folder that is not in the list yet.
static bool add_folder(const Search *search, const char *path) {
    if (!is_folder(path)) return false;
    Str folder = arena_str(search->arena, str_of(path));
    if (has_folder(search, folder)) return false;
    vec_push(search->arena, search->out, folder);
    return true;
}

static Str trim(Str s) {
    while (s.len && strchr(" \t\r\n", s.at[0])) s = (Str){s.at + 1, s.len - 1};
    while (s.len && strchr(" \t\r\n", s.at[s.len - 1])) s.len--;
    return s;
}

// The text of a small file; empty if it cannot be read.
static Str read_small(const Search *search, const char *path) {
    Str text;
    Err err;
    if (file_kind(path) != FILE_REGULAR) return STR("");
    if (!file_read(&text, search->arena, path, SMALL_FILE, &err)) {
        return STR("");
    }
    return text;
}

// The plain lines of a .pth file are folders, relative to where it lies; its
// `import` lines are code and are not run.
static void add_pth_file(const Search *search, Str site, const char *name) {
    Str text = read_small(search, join(search, site, name));
    while (text.len) {
        Str line = trim(str_take(&text, '\n'));
        if (line.len == 0 || line.at[0] == '#') continue;
        if (str_starts(line, "import ") || str_starts(line, "import\t")) {
            continue;
        }
        char *path = line.at[0] == '/' ? arena_cstr(search->arena, line)
                                       : path_join(search->arena, site, line);
        add_folder(search, path);
    }
}

static void add_site(const Search *search, const char *path) {
    if (!add_folder(search, path)) return;
    FolderList list;
    Err err;
    if (!folder_read(&list, search->arena, path, &err)) return;
    for (size_t i = 0; i < list.len; i++) {
        if (!str_ends(str_of(list.at[i].name), ".pth")) continue;
        add_pth_file(search, str_of(path), list.at[i].name);
    }
}

// The number behind the last '.' of "python3.11", 0 if there is none.
static int minor_version(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot ? (int)strtol(dot + 1, NULL, 10) : 0;
}

// `prefix`/lib/python3.N for the newest N, or for the N of `exe_name` where
// that has one; with the folders of packages below it.
static void add_library(const Search *search, const char *library,
                        const char *exe_name) {
    FolderList list;
    Err err;
    if (!is_folder(library)) return;
    if (!folder_read(&list, search->arena, library, &err)) return;
    int wanted = minor_version(exe_name), best = -1;
    const char *version = NULL;
    for (size_t i = 0; i < list.len; i++) {
        if (!str_starts(str_of(list.at[i].name), "python3")) continue;
        if (list.at[i].kind != FILE_FOLDER) continue;
        int minor = minor_version(list.at[i].name);
        if ((wanted && minor != wanted) || minor <= best) continue;
        best = minor;
        version = list.at[i].name;
    }
    if (!version) return;
    Str folder = str_of(join(search, str_of(library), version));
    add_site(search, join(search, folder, "site-packages"));
    add_site(search, join(search, folder, "dist-packages"));
}

static void add_prefix(const Search *search, const char *prefix,
                       const char *exe_name) {
    static const char *const libraries[] = {"lib", "lib64", "local/lib"};
    for (size_t i = 0; i < COUNT(libraries); i++) {
        add_library(search, join(search, str_of(prefix), libraries[i]),
                    exe_name);
    }
    // Debian's own packages have no version in their path.
    Str lib = str_of(join(search, str_of(prefix), "lib"));
    add_site(search, join(search, lib, "python3/dist-packages"));
}

// The value of `key` in the text of a pyvenv.cfg.
static Str config_value(Str text, const char *key) {
    while (text.len) {
        Str line = str_take(&text, '\n');
        Str name = trim(str_take(&line, '='));
        if (str_is(name, key)) return trim(line);
    }
    return STR("");
}

// If `prefix` is a virtual environment, adds it (and the Python that it was
// made from, if it says so).
static bool add_venv(const Search *search, const char *prefix) {
    Str config = read_small(search, join(search, str_of(prefix), "pyvenv.cfg"));
    if (config.len == 0) return false;
    add_prefix(search, prefix, "");
    if (str_is(config_value(config, "include-system-site-packages"), "true")) {
        Str home = config_value(config, "home");
        Str base = path_folder(home);
        if (home.len) add_prefix(search, arena_cstr(search->arena, base), "");
    }
    return true;
}

// The folder above the one that holds `exe`: /usr of /usr/bin/python3.
static char *prefix_of(const Search *search, const char *exe) {
    Str bin = path_folder(str_of(exe));
    if (str_is(bin, ".")) return arena_cstr(search->arena, STR(".."));
    return arena_cstr(search->arena, path_folder(bin));
}

// What the link `path` points at; NULL if it is no link.
static char *read_link(const Search *search, const char *path) {
    char target[PATH_MAX];
    ssize_t len = readlink(path, target, sizeof(target) - 1);
    if (len <= 0) return NULL;
    Str text = {target, (size_t)len};
    if (target[0] == '/') return arena_cstr(search->arena, text);
    return path_join(search->arena, path_folder(str_of(path)), text);
}

// ---- pyenv: <root>/shims/python3 is a shell script that picks a version.

static bool is_script(const Search *search, const char *path) {
    return str_starts(read_small(search, path), "#!");
}

// The version that pyenv would pick in the current folder; empty if none.
static Str pyenv_version(const Search *search, Str root) {
    Str version = str_of(getenv("PYENV_VERSION"));
    if (version.len == 0) {
        const char *here = path_real(search->arena, ".");
        Str folder = str_of(here ? here : "/");
        while (version.len == 0 && folder.len > 1) {
            version = trim(read_small(search, join(search, folder,
                                                   ".python-version")));
            folder = path_folder(folder);
        }
    }
    if (version.len == 0) {
        version = trim(read_small(search, join(search, root, "version")));
    }
    Str first_line = str_take(&version, '\n');
    return trim(str_take(&first_line, ':'));
}

// `root`/versions/3.11.7 for "3.11.7", and the newest of them for "3.11".
static char *pyenv_prefix(const Search *search, Str root, Str version) {
    Str versions = str_of(join(search, root, "versions"));
    char *exact = path_join(search->arena, versions, version);
    if (is_folder(exact)) return exact;
    FolderList list;
    Err err;
    if (!folder_read(&list, search->arena, versions.at, &err)) return NULL;
    Str start = arena_printf(search->arena, "%.*s.", STR_FMT(version));
    const char *best = NULL;
    for (size_t i = 0; i < list.len; i++) {
        const char *name = list.at[i].name;
        if (!str_starts(str_of(name), start.at)) continue;
        if (!best || minor_version(name) > minor_version(best)) best = name;
    }
    return best ? join(search, versions, best) : NULL;
}

static bool add_pyenv(const Search *search, const char *shim) {
    Str root = path_folder(path_folder(str_of(shim)));
    Str version = pyenv_version(search, root);
    if (version.len == 0 || str_is(version, "system")) return false;
    char *prefix = pyenv_prefix(search, root, version);
    if (!prefix) return false;
    if (!add_venv(search, prefix)) add_prefix(search, prefix, "");
    return true;
}

// Adds the folders of one executable; false if it is not Python itself but a
// script that picks one, and its choice cannot be followed.
static bool add_executable(const Search *search, const char *exe) {
    for (int links = 0; links < LINKS_MAX; links++) {
        if (add_venv(search, prefix_of(search, exe))) return true;
        char *target = read_link(search, exe);
        if (!target) break;
        exe = target;
    }
    if (is_script(search, exe)) return add_pyenv(search, exe);
    Str base = path_base(str_of(exe));
    add_prefix(search, prefix_of(search, exe), base.at);
    return true;
}

// The executables called `name` on PATH are tried until one works.
static bool add_from_path(const Search *search, const char *name) {
    Str path = str_of(getenv("PATH"));
    while (path.len) {
        Str folder = str_take(&path, ':');
        if (folder.len == 0) continue;
        char *exe = join(search, folder, name);
        if (file_kind(exe) != FILE_REGULAR || access(exe, X_OK) != 0) continue;
        if (add_executable(search, exe)) return true;
    }
    return false;
}

static bool add_asked(const Search *search, const char *python, Err *err) {
    bool found = false;
    if (strchr(python, '/')) {
        found = file_kind(python) == FILE_REGULAR &&
                add_executable(search, python);
    } else {
        found = add_from_path(search, python);
    }
    return found || err_set(err, "cannot find the Python '%s'", python);
}

static void add_environment(const Search *search) {
    const char *venv = getenv("VIRTUAL_ENV"), *conda = getenv("CONDA_PREFIX");
    if (venv && *venv && !add_venv(search, venv)) add_prefix(search, venv, "");
    if (conda && *conda) add_prefix(search, conda, "");
    add_from_path(search, "python3");
}

bool python_search_folders(FolderVec *out, Arena *arena, const char *python,
                           Err *err) {
    Search search = {arena, out};
    *out = (FolderVec){0};
    add_folder(&search, ".");
    Str path = str_of(getenv("PYTHONPATH"));
    while (path.len) {
        Str folder = str_take(&path, ':');
        if (folder.len) add_folder(&search, arena_cstr(arena, folder));
    }
    if (python) return add_asked(&search, python, err);
    add_environment(&search);
    return true;
}

static bool is_name_byte(char c, bool first) {
    unsigned char u = (unsigned char)c;
    bool letter = (u >= 'a' && u <= 'z') || (u >= 'A' && u <= 'Z') ||
                  u == '_' || u >= 0x80;
    return letter || (!first && u >= '0' && u <= '9');
}

bool python_is_dotted_name(Str text) {
    bool first = true;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '.' && !first) {
            first = true;
        } else if (is_name_byte(text.at[i], first)) {
            first = false;
        } else {
            return false;
        }
    }
    return !first;
}

ModulePlace python_find_module(Arena *arena, const FolderVec *folders,
                               Str dotted) {
    char *relative = arena_cstr(arena, dotted);
    for (char *p = relative; *p; p++) {
        if (*p == '.') *p = '/';
    }
    Str file_name = arena_printf(arena, "%s.py", relative);
    ModulePlace namespace_ = {0};
    for (uint32_t i = 0; i < folders->len; i++) {
        Str folder = folders->at[i];
        char *package = path_join(arena, folder, str_of(relative));
        char *module = path_join(arena, folder, file_name);
        bool exists = is_folder(package);
        char *init = path_join(arena, str_of(package), STR("__init__.py"));
        if (exists && file_kind(init) == FILE_REGULAR) {
            return (ModulePlace){package, folder};
        }
        if (file_kind(module) == FILE_REGULAR) {
            return (ModulePlace){module, folder};
        }
        // A folder without __init__.py counts only if nothing better comes.
        if (exists && !namespace_.path) {
            namespace_ = (ModulePlace){package, folder};
        }
    }
    return namespace_;
}

const char *python_find(Arena *arena, const char *named) {
    if (named) return proc_find(arena, named);
    const char *venv = getenv("VIRTUAL_ENV");
    if (venv && *venv) {
        const char *inside = path_join(arena, str_of(venv), STR("bin/python"));
        if (access(inside, X_OK) == 0) return inside;
    }
    const char *found = proc_find(arena, "python3");
    return found ? found : proc_find(arena, "python");
}

bool python_find_hook(Str *out, Arena *arena, Err *err) {
    // In a source tree or below a prefix; beside the rules of a wheel.
    return locate_data(out, arena, "python/npufuse/_site", err) ||
           locate_data(out, arena, "_site", err);
}
