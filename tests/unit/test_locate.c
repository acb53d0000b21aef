// The data folders are found from the place of the executable.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/file.h"
#include "base/locate.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// A fresh folder to build prefixes in, and the arena of the test.
typedef struct World {
    Arena arena;
    char root[64];
} World;

static void world_init(World *world) {
    arena_init(&world->arena);
    snprintf(world->root, sizeof(world->root), "/tmp/npufuse-locate-XXXXXX");
    assert_non_null(mkdtemp(world->root));
    const char *real = path_real(&world->arena, world->root);
    snprintf(world->root, sizeof(world->root), "%s", real);
}

static void world_free(World *world) {
    Str command = arena_printf(&world->arena, "rm -rf '%s'", world->root);
    assert_int_equal(system(command.at), 0);
    arena_free(&world->arena);
}

static Str at(World *world, const char *path) {
    return arena_printf(&world->arena, "%s/%s", world->root, path);
}

static void make(World *world, const char *folder) {
    Err err;
    assert_true(file_make_folder(at(world, folder).at, &err));
}

static void assert_found(World *world, const char *exe_folder,
                         const char *expected) {
    Err err;
    Str out;
    if (!locate_data_from(&out, &world->arena, at(world, exe_folder), "rules",
                          &err)) {
        fail_msg("%s", err.text);
    }
    assert_string_equal(out.at, at(world, expected).at);
}

static void test_finds_the_wheel(void **state) {
    (void)state;
    World world;
    world_init(&world);
    make(&world, "venv/bin");
    make(&world, "venv/lib/python3.11/site-packages/npufuse/rules");
    make(&world, "rules"); // farther away
    assert_found(&world, "venv/bin",
                 "venv/lib/python3.11/site-packages/npufuse/rules");
    world_free(&world);
}

static void test_prefers_our_version_among_pythons(void **state) {
    (void)state;
    World world;
    world_init(&world);
    make(&world, "usr/bin");
    make(&world, "usr/lib/python3.10/site-packages/npufuse/rules");
    make(&world, "usr/lib/python3.10/site-packages/npufuse-" NPUFUSE_VERSION
                 ".dist-info");
    make(&world, "usr/lib/python3.12/site-packages/npufuse/rules");
    assert_found(&world, "usr/bin",
                 "usr/lib/python3.10/site-packages/npufuse/rules");
    world_free(&world);
}

static void test_finds_a_prefix_and_a_source_tree(void **state) {
    (void)state;
    World world;
    world_init(&world);
    make(&world, "a/bin");
    make(&world, "a/share/npufuse/rules");
    assert_found(&world, "a/bin", "a/share/npufuse/rules");
    make(&world, "tree/build/release");
    make(&world, "tree/rules");
    assert_found(&world, "tree/build/release", "tree/rules");
    assert_found(&world, "tree/build", "tree/rules");
    world_free(&world);
}

static void test_folder_name_is_no_pattern(void **state) {
    (void)state;
    World world;
    world_init(&world);
    make(&world, "odd[1]*/bin");
    make(&world, "odd[1]*/rules");
    assert_found(&world, "odd[1]*/bin", "odd[1]*/rules");
    world_free(&world);
}

static void test_says_what_is_missing(void **state) {
    (void)state;
    World world;
    world_init(&world);
    make(&world, "x/y/bin");
    Err err;
    Str out;
    assert_false(locate_data_from(&out, &world.arena, at(&world, "x/y/bin"),
                                  "rules", &err));
    assert_string_equal(
        err.text, "cannot find the folder 'rules' of this installation");
    world_free(&world);
}

static void test_environment_wins(void **state) {
    (void)state;
    World world;
    world_init(&world);
    make(&world, "mine");
    Err err;
    Str out;
    setenv("NPUFUSE_RULES", at(&world, "mine").at, 1);
    assert_true(locate_rules(&out, &world.arena, &err));
    assert_string_equal(out.at, at(&world, "mine").at);
    setenv("NPUFUSE_RULES", at(&world, "absent").at, 1);
    assert_false(locate_rules(&out, &world.arena, &err));
    assert_non_null(strstr(err.text, "NPUFUSE_RULES names no folder: "));
    unsetenv("NPUFUSE_RULES");
    world_free(&world);
}

static void test_this_program_finds_the_source_tree(void **state) {
    (void)state;
    World world;
    world_init(&world);
    Err err;
    Str out;
    // build/<preset>/tests/test_locate: one folder deeper than the command.
    const char *exe = path_real(&world.arena, "/proc/self/exe");
    Str above = path_folder(path_folder(str_of(exe)));
    assert_true(locate_data_from(&out, &world.arena, above, "rules", &err));
    const char *rules = path_real(&world.arena, SOURCE_ROOT "/rules");
    assert_string_equal(out.at, rules);
    world_free(&world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_finds_the_wheel),
        cmocka_unit_test(test_prefers_our_version_among_pythons),
        cmocka_unit_test(test_finds_a_prefix_and_a_source_tree),
        cmocka_unit_test(test_folder_name_is_no_pattern),
        cmocka_unit_test(test_says_what_is_missing),
        cmocka_unit_test(test_environment_wins),
        cmocka_unit_test(test_this_program_finds_the_source_tree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
