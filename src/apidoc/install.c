// install.c - a torch_npu by the files that make it one.
#include "base/base.h"

#include "apidoc/install.h"

#include "apidoc/wheel.h"
#include "base/file.h"
#include "base/package.h"

#include <stdio.h>

static const char docs_name[] = "_op_plugin_docs.py";

static const char *file_below(Arena *arena, Str folder, const char *name) {
    char *path = path_join(arena, folder, str_of(name));
    return file_kind(path) == FILE_REGULAR ? path : NULL;
}

// What stands beside the package's own folder says which version it is. That
// may be a link, or be called "." or "x/".
static Str version_of(Arena *arena, Str folder) {
    Str version = package_version(arena, path_folder(folder), "torch_npu");
    const char *real = version.len ? NULL : path_real(arena, arena_cstr(arena, folder));
    return real ? package_version(arena, path_folder(str_of(real)), "torch_npu") : version;
}

// Fills in what the package's own folder (.../torch_npu) holds; false if that is
// nothing of it.
static bool read_package(Install *out, Arena *arena, Str folder) {
    out->docs = file_below(arena, folder, docs_name);
    out->library = file_below(arena, folder, "lib/libtorch_npu.so");
    if (!out->docs && !out->library &&
        !(file_below(arena, folder, "__init__.py") && str_is(path_base(folder), "torch_npu"))) {
        return false;
    }
    out->root = folder;
    out->version = version_of(arena, folder);
    return true;
}

// Of a folder of packages (site-packages), or of the package's own.
static bool read_folder(Install *out, Arena *arena, const char *folder) {
    Str inner = str_of(path_join(arena, str_of(folder), STR("torch_npu")));
    if (file_kind(inner.at) == FILE_FOLDER && read_package(out, arena, inner)) return true;
    return read_package(out, arena, arena_str(arena, str_of(folder)));
}

// "torch_npu-2.13.0-cp311-..." -> "2.13.0".
static Str wheel_version(Str path) {
    Str name = path_base(path);
    (void)str_take(&name, '-');
    return str_take(&name, '-');
}

typedef enum FileLook { LOOKS_TEXT, LOOKS_ZIP, LOOKS_ELF } FileLook;

static FileLook look_at(const char *path) {
    char head[4] = {0};
    FILE *file = fopen(path, "rb");
    if (!file) return LOOKS_TEXT;
    size_t n = fread(head, 1, sizeof(head), file);
    fclose(file);
    if (n == sizeof(head) && memcmp(head, "PK\3\4", 4) == 0) return LOOKS_ZIP;
    if (n == sizeof(head) && memcmp(head, "\x7f" "ELF", 4) == 0) return LOOKS_ELF;
    return LOOKS_TEXT;
}

static void read_file(Install *out, const char *path) {
    Str text = str_of(path);
    out->root = text;
    // A file that is called a wheel is read as one, so that its fault is told.
    FileLook look = str_ends(text, ".whl") ? LOOKS_ZIP : look_at(path);
    if (look == LOOKS_ZIP) {
        out->wheel = path;
        if (str_ends(text, ".whl")) out->version = wheel_version(text);
    } else if (look == LOOKS_ELF) {
        out->library = path;
    } else {
        out->docs = path;
    }
}

// A documents' file inside a package has its library and version beside it.
static void read_beside(Install *out, Arena *arena) {
    Str folder = path_folder(out->root);
    if (!out->docs || !str_is(path_base(out->root), docs_name)) return;
    out->library = file_below(arena, folder, "lib/libtorch_npu.so");
    out->version = version_of(arena, folder);
}

bool install_at(Install *out, Arena *arena, const char *path, Err *err) {
    *out = (Install){0};
    const char *kept = arena_cstr(arena, str_of(path));
    switch (file_kind(path)) {
    case FILE_NONE:
        return err_set(err, "no file or folder '%s'", path);
    case FILE_REGULAR:
        read_file(out, kept);
        read_beside(out, arena);
        return true;
    case FILE_FOLDER:
        if (read_folder(out, arena, kept)) return true;
        out->pages = kept;
        out->root = str_of(kept);
        return true;
    case FILE_OTHER:
        break;
    }
    return err_set(err, "'%s' is no file or folder", path);
}

bool install_find(Install *out, Arena *arena, const Str *folders, uint32_t count,
                  Err *err) {
    *out = (Install){0};
    for (uint32_t i = 0; i < count; i++) {
        Str inner = str_of(path_join(arena, folders[i], STR("torch_npu")));
        if (file_kind(inner.at) != FILE_FOLDER) continue;
        if (read_package(out, arena, inner)) return true;
    }
    for (uint32_t i = 0; i < count; i++) vec_push(arena, &out->searched, folders[i]);
    return err_set(err, "no torch_npu in the %u folders that were searched", (unsigned)count);
}

static bool read_text(Docs *out, Arena *arena, const char *path, Err *err) {
    Str text;
    return file_read(&text, arena, path, DOCS_MAX_BYTES, err) &&
           docs_parse(out, arena, path, text, err);
}

bool install_docs(Docs *out, Arena *arena, const Install *install, Err *err) {
    *out = (Docs){0};
    if (install->wheel) return wheel_docs(out, arena, install->wheel, err);
    if (install->pages) return docs_read_pages(out, arena, install->pages, err);
    if (install->docs) return read_text(out, arena, install->docs, err);
    return err_set(err, "'%.*s' has no %s (torch_npu 2.1 and before had none); "
                   "name op-plugin's pages with --docs-path", STR_FMT(install->root), docs_name);
}
