// paths.c - targets, their common root, and the walk.
//
// Links to folders are walked after everything real, so that a file reached
// both ways is shown under its own name; each folder is walked once, which
// ends every loop.
#include "base/base.h"

#include "cli/paths.h"

#include "base/file.h"
#include "cli/paths_ignore.h"
#include "cli/paths_python.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 128 };

// ---- A set of files by device and inode.

typedef struct FileId {
    uint64_t device, inode;
} FileId;

typedef struct IdSet {
    FileId *slots; // inode 0: free
    uint32_t cap, len;
} IdSet;

static FileId *find_id(const IdSet *set, FileId id) {
    uint32_t at = (uint32_t)hash_bytes(HASH_SEED, &id, sizeof(id));
    for (;; at++) {
        FileId *slot = &set->slots[at & (set->cap - 1)];
        if (slot->inode == 0) return slot;
        if (slot->inode == id.inode && slot->device == id.device) return slot;
    }
}

static void grow_ids(IdSet *set, Arena *arena) {
    IdSet old = *set;
    set->cap = old.cap ? old.cap * 2 : 256;
    set->slots = NEW_N(arena, FileId, set->cap);
    for (uint32_t i = 0; i < old.cap; i++) {
        if (old.slots[i].inode) *find_id(set, old.slots[i]) = old.slots[i];
    }
}

// False if the set has `id` already.
static bool add_id(IdSet *set, Arena *arena, FileId id) {
    if (set->len * 2 >= set->cap) grow_ids(set, arena);
    FileId *slot = find_id(set, id);
    if (slot->inode) return false;
    *slot = id;
    set->len++;
    return true;
}

// ---- Targets: what the operands name.

typedef struct Target {
    FileKind kind;    // FILE_NONE stands for standard input
    const char *path; // as given, or where the module was found
    Str root;         // the root if this is the only target
} Target;

typedef struct Collector {
    PathList *out;
    Arena *run;
    const PathRequest *request;
    VEC(Target) targets;
    FolderVec search; // filled at the first module name
    bool has_search;
    Str own_folder; // real path of request->output, empty if none
    Str real_root;
    IdSet folders, files;
    VEC(struct Link) links;
} Collector;

// "models/" -> "models", "./a" -> "a"; "/" and "." stay.
static Str tidy(Str path) {
    while (path.len > 1 && path.at[path.len - 1] == '/') path.len--;
    while (path.len > 2 && path.at[0] == '.' && path.at[1] == '/') {
        path = (Str){path.at + 2, path.len - 2};
        while (path.len > 1 && path.at[0] == '/') {
            path = (Str){path.at + 1, path.len - 1};
        }
    }
    return path;
}

// The folders that were searched, for the message.
static Str list_search(const Collector *c) {
    Str list = {0};
    for (uint32_t i = 0; i < c->search.len; i++) {
        list = arena_printf(c->run, "%.*s%s%.*s", STR_FMT(list), i ? ", " : "",
                            STR_FMT(c->search.at[i]));
    }
    return list;
}

static bool find_module(Collector *c, Target *target, const char *operand,
                        Err *err) {
    Str dotted = str_of(operand);
    if (!python_is_dotted_name(dotted) || str_ends(dotted, ".py")) {
        return err_set(err, "cannot find '%s': no such file or folder",
                       operand);
    }
    if (!c->has_search &&
        !python_search_folders(&c->search, c->run, c->request->python, err)) {
        return false;
    }
    c->has_search = true;
    ModulePlace place = python_find_module(c->run, &c->search, dotted);
    if (!place.path) {
        return err_set(err, "cannot find '%s': no such file or folder, and no "
                       "Python module of that name in %.*s", operand,
                       STR_FMT(list_search(c)));
    }
    *target = (Target){file_kind(place.path), place.path, place.folder};
    return true;
}

static bool make_target(Collector *c, const char *operand, Err *err) {
    Target target = {0};
    if (strcmp(operand, "-") == 0) {
        target = (Target){FILE_NONE, NULL, STR(".")};
    } else if (file_kind(operand) != FILE_NONE) {
        Str path = tidy(str_of(operand));
        target.path = arena_cstr(c->run, path);
        target.kind = file_kind(operand);
        target.root = target.kind == FILE_FOLDER ? path : path_folder(path);
    } else if (!*operand) {
        return err_set(err, "a PATH is empty");
    } else if (!find_module(c, &target, operand, err)) {
        return false;
    }
    vec_push(c->run, &c->targets, target);
    return true;
}

