// fuzz_trace.c - any bytes as a trace, joined to a profile of a few rows. What is told
// of the rows lies in its tables; the same bytes always tell the same.
#include "base/base.h"

#include "fuzz.h"
#include "prof/trace.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 8 };

static char path[] = "/tmp/npufuse-trace-XXXXXX";

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

static Profile make_profile(Arena *arena) {
    Profile profile = {.row_count = ROWS, .lane_count = 2};
    profile.rows = NEW_N(arena, ProfRow, ROWS);
    profile.lanes = NEW_N(arena, ProfLane, 2);
    for (uint32_t i = 0; i < 2; i++) {
        profile.lanes[i] = (ProfLane){.device = i ? PROF_NONE : 0, .stream = i ? PROF_NONE : 7};
        profile.lanes[i].rows = NEW_N(arena, uint32_t, ROWS);
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        ProfLane *lane = &profile.lanes[i % 2];
        profile.rows[i].start_ns = 100000 * (int64_t)(i + 1);
        lane->rows[lane->len++] = i;
    }
    return profile;
}

static uint32_t check_rows(const Profile *profile) {
    uint32_t known = 0;
    if (!profile->row_module != !profile->modules) BUG("modules of no rows");
    for (uint32_t i = 0; i < ROWS; i++) {
        if (profile->row_module) {
            Str module = profile->modules[profile->row_module[i]];
            known += module.len != 0;
            if (profile->row_module[i] && !module.len) BUG("a module without a name");
        }
        if (profile->row_site && profile->row_site[i]) {
            Str site = profile->sites[profile->row_site[i]];
            if (!memchr(site.at, ':', site.len)) BUG("a site without a line");
        }
    }
    return known;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool is_ready;
    Arena arena;
    TraceLink link;
    Err err = {{0}};
    if (!is_ready) {
        if (mkstemp(path) < 0) BUG("cannot make '%s'", path);
        atexit(remove_path);
        is_ready = true;
    }
    put((Str){(const char *)data, size});
    arena_init(&arena);
    Profile profile = make_profile(&arena);
    TraceOptions options = {.path = path};
    if (trace_link(&link, &profile, &arena, &options, &err)) {
        uint32_t known = check_rows(&profile);
        if (known > link.with_module) BUG("%u modules of %u", known, link.with_module);
    } else if (!err.text[0]) {
        BUG("refused without a word");
    }
    arena_free(&arena);
    return 0;
}
