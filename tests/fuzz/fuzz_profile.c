// fuzz_profile.c - any bytes as a kernel_details.csv. Each row names a kind, a lane
// and a step that exist; streams are in order; runs lie inside the rows and take no
// more time than the kernels have; the report is JSON of bounded size.
#include "base/base.h"

#include "fuzz.h"
#include "prof/runs.h"
#include "prof/runs_json.h"

#include <stdio.h>
#include <stdlib.h>

static char path[] = "/tmp/npufuse-profile-XXXXXX";

static void remove_path(void) {
    remove(path);
}

static void put(Str text) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text.at, 1, text.len, file) != text.len || fclose(file) != 0) {
        BUG("cannot write '%s'", path);
    }
}

static void check_rows(const Profile *profile) {
    uint64_t counted = 0, bad = 0;
    for (uint32_t i = 0; i < profile->row_count; i++) {
        const ProfRow *row = &profile->rows[i];
        bad += row->kind == PROF_NO_KIND;
        if (row->kind == PROF_NO_KIND) continue;
        if (row->kind >= profile->kind_count) BUG("row %u: kind %u", i, row->kind);
        if (row->lane >= profile->lane_count) BUG("row %u: lane %u", i, row->lane);
        if (row->step >= profile->step_count) BUG("row %u: step %u", i, (unsigned)row->step);
        if (row->start_ns < 0) BUG("row %u: start %lld", i, (long long)row->start_ns);
    }
    for (uint32_t i = 0; i < profile->kind_count; i++) counted += profile->kinds[i].count;
    if (counted + bad != profile->row_count) BUG("rows are lost");
}

static void check_lanes(const Profile *profile) {
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        const ProfLane *lane = &profile->lanes[i];
        for (uint32_t j = 1; j < lane->len; j++) {
            if (profile->rows[lane->rows[j]].start_ns < profile->rows[lane->rows[j - 1]].start_ns) {
                BUG("lane %u is out of order at %u", i, j);
            }
        }
    }
}

static void check_runs(const ProfReport *report) {
    const Profile *profile = report->profile;
    if (report->claimed_ns > report->kernel_ns) BUG("runs take more time than kernels");
    for (uint32_t i = 0; i < report->runs.len; i++) {
        const ProfRun *run = &report->runs.at[i];
        if (!run->pattern || !run->count || !run->kernels) BUG("an empty run");
        if (run->has_cap && !(run->cap >= 1)) BUG("cap %g", run->cap);
        if (!(run->share >= 0 && run->share <= 1)) BUG("share %g", run->share);
        for (uint32_t k = 0; k < run->count; k++) {
            bool inside = run->at[k].first < profile->row_count &&
                          run->at[k].last < profile->row_count;
            if (!inside) BUG("run '%s' outside the rows", run->pattern);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool is_ready;
    Arena arena;
    Profile profile;
    Err err = {{0}};
    if (!is_ready) {
        if (mkstemp(path) < 0) BUG("cannot make '%s'", path);
        atexit(remove_path);
        is_ready = true;
    }
    put((Str){(const char *)data, size});
    arena_init(&arena);
    if (profile_read(&profile, &arena, &(ProfRead){.path = path, .jobs = 1}, &err)) {
        ProfReport report;
        MineOptions options = {.custom_max = 8};
        if (size % 2) options.chip = (ProfChip){STR("x"), 1e6, 1e8, 1};
        check_rows(&profile);
        check_lanes(&profile);
        runs_mine(&report, &arena, &profile, &options);
        check_runs(&report);
        Buf out = {0};
        runs_json_write(&out, &report, STR("x"));
        buf_free(&out);
    } else if (!err.text[0]) {
        BUG("refused without a word");
    }
    arena_free(&arena);
    return 0;
}
