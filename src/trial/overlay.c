// overlay.c - the walk that makes an overlay, and paths seen in it.
#include "base/base.h"

#include "trial/overlay.h"

#include "base/buf.h"
#include "base/file.h"

#include <stdlib.h>
#include <sys/stat.h>

enum { DEPTH_MAX = 64, SCRIPT_MAX = 1024 * 1024, FILES_MAX = 50 * 1000 };

typedef struct Maker {
    Arena *arena;
    const OverlaySpec *spec;
    Err *err;
    Sha256 hash;
    uint32_t file_count;
    bool *used; // the edits that were written
    bool failed;
} Maker;

static const char *below(Maker *m, const char *folder, Str place) {
    return place.len ? path_join(m->arena, str_of(folder), place) : folder;
}

static bool fail(Maker *m) {
    m->failed = true;
    return false;
}

// Folders that never hold the project's own code: linked as they are. A virtual
// environment must stay one, and is large.
static bool is_foreign(Maker *m, const char *path, const char *name) {
    static const char *const names[] = {"venv", "site-packages", "dist-packages", "node_modules"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strcmp(name, names[i]) == 0) return true;
    }
    if (name[0] == '.' || str_ends(str_of(name), ".egg-info")) return true;
    return file_kind(path_join(m->arena, str_of(path), STR("pyvenv.cfg"))) == FILE_REGULAR;
}

static bool is_work_folder(Maker *m, const char *path) {
    if (!m->spec->work) return false;
    const char *real = path_real(m->arena, path);
    return real && strcmp(real, m->spec->work) == 0;
}

// `file` seen from the root.
static Str place_of(Arena *arena, Str prefix, Str file) {
    return prefix.len ? str_of(path_join(arena, prefix, file)) : file;
}

static const OverlayEdit *find_edit(const Maker *m, Str place) {
    Str prefix = m->spec->prefix;
    if (prefix.len) {
        bool below = place.len > prefix.len && memcmp(place.at, prefix.at, prefix.len) == 0 &&
                     place.at[prefix.len] == '/';
        if (!below) return NULL;
        place = (Str){place.at + prefix.len + 1, place.len - prefix.len - 1};
    }
    for (uint32_t i = 0; i < m->spec->edit_count; i++) {
        if (!str_eq(m->spec->edits[i].file, place)) continue;
        m->used[i] = true;
        return &m->spec->edits[i];
    }
    return NULL;
}

// Programs that look for their folder by their own real path.
static bool is_script(const char *path, const char *name) {
    if (str_ends(str_of(name), ".py") || str_ends(str_of(name), ".sh")) return true;
    struct stat st;
    return stat(path, &st) == 0 && (st.st_mode & S_IXUSR) && st.st_size < SCRIPT_MAX;
}

// A link within the project leads to the overlay's own files.
static bool link_entry(Maker *m, const char *from, const char *to, bool is_link) {
    const char *real = path_real(m->arena, from);
    size_t len = strlen(m->spec->root);
    if (is_link && real && strcmp(real, m->spec->root) == 0) {
        real = m->spec->tree;
    } else if (is_link && real && strncmp(real, m->spec->root, len) == 0 && real[len] == '/') {
        real = path_join(m->arena, str_of(m->spec->tree), str_of(real + len + 1));
    }
    return file_link(real ? real : from, to, m->err) || fail(m);
}

static void add_to_digest(Maker *m, Str place, Str text) {
    char end = 0;
    sha256_add(&m->hash, place);
    sha256_add(&m->hash, (Str){&end, 1});
    sha256_add(&m->hash, arena_printf(m->arena, "%zu:", text.len));
    sha256_add(&m->hash, text);
}

static bool copy_file(Maker *m, Str place, const char *from, const char *to) {
    Str text;
    if (++m->file_count > FILES_MAX) {
        err_set(m->err, "'%s' holds more than %d Python files: run this command in the folder "
                "of the project", m->spec->root, FILES_MAX);
        return fail(m);
    }
    ArenaMark mark = arena_mark(m->arena);
    bool ok = file_copy(from, to, m->err) &&
              file_read(&text, m->arena, to, FILE_MAX_BYTES, m->err);
    if (ok) add_to_digest(m, place, text);
    arena_reset(m->arena, mark);
    return ok || fail(m);
}

