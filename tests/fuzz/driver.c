// driver.c - replays saved inputs: fuzz_X FILE...
//
// The regression run of a fuzz target, for every compiler. A folder is not
// looked into; name its files.
#include "base/base.h"

#include "base/file.h"
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

// A copy without anything behind it, so that a sanitizer sees reads beyond.
static void replay(Str bytes) {
    uint8_t *copy = malloc(bytes.len ? bytes.len : 1);
    if (!copy) abort();
    if (bytes.len) memcpy(copy, bytes.at, bytes.len);
    LLVMFuzzerTestOneInput(copy, bytes.len);
    free(copy);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        Arena arena;
        Str bytes;
        Err err;
        arena_init(&arena);
        if (!file_read(&bytes, &arena, argv[i], FILE_MAX_BYTES, &err)) {
            fprintf(stderr, "%s\n", err.text);
            return 2;
        }
        replay(bytes);
        arena_free(&arena);
    }
    printf("%d inputs replayed\n", argc - 1);
    return 0;
}
