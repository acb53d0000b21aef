// trial_parts.c - what a trial works with: the Python of the launch command, the
// runtime for its processes, rule and operator files, and the folder to copy.
#include "base/base.h"

#include "cli/trial_setup.h"

#include "base/file.h"
#include "base/locate.h"
#include "cli/paths_python.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static bool is_python(const char *word) {
    Str base = path_base(str_of(word));
    return str_starts(base, "python") || str_starts(base, "pypy");
}

// `path` from the current folder; links stay, as a virtual environment is one.
static const char *absolute(Arena *run, const char *path) {
    const char *here = path && path[0] != '/' ? path_real(run, ".") : NULL;
    return here ? path_join(run, str_of(here), str_of(path)) : path;
}

// The interpreter that a script names in its first line ("#!/env/bin/python");
// NULL if `path` is none of Python's.
static const char *script_python(Arena *run, const char *path) {
    char line[PATH_MAX];
    FILE *file = fopen(path, "re");
    bool read = file && fgets(line, sizeof(line), file);
    if (file) fclose(file);
    if (!read || strncmp(line, "#!", 2) != 0) return NULL;
    char *word = line + 2 + strspn(line + 2, " \t");
    word[strcspn(word, " \t\r\n")] = 0;
    return is_python(word) && access(word, X_OK) == 0 ? arena_cstr(run, str_of(word)) : NULL;
}

// The Python of the launch command: one of its words, or that of its launcher
// (torchrun and its like are scripts).
static const char *launch_python(TrialSetup *setup) {
    Arena *run = setup->run;
    for (uint32_t i = 0; i < setup->tasks.launch.argv.len; i++) {
        const char *word = arena_cstr(run, setup->tasks.launch.argv.at[i]);
        const char *found = is_python(word) || i == 0 ? proc_find(run, word) : NULL;
        if (found && !is_python(word)) found = script_python(run, found);
        if (found) return found;
    }
    return NULL;
}

static const char *find_python(TrialSetup *setup) {
    Arena *run = setup->run;
    if (setup->args.python) return absolute(run, proc_find(run, setup->args.python));
    if (setup->tasks.launch.python.len) {
        return absolute(run, proc_find(run, arena_cstr(run, setup->tasks.launch.python)));
    }
    const char *found = launch_python(setup);
    if (found) return absolute(run, found);
    return python_find(run, NULL);
}

// Python finds the package through a folder that holds nothing else, so that
// nothing else of this installation reaches the user's processes.
static bool find_runtime(TrialSetup *setup, Err *err) {
    Runtime *runtime = &setup->trial.runtime;
    Arena *run = setup->run;
    Str site;
    if (!python_find_hook(&site, run, err)) return false;
    const char *package = arena_cstr(run, path_folder(site));
    const char *folder = path_join(run, str_of(setup->trial.work), STR("runs/runtime"));
    const char *link = path_join(run, str_of(folder), STR("npufuse"));
    runtime->hook = site.at;
    runtime->package = folder;
    return file_remove(link, err) && file_make_folder(folder, err) &&
           file_link(package, link, err);
}

// Rules that this scan used: the bundled ones, and those of --rules first.
static bool find_rules(TrialSetup *setup, ArgList *folders, Err *err) {
    Str bundled;
    const ScanRecord *scan = &setup->claimed.scan;
    for (uint32_t i = 0; i < scan->rules.len; i++) {
        const char *real = path_real(setup->run, arena_cstr(setup->run, scan->rules.at[i]));
        if (real) vec_push(setup->run, folders, real);
    }
    if (!locate_rules(&bundled, setup->run, err)) return false;
    vec_push(setup->run, folders, bundled.at);
    return true;
}

static bool find_ops(TrialSetup *setup, const ArgList *folders, Err *err) {
    ArgList ops = {0};
    Str bundled;
    for (uint32_t i = 0; i < folders->len; i++) {
        const char *beside = path_join(setup->run, str_of(folders->at[i]), STR("../ops"));
        const char *real = path_real(setup->run, beside);
        if (real) vec_push(setup->run, &ops, real);
    }
    if (!locate_data(&bundled, setup->run, "ops", err)) return false;
    vec_push(setup->run, &ops, bundled.at);
    setup->trial.runtime.ops = ops.at;
    setup->trial.runtime.op_count = ops.len;
    return true;
}