static bool put_file(Maker *m, Str place, const FolderEntry *entry) {
    const char *from = below(m, m->spec->root, place), *to = below(m, m->spec->tree, place);
    const OverlayEdit *edit = find_edit(m, place);
    if (edit) {
        add_to_digest(m, place, edit->text);
        return file_write(to, edit->text, m->err) || fail(m);
    }
    if (entry->kind == FILE_REGULAR && is_script(from, entry->name)) {
        return copy_file(m, place, from, to);
    }
    return link_entry(m, from, to, entry->is_link);
}

static bool make_folder(Maker *m, Str place, int depth);

// Whether the entry is a folder that the overlay holds as a real one by now.
static bool is_made(Maker *m, Str place, const FolderEntry *entry, int depth) {
    const char *path = below(m, m->spec->root, place);
    return entry->kind == FILE_FOLDER && !entry->is_link && !is_foreign(m, path, entry->name) &&
           make_folder(m, place, depth + 1);
}

// Makes the folder if it holds Python files at any depth; false if it does not
// (or on a failure): the folder above links it then.
static bool make_folder(Maker *m, Str place, int depth) {
    FolderList list;
    if (depth > DEPTH_MAX) return false;
    if (!folder_read(&list, m->arena, below(m, m->spec->root, place), m->err)) {
        return depth == 0 ? fail(m) : false; // a folder that we may not read
    }
    bool *made = NEW_N(m->arena, bool, list.len + 1);
    bool real = depth == 0;
    for (size_t i = 0; i < list.len && !m->failed; i++) {
        Str inner = str_of(path_join(m->arena, place, str_of(list.at[i].name)));
        if (is_work_folder(m, below(m, m->spec->root, inner))) {
            made[i] = true;
            continue;
        }
        made[i] = is_made(m, inner, &list.at[i], depth);
        real |= made[i] || str_ends(inner, ".py");
    }
    if (m->failed || !real) return false;
    if (!file_make_folder(below(m, m->spec->tree, place), m->err)) return fail(m);
    for (size_t i = 0; i < list.len && !m->failed; i++) {
        if (made[i] || strcmp(list.at[i].name, "__pycache__") == 0) continue;
        put_file(m, str_of(path_join(m->arena, place, str_of(list.at[i].name))), &list.at[i]);
    }
    return true;
}

// ---- libraries: only the packages that are edited ------------------------------

static bool is_library(const char *root) {
    Str base = path_base(str_of(root));
    return str_is(base, "site-packages") || str_is(base, "dist-packages");
}

static bool make_packages(Maker *m) {
    for (uint32_t i = 0; i < m->spec->file_count && !m->failed; i++) {
        Str file = place_of(m->arena, m->spec->prefix, m->spec->files[i]), top = file;
        const char *slash = memchr(file.at, '/', file.len);
        if (slash) top.len = (size_t)(slash - file.at);
        const char *at = below(m, m->spec->tree, top);
        if (file_kind(at) != FILE_NONE) continue;
        if (!file_make_folder(m->spec->tree, m->err)) return fail(m);
        FolderEntry entry = {.name = arena_cstr(m->arena, top), .kind = FILE_REGULAR};
        if (slash) make_folder(m, top, 1);
        else put_file(m, top, &entry);
    }
    return !m->failed;
}

// ---- paths ----------------------------------------------------------------------

const char *overlay_path(const Overlay *overlay, Arena *arena, const char *path) {
    size_t len = strlen(overlay->root);
    if (strcmp(path, overlay->root) == 0) return overlay->tree;
    if (strncmp(path, overlay->root, len) != 0 || path[len] != '/') return path;
    const char *seen = path_join(arena, str_of(overlay->tree), str_of(path + len + 1));
    return file_kind(seen) == FILE_NONE ? path : seen;
}

static void add_root(Overlay *out, Arena *arena, const char *path) {
    for (uint32_t i = 0; i < out->import_roots.len; i++) {
        if (strcmp(out->import_roots.at[i], path) == 0) return;
    }
    vec_push(arena, &out->import_roots, path);
}