// ---- The root.

// The real path of the folder that holds the target, or is it.
static Str real_folder(Collector *c, const Target *target) {
    Str folder = str_of(target->path);
    if (target->kind != FILE_FOLDER) folder = path_folder(folder);
    const char *real = path_real(c->run, arena_cstr(c->run, folder));
    return real ? str_of(real) : STR("/");
}

// The folders that `a` and `b`, real paths, both lie in.
static Str common_folder(Str a, Str b) {
    size_t end = 0;
    for (size_t i = 0;; i++) {
        bool a_ends = i == a.len || a.at[i] == '/';
        bool b_ends = i == b.len || b.at[i] == '/';
        if (a_ends && b_ends) end = i;
        if (i == a.len || i == b.len || a.at[i] != b.at[i]) break;
    }
    return end ? (Str){a.at, end} : STR("/");
}

// `path` below `folder`, both real; empty if they are the same, and a BUG if
// it is not below.
static Str part_below(Str path, Str folder) {
    if (str_eq(path, folder)) return STR("");
    size_t skip = folder.len + (folder.len > 1);
    if (skip > path.len) BUG("a path outside its root");
    return (Str){path.at + skip, path.len - skip};
}

// The root of several targets: relative if it is below the current folder.
static void choose_common_root(Collector *c) {
    Str common = {0};
    for (uint32_t i = 0; i < c->targets.len; i++) {
        if (c->targets.at[i].kind == FILE_NONE) continue;
        Str folder = real_folder(c, &c->targets.at[i]);
        common = common.len ? common_folder(common, folder) : folder;
    }
    const char *here = path_real(c->run, ".");
    Str current = str_of(here);
    if (common.len == 0) common = current;
    c->real_root = common;
    c->out->root = common;
    if (current.len && str_eq(common_folder(common, current), current)) {
        Str below = part_below(common, current);
        c->out->root = below.len ? below : STR(".");
    }
}

static void choose_root(Collector *c) {
    if (c->targets.len != 1) {
        choose_common_root(c);
        return;
    }
    const Target *target = &c->targets.at[0];
    c->out->root = target->root;
    const char *real = path_real(c->run, arena_cstr(c->run, target->root));
    c->real_root = real ? str_of(real) : STR("/");
    if (target->kind == FILE_NONE) return;
    Str folder = real_folder(c, target);
    if (str_eq(common_folder(folder, c->real_root), c->real_root)) return;
    // A package that is linked into the search folder from elsewhere.
    c->real_root = folder;
    c->out->root = folder;
}

// ---- The walk.

// A folder about to be read. `place` is its absolute path; behind a link it
// is where the link stands, so that it never leaves the root.
typedef struct Visit {
    const char *path;
    Str place;
    const Ignore *ignore;
    uint32_t depth;
} Visit;

typedef struct Link {
    Visit from; // the folder that holds the link
    FolderEntry entry;
} Link;

static Str shown_name(const Collector *c, Str place) {
    Str below = part_below(place, c->real_root);
    return below.len ? below : STR(".");
}

// The system's words at the end of a message of base/file.
static Str last_words(Arena *arena, const Err *err) {
    const char *at = err->text;
    for (const char *p; (p = strstr(at, ": ")) != NULL;) at = p + 2;
    Str words = arena_str(arena, str_of(at));
    // A sentence of ours begins in lower case.
    char *first = (char *)(uintptr_t)words.at;
    if (*first >= 'A' && *first <= 'Z') *first = (char)(*first - 'A' + 'a');
    return words;
}

static void skip(Collector *c, Str place, Str reason) {
    Skipped skipped = {.file = shown_name(c, place), .reason = reason};
    vec_push(c->run, &c->out->skipped, skipped);
}