// The file whose rule() gives the id: mostly the one of that name.
static const char *find_rule_file(TrialSetup *setup, const ArgList *folders, Str rule) {
    Str name = arena_printf(setup->run, "%.*s.py", STR_FMT(rule));
    for (uint32_t i = 0; i < folders->len; i++) {
        const char *path = path_join(setup->run, str_of(folders->at[i]), name);
        if (file_kind(path) == FILE_REGULAR) return path;
    }
    Str said = arena_printf(setup->run, "id=\"%.*s\"", STR_FMT(rule));
    for (uint32_t i = 0; i < folders->len; i++) {
        FolderList list;
        Err ignored;
        if (!folder_read(&list, setup->run, folders->at[i], &ignored)) continue;
        for (size_t k = 0; k < list.len; k++) {
            Str text;
            const char *path = path_join(setup->run, str_of(folders->at[i]),
                                         str_of(list.at[k].name));
            if (file_kind(path) == FILE_REGULAR &&
                file_read(&text, setup->run, path, 1 << 20, &ignored) &&
                str_contains(text, said)) {
                return path;
            }
        }
    }
    return "";
}

// ---- the folder to copy ------------------------------------------------------------------

// Whether `path` is `folder` or lies below it; both are real paths.
static bool is_within(const char *path, const char *folder) {
    size_t len = strlen(folder);
    if (strncmp(path, folder, len) != 0) return false;
    return len == 1 || path[len] == '/' || !path[len];
}

// A copy that begins at `folder` is wanted, where that holds the root. Nobody's
// home folder is copied, nor the whole disk.
static void reach(const char **root, const char *folder) {
    const char *home = getenv("HOME");
    if (!folder || strcmp(folder, "/") == 0 || (home && strcmp(folder, home) == 0)) return;
    if (is_within(*root, folder)) *root = folder;
}

static const char *real_folder(Arena *run, Str path) {
    return path_real(run, arena_cstr(run, path_folder(path)));
}

static void reach_python_path(Arena *run, const char **root) {
    const char *entry = getenv("PYTHONPATH");
    while (entry && *entry) {
        size_t len = strcspn(entry, ":");
        if (len) reach(root, path_real(run, arena_cstr(run, (Str){entry, len})));
        entry += len + (entry[len] == ':');
    }
}

// The folder of installed packages that `path` lies in, NULL if none.
static const char *packages_folder(Arena *run, Str path) {
    while (path.len > 1) {
        Str base = path_base(path);
        if (str_is(base, "site-packages") || str_is(base, "dist-packages")) {
            return arena_cstr(run, path);
        }
        path = path_folder(path);
    }
    return NULL;
}

// Where Python would find the project's modules: the copy has to begin there, or
// the command would import the originals. `scanned` is a real path.
static const char *choose_root(const TrialSetup *setup, const char *scanned) {
    Arena *run = setup->run;
    const Launch *launch = &setup->tasks.launch;
    const char *root = packages_folder(run, str_of(scanned));
    if (root) return root;
    root = scanned;
    while (file_kind(path_join(run, str_of(root), STR("__init__.py"))) == FILE_REGULAR) {
        root = arena_cstr(run, path_folder(str_of(root)));
    }
    reach(&root, path_real(run, "."));
    for (uint32_t i = 0; i < launch->argv.len; i++) {
        Str word = launch->argv.at[i];
        const char *path = arena_cstr(run, word);
        if (str_ends(word, ".py") && file_kind(path) == FILE_REGULAR) {
            reach(&root, real_folder(run, word));
        }
    }
    reach_python_path(run, &root);
    return root;
}

static bool find_root(TrialSetup *setup, Err *err) {
    Trial *trial = &setup->trial;
    const char *scanned = path_real(setup->run, arena_cstr(setup->run, setup->claimed.root));
    trial->work = path_real(setup->run, setup->args.output);
    if (!trial->work || !scanned) {
        return err_set(err, "the scanned folder '%.*s' is not there; run this command where the "
                       "scan was made", STR_FMT(setup->claimed.root));
    }
    trial->root = choose_root(setup, scanned);
    size_t len = strlen(trial->root);
    trial->prefix = str_of(scanned[len] == '/' ? scanned + len + 1 : scanned + len);
    return true;
}

bool trial_parts_find(TrialSetup *setup, Err *err) {
    ArgList folders = {0};
    setup->trial.python = find_python(setup);
    if (!find_root(setup, err)) return false;
    if (!find_rules(setup, &folders, err) || !find_ops(setup, &folders, err)) return false;
    for (uint32_t i = 0; i < setup->candidates.len; i++) {
        TrialCandidate *candidate = &setup->candidates.at[i];
        candidate->rule_file = find_rule_file(setup, &folders, candidate->finding->rule);
    }
    return find_runtime(setup, err);
}
