// wheel.c - members of a wheel, read where they lie.
#include "base/base.h"

#include "apidoc/wheel.h"

#include "apidoc/cache.h"
#include "base/zip.h"

// The library of torch_npu 2.14 has 97 MB.
enum { LIBRARY_MAX_BYTES = 1024 * 1024 * 1024 };

// The member's bytes, to be freed. `name` is where a wheel of torch_npu has it.
static bool read_member(Str *out, const Zip *zip, const char *name, uint64_t max, Err *err) {
    const ZipMember *member = zip_find(zip, name);
    if (!member) return err_set(err, "'%s' has no '%s'", zip->path, name);
    return zip_read(out, zip, member, max, err);
}

bool wheel_docs(Docs *out, Arena *arena, const char *path, Err *err) {
    Zip zip;
    Str bytes;
    bool ok = zip_open(&zip, arena, path, err);
    ok = ok && read_member(&bytes, &zip, "torch_npu/_op_plugin_docs.py", DOCS_MAX_BYTES, err);
    if (ok) {
        // The texts stay where they are, so they have to outlive the member.
        Str kept = str_of(arena_cstr(arena, bytes));
        kept.len = bytes.len;
        zip_free(&bytes);
        Str shown = arena_printf(arena, "%s:torch_npu/_op_plugin_docs.py", path);
        ok = docs_parse(out, arena, shown.at, kept, err);
    }
    zip_close(&zip);
    return ok;
}

static bool read_library(Library *out, Arena *arena, const char *path, Err *err) {
    Zip zip;
    Str bytes;
    Err why;
    bool ok = zip_open(&zip, arena, path, err);
    ok = ok && read_member(&bytes, &zip, "torch_npu/lib/libtorch_npu.so", LIBRARY_MAX_BYTES, err);
    if (ok) {
        ok = library_read(out, arena, bytes, &why);
        if (!ok) err_set(err, "'%s': %s", path, why.text);
        zip_free(&bytes);
    }
    zip_close(&zip);
    return ok;
}

bool wheel_library(Library *out, Arena *arena, const char *path, bool cache, Err *err) {
    Str identity = cache ? cache_identity(arena, path) : STR("");
    if (cache && cache_read(out, arena, identity)) return true;
    *out = (Library){0};
    if (!read_library(out, arena, path, err)) return false;
    if (cache) cache_write(out, arena, identity);
    return true;
}