// Adds the file, or the reason why it cannot be read.
static void add_file(Collector *c, const char *path, Str place) {
    struct stat st;
    bool exists = stat(path, &st) == 0;
    if (exists && !add_id(&c->files, c->run,
                          (FileId){(uint64_t)st.st_dev,
                                   (uint64_t)st.st_ino})) {
        return;
    }
    if (!exists) {
        skip(c, place, STR("broken link"));
    } else if (!S_ISREG(st.st_mode)) {
        skip(c, place, STR("not a regular file"));
    } else if ((uint64_t)st.st_size > FILE_MAX_BYTES) {
        skip(c, place, arena_printf(c->run, "larger than %d MB",
                                    FILE_MAX_BYTES / (1024 * 1024)));
    } else if (access(path, R_OK) != 0) {
        skip(c, place, STR("permission denied"));
    } else {
        PathFile file = {path, shown_name(c, place)};
        vec_push(c->run, &c->out->files, file);
    }
}

static bool has_entry(const FolderList *list, const char *name) {
    for (size_t i = 0; i < list->len; i++) {
        if (strcmp(list->at[i].name, name) == 0) return true;
    }
    return false;
}

// Names of folders that never hold the code of the project itself.
static bool is_foreign_name(const char *name) {
    static const char *const names[] = {
        "__pycache__", "venv", "site-packages", "node_modules",
        "fusion_verify",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    return name[0] == '.' || str_ends(str_of(name), ".egg-info");
}

// `build` and `dist` are made by tools, unless they are packages.
static bool is_product_name(const char *name) {
    return strcmp(name, "build") == 0 || strcmp(name, "dist") == 0;
}

static bool is_own_folder(const Collector *c, const char *path) {
    Str own = c->own_folder;
    if (!own.len || !str_eq(path_base(own), path_base(str_of(path)))) {
        return false;
    }
    const char *real = path_real(c->run, path);
    return real && str_eq(str_of(real), own);
}

static const Ignore *folder_ignore(Collector *c, const Visit *visit,
                                   const FolderList *list) {
    Str text;
    Err err;
    if (!has_entry(list, ".gitignore")) return visit->ignore;
    const char *path = path_join(c->run, str_of(visit->path),
                                 STR(".gitignore"));
    if (!file_read(&text, c->run, path, 1 << 20, &err)) return visit->ignore;
    return ignore_new(c->run, visit->ignore, visit->place, text);
}

static Str place_of(Collector *c, const Visit *visit, const char *name) {
    return str_of(path_join(c->run, visit->place, str_of(name)));
}

static const char *path_of(Collector *c, const Visit *visit,
                           const char *name) {
    return path_join(c->run, str_of(visit->path), str_of(name));
}

static void walk_folder(Collector *c, Visit visit);

// Walks the folder `entry` of `visit`, once.
static void enter_folder(Collector *c, const Visit *visit,
                         const FolderEntry *entry) {
    FileId id = {entry->device, entry->inode};
    if (is_foreign_name(entry->name)) return;
    Visit inner = {path_of(c, visit, entry->name),
                   place_of(c, visit, entry->name), visit->ignore,
                   visit->depth + 1};
    if (ignore_hits(visit->ignore, inner.place, true)) return;
    if (is_own_folder(c, inner.path)) return;
    if (!add_id(&c->folders, c->run, id)) return;
    if (inner.depth > DEPTH_MAX) {
        skip(c, inner.place, STR("folders nested too deep"));
        return;
    }
    walk_folder(c, inner);
}

static void enter_file(Collector *c, const Visit *visit,
                       const FolderEntry *entry) {
    if (!str_ends(str_of(entry->name), ".py") || entry->name[0] == '.') return;
    Str place = place_of(c, visit, entry->name);
    if (ignore_hits(visit->ignore, place, false)) return;
    add_file(c, path_of(c, visit, entry->name), place);
}

static void enter(Collector *c, const Visit *visit, const FolderEntry *entry) {
    if (entry->kind == FILE_FOLDER) {
        enter_folder(c, visit, entry);
    } else {
        enter_file(c, visit, entry);
    }
}

// Whether what stands in a folder shows that it is not the project's code.
static bool is_foreign_folder(const Visit *visit, const FolderList *list) {
    if (visit->depth == 0) return false;
    if (has_entry(list, "pyvenv.cfg")) return true;
    return is_product_name(path_base(visit->place).at) &&
           !has_entry(list, "__init__.py");
}

static void walk_folder(Collector *c, Visit visit) {
    FolderList list;
    Err err;
    if (!folder_read(&list, c->run, visit.path, &err)) {
        skip(c, visit.place, last_words(c->run, &err));
        return;
    }
    if (is_foreign_folder(&visit, &list)) return;
    visit.ignore = folder_ignore(c, &visit, &list);
    for (size_t i = 0; i < list.len; i++) {
        if (list.at[i].is_link) {
            Link link = {visit, list.at[i]};
            vec_push(c->run, &c->links, link);
        } else {
            enter(c, &visit, &list.at[i]);
        }
    }
}

// A link to a folder that the root lies in would bring in the whole disk.
static bool leads_around_root(Collector *c, const Link *link) {
    if (link->entry.kind != FILE_FOLDER) return false;
    const char *path = path_of(c, &link->from, link->entry.name);
    const char *real = path_real(c->run, path);
    return !real || str_eq(common_folder(str_of(real), c->real_root),
                           str_of(real));
}

static void walk_links(Collector *c) {
    // The list grows while it is walked.
    for (uint32_t i = 0; i < c->links.len; i++) {
        Link link = c->links.at[i];
        if (leads_around_root(c, &link)) continue;
        enter(c, &link.from, &link.entry);
    }
}

static void add_stdin(Collector *c) {
    const char *name = c->request->stdin_name;
    PathFile file = {NULL, str_of(name ? name : "<stdin>")};
    vec_push(c->run, &c->out->files, file);
}

static void walk_target(Collector *c, const Target *target) {
    if (target->kind == FILE_NONE) {
        add_stdin(c);
        return;
    }
    Str folder = real_folder(c, target);
    if (target->kind != FILE_FOLDER) {
        Str name = path_base(str_of(target->path));
        add_file(c, target->path, str_of(path_join(c->run, folder, name)));
        return;
    }
    struct stat st;
    if (stat(target->path, &st) != 0) return;
    FileId id = {(uint64_t)st.st_dev, (uint64_t)st.st_ino};
    if (!add_id(&c->folders, c->run, id)) return;
    Visit visit = {target->path, folder, ignore_above(c->run, folder), 0};
    walk_folder(c, visit);
}

static int compare_files(const void *a, const void *b) {
    return str_cmp(((const PathFile *)a)->shown, ((const PathFile *)b)->shown);
}

static int compare_skipped(const void *a, const void *b) {
    return str_cmp(((const Skipped *)a)->file, ((const Skipped *)b)->file);
}

static bool check_some(const Collector *c, Err *err) {
    const PathList *out = c->out;
    if (out->files.len) return true;
    if (out->skipped.len) {
        return err_set(err, "cannot read '%.*s': %.*s",
                       STR_FMT(out->skipped.at[0].file),
                       STR_FMT(out->skipped.at[0].reason));
    }
    return err_set(err, "no Python files under '%.*s'", STR_FMT(out->root));
}

static void find_own_folder(Collector *c) {
    const char *output = c->request->output;
    const char *real = output ? path_real(c->run, output) : NULL;
    c->own_folder = str_of(real);
}

bool paths_collect(PathList *out, Arena *run, const PathRequest *request,
                   Err *err) {
    *out = (PathList){0};
    Collector c = {.out = out, .run = run, .request = request};
    for (uint32_t i = 0; i < request->operands.len; i++) {
        if (!make_target(&c, request->operands.at[i], err)) return false;
    }
    if (c.targets.len == 0 && !make_target(&c, ".", err)) return false;
    find_own_folder(&c);
    choose_root(&c);
    for (uint32_t i = 0; i < c.targets.len; i++) {
        walk_target(&c, &c.targets.at[i]);
    }
    walk_links(&c);
    if (out->files.len) {
        qsort(out->files.at, out->files.len, sizeof(*out->files.at),
              compare_files);
    }
    if (out->skipped.len) {
        qsort(out->skipped.at, out->skipped.len, sizeof(*out->skipped.at),
              compare_skipped);
    }
    return check_some(&c, err);
}
