// Which files of a profile are found, and what is said to be missing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include "base/file.h"
#include "prof/inputs.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct World {
    Arena arena;
    char folder[64];
    ProfInputs inputs;
    Err err;
} World;

static int setup(void **state) {
    World *world = calloc(1, sizeof(*world));
    if (!world) return -1;
    arena_init(&world->arena);
    snprintf(world->folder, sizeof(world->folder), "/tmp/npufuse-inputs-XXXXXX");
    *state = world;
    return mkdtemp(world->folder) ? 0 : -1;
}

static int teardown(void **state) {
    World *world = *state;
    bool ok = file_remove(world->folder, &world->err);
    arena_free(&world->arena);
    free(world);
    return ok ? 0 : -1;
}

static const char *at(World *world, const char *name) {
    return path_join(&world->arena, str_of(world->folder), str_of(name));
}

static void put(World *world, const char *name, const char *text) {
    const char *path = at(world, name);
    const char *folder = arena_cstr(&world->arena, path_folder(str_of(path)));
    assert_true(file_make_folder(folder, &world->err));
    assert_true(file_write(path, str_of(text), &world->err));
}

static bool find(World *world, const char *name) {
    return profile_inputs(&world->inputs, &world->arena, at(world, name), &world->err);
}

static bool is_noted(const World *world, const char *part) {
    for (uint32_t i = 0; i < world->inputs.notes.len; i++) {
        if (str_contains(world->inputs.notes.at[i], str_of(part))) return true;
    }
    return false;
}

static void test_whole_folder(void **state) {
    World *world = *state;
    put(world, "a_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", "Name\n");
    put(world, "a_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json", "[]");
    put(world, "a_ascend_pt/PROF_1/mindstudio_profiler_output/op_summary_1.csv", "Op Name\n");
    put(world, "a_ascend_pt/PROF_1/device_0/info.json.0",
        "{\"DeviceInfo\":[{\"ai_core_num\":24,\"aiv_num\":48,\"aic_frequency\":\"1850\"}]}");
    assert_true(find(world, "a_ascend_pt"));
    assert_int_equal(world->inputs.kernels.len, 1);
    assert_non_null(strstr(world->inputs.kernels.at[0], "kernel_details.csv"));
    assert_non_null(world->inputs.trace);
    assert_int_equal(world->inputs.core_count, 24);
    assert_int_equal(world->inputs.vector_count, 48);
    assert_true(world->inputs.core_mhz > 1849 && world->inputs.core_mhz < 1851);
    assert_int_equal(world->inputs.notes.len, 0);
}

static void test_slices(void **state) {
    World *world = *state;
    put(world, "PROF_1/mindstudio_profiler_output/op_summary_0_slice_0.csv", "Op Name\n");
    put(world, "PROF_1/mindstudio_profiler_output/op_summary_0_slice_1.csv", "Op Name\n");
    assert_true(find(world, "PROF_1"));
    assert_int_equal(world->inputs.kernels.len, 2);
    assert_true(is_noted(world, "no trace_view.json"));
}

static void test_ranks(void **state) {
    World *world = *state;
    put(world, "a_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", "Name\n");
    put(world, "b_ascend_pt/ASCEND_PROFILER_OUTPUT/kernel_details.csv", "Name\n");
    assert_true(find(world, ""));
    assert_int_equal(world->inputs.kernels.len, 1);
    assert_true(is_noted(world, "2 profiles are in this folder; 'a_ascend_pt' is read"));
}

static void test_files_by_their_bytes(void **state) {
    World *world = *state;
    put(world, "x", "\xef\xbb\xbfName,Type\n");
    assert_true(find(world, "x"));
    assert_int_equal(world->inputs.kernels.len, 1);
    put(world, "x", "\n [{}");
    assert_true(find(world, "x"));
    assert_non_null(world->inputs.trace);
    assert_true(is_noted(world, "which has no shapes"));
    put(world, "x", "SQLite format 3");
    assert_true(file_write(at(world, "x"), (Str){"SQLite format 3\0\x10", 17}, &world->err));
    assert_true(find(world, "x"));
    assert_non_null(world->inputs.db);
}

static void test_nothing_of_a_profile(void **state) {
    World *world = *state;
    assert_false(find(world, "x"));
    assert_non_null(strstr(world->err.text, "there is no '"));
    put(world, "x", "");
    assert_false(find(world, "x"));
    assert_non_null(strstr(world->err.text, "is empty"));
    assert_true(file_write(at(world, "x"), (Str){"\x7f" "ELF\0\0", 6}, &world->err));
    assert_false(find(world, "x"));
    assert_non_null(strstr(world->err.text, "is no profile"));
    assert_false(find(world, ""));
    assert_non_null(strstr(world->err.text, "there is no profile in"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whole_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(test_slices, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ranks, setup, teardown),
        cmocka_unit_test_setup_teardown(test_files_by_their_bytes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_of_a_profile, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
