// fuzz_zip.c - any bytes as a zip file. Members lie in the file and not on each
// other; what is read of one has the size that the directory says.
#include "base/base.h"

#include "base/zip.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

enum { MEMBERS = 64, BYTES_MAX = 1 << 20 };

static char path[] = "/tmp/npufuse-zip-XXXXXX";

static void remove_path(void) {
    remove(path);
}

// Without fsync, unlike file_write: it is done some thousand times a second.
static void put(Str text) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text.at, 1, text.len, file) != text.len || fclose(file) != 0) {
        BUG("cannot write '%s'", path);
    }
}

static void check_member(const Zip *zip, const ZipMember *m) {
    Str bytes;
    Err err = {{0}};
    if (m->end > zip->size || m->offset > m->end) BUG("a member beyond the end");
    if (m->packed_bytes > m->end - m->offset) BUG("a member on the next one");
    if (!zip_read(&bytes, zip, m, BYTES_MAX, &err)) {
        if (!err.text[0] || bytes.at) BUG("refused without a word, or with bytes");
        return;
    }
    if (bytes.len != m->bytes || bytes.len > BYTES_MAX || bytes.at[bytes.len]) BUG("wrong size");
    zip_free(&bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool is_ready;
    Arena arena;
    Zip zip;
    Err err = {{0}};
    if (!is_ready) {
        if (mkstemp(path) < 0) BUG("cannot make '%s'", path);
        atexit(remove_path);
        is_ready = true;
    }
    put((Str){(const char *)data, size});
    arena_init(&arena);
    if (zip_open(&zip, &arena, path, &err)) {
        for (uint32_t i = 0; i < zip.members.len && i < MEMBERS; i++) {
            check_member(&zip, &zip.members.at[i]);
        }
    } else if (!err.text[0]) {
        BUG("refused without a word");
    }
    zip_close(&zip);
    arena_free(&arena);
    return 0;
}