// The folder that holds the top package of the file.
static const char *import_root(const Overlay *out, Arena *arena, Str file) {
    Str folder = path_folder(file);
    while (!str_is(folder, ".")) {
        Str init = str_of(path_join(arena, folder, STR("__init__.py")));
        const char *path = path_join(arena, str_of(out->tree), init);
        if (file_kind(path) != FILE_REGULAR) break;
        folder = path_folder(folder);
    }
    if (str_is(folder, ".")) return out->tree;
    return path_join(arena, str_of(out->tree), folder);
}

Str overlay_file(const Overlay *overlay, Arena *arena, Str file) {
    return place_of(arena, overlay->prefix, file);
}

// What is below the root is seen in the overlay, whatever way leads to it.
static const char *seen_path(const Overlay *overlay, Arena *arena, const char *path) {
    bool moved = strcmp(overlay->folder, path_real(arena, ".")) != 0;
    bool climbs = str_starts(str_of(path), "..") || strstr(path, "/../");
    if (path[0] != '/' && moved && !climbs) return path; // the same from there
    const char *folder = path_real(arena, arena_cstr(arena, path_folder(str_of(path))));
    Str base = path_base(str_of(path));
    if (!folder || !base.len || str_is(base, ".") || str_is(base, "..")) {
        folder = path_real(arena, path);
        base = STR("");
    }
    if (!folder) return path;
    const char *whole = base.len ? path_join(arena, str_of(folder), base) : folder;
    const char *seen = overlay_path(overlay, arena, whole);
    return seen != whole || (moved && climbs) ? seen : path;
}

const char *overlay_word(const Overlay *overlay, Arena *arena, const char *word) {
    const char *value = word[0] == '-' ? strchr(word, '=') : NULL;
    if (!value) return seen_path(overlay, arena, word);
    const char *seen = seen_path(overlay, arena, ++value);
    if (seen == value) return word;
    return arena_printf(arena, "%.*s%s", (int)(value - word), word, seen).at;
}

Str overlay_python_path(const Overlay *overlay, Arena *arena, Str first) {
    Buf path = {0};
    buf_add(&path, first);
    for (uint32_t i = 0; i < overlay->import_roots.len; i++) {
        buf_addf(&path, ":%s", overlay->import_roots.at[i]);
    }
    const char *old = getenv("PYTHONPATH");
    while (old && *old) {
        size_t len = strcspn(old, ":");
        const char *entry = arena_cstr(arena, (Str){old, len});
        const char *real = len ? path_real(arena, entry) : NULL;
        const char *known = real ? real : entry;
        // The copy of a library lacks the packages beside the edited one.
        bool stays = real && is_library(overlay->root) && strcmp(real, overlay->root) == 0;
        if (len) buf_addf(&path, ":%s", stays ? known : overlay_path(overlay, arena, known));
        old += len + (old[len] == ':');
    }
    Str text = arena_str(arena, buf_str(&path));
    buf_free(&path);
    return text;
}

// A file that the walk does not come to keeps its old text: better no overlay.
static bool check_edits(const Maker *m) {
    for (uint32_t i = 0; i < m->spec->edit_count; i++) {
        if (m->used[i]) continue;
        return err_set(m->err, "cannot copy '%.*s' with its candidates: it lies behind a link, "
                       "or in a folder that is not the project's own",
                       STR_FMT(m->spec->edits[i].file));
    }
    return true;
}

bool overlay_make(Overlay *out, Arena *arena, const OverlaySpec *spec, Err *err) {
    Maker maker = {.arena = arena, .spec = spec, .err = err,
                   .used = NEW_N(arena, bool, spec->edit_count + 1)};
    sha256_init(&maker.hash);
    if (!file_remove(spec->tree, err)) return false;
    bool ok = is_library(spec->root) ? make_packages(&maker)
                                     : make_folder(&maker, STR(""), 0);
    if (!ok || maker.failed || !check_edits(&maker)) return false;
    *out = (Overlay){.root = spec->root, .tree = spec->tree, .prefix = spec->prefix};
    sha256_end(&maker.hash, out->digest);
    const char *here = path_real(arena, ".");
    if (!here) return err_set(err, "the current folder is gone");
    out->folder = overlay_path(out, arena, here);
    for (uint32_t i = 0; i < spec->file_count; i++) {
        Str file = overlay_file(out, arena, spec->files[i]);
        add_root(out, arena, import_root(out, arena, file));
    }
    add_root(out, arena, spec->tree);
    return true;
}
