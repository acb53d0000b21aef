// What is kept of a library, and what becomes of it when it is not as it was.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include "apidoc/cache.h"
#include "base/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct World {
    Arena arena;
    char root[64];
    const char *wheel, *folder;
    Library library; // what is kept
    Err err;
} World;

static const char *at(World *world, const char *name) {
    return arena_printf(&world->arena, "%s/%s", world->root, name).at;
}

static void put(World *world, const char *path, Str data) {
    if (!file_write(path, data, &world->err)) fail_msg("%s", world->err.text);
}

static void add_schema(World *world, const char *text) {
    Schema schema;
    if (!schema_parse(&schema, &world->arena, str_of(text), &world->err)) {
        fail_msg("%s", world->err.text);
    }
    vec_push(&world->arena, &world->library.schemas, schema);
}

static int setup(void **state) {
    World *world = calloc(1, sizeof(*world));
    if (!world) return -1;
    arena_init(&world->arena);
    snprintf(world->root, sizeof(world->root), "/tmp/npufuse-cache-XXXXXX");
    *state = world;
    if (!mkdtemp(world->root)) return -1;
    world->wheel = at(world, "a.whl");
    world->folder = at(world, "cache/npufuse");
    put(world, world->wheel, STR("any bytes"));
    add_schema(world, "npu_a(Tensor x, int[2] n=[1, 2], *, str s='a,b)') -> (Tensor, Tensor)");
    add_schema(world, "npu_a.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)");
    vec_push(&world->arena, &world->library.nodes, STR("NpuABackward0"));
    return setenv("XDG_CACHE_HOME", at(world, "cache"), 1);
}

static int teardown(void **state) {
    World *world = *state;
    int code = file_remove(world->root, &world->err) ? 0 : -1;
    arena_free(&world->arena);
    free(world);
    return code;
}

static Str identity(World *world) {
    return cache_identity(&world->arena, world->wheel);
}

static bool is_kept(World *world) {
    Library out;
    if (cache_read(&out, &world->arena, identity(world))) {
        assert_int_equal(out.schemas.len, 2);
        assert_int_equal(out.nodes.len, 1);
        for (uint32_t i = 0; i < 2; i++) {
            assert_true(str_eq(out.schemas.at[i].text, world->library.schemas.at[i].text));
        }
        assert_int_equal(out.schemas.at[0].args.len, 3);
        assert_true(str_is(out.nodes.at[0], "NpuABackward0"));
        return true;
    }
    assert_int_equal(out.schemas.len + out.nodes.len, 0);
    return false;
}

static void keep(World *world) {
    cache_write(&world->library, &world->arena, identity(world));
}

// The one file in the folder, with nothing left over beside it.
static const char *kept_file(World *world) {
    FolderList list;
    if (!folder_read(&list, &world->arena, world->folder, &world->err)) {
        fail_msg("%s", world->err.text);
    }
    assert_int_equal(list.len, 1);
    return path_join(&world->arena, str_of(world->folder), str_of(list.at[0].name));
}

static void test_is_read_as_it_was_kept(void **state) {
    World *world = *state;
    assert_false(is_kept(world));
    keep(world);
    assert_true(is_kept(world));
    keep(world);
    assert_true(is_kept(world));
    kept_file(world);
}

static void test_an_empty_one(void **state) {
    World *world = *state;
    Library none = {0}, out;
    cache_write(&none, &world->arena, identity(world));
    assert_true(cache_read(&out, &world->arena, identity(world)));
    assert_int_equal(out.schemas.len + out.nodes.len, 0);
}

static void test_a_file_that_changed(void **state) {
    World *world = *state;
    const struct timespec times[2] = {{1000, 5}, {1000, 5}}, later[2] = {{1000, 6}, {1000, 6}};
    assert_int_equal(utimensat(AT_FDCWD, world->wheel, times, 0), 0);
    keep(world);
    assert_true(is_kept(world));
    assert_int_equal(utimensat(AT_FDCWD, world->wheel, later, 0), 0);
    assert_false(is_kept(world)); // a nanosecond later
    keep(world);
    kept_file(world); // in the old one's place
    put(world, world->wheel, STR("ANY BYTES")); // in another inode
    assert_int_equal(utimensat(AT_FDCWD, world->wheel, later, 0), 0);
    assert_false(is_kept(world));
    assert_int_equal(unlink(world->wheel), 0);
    assert_int_equal(identity(world).len, 0);
    assert_false(is_kept(world));
    keep(world); // is nothing to keep, and no fault
}

static void test_another_file_of_the_same_bytes(void **state) {
    World *world = *state;
    keep(world);
    put(world, at(world, "b.whl"), STR("any bytes"));
    world->wheel = at(world, "b.whl");
    assert_false(is_kept(world));
}

static void test_the_same_file_by_another_name(void **state) {
    World *world = *state;
    keep(world);
    assert_int_equal(symlink(world->wheel, at(world, "link.whl")), 0);
    world->wheel = at(world, "link.whl");
    assert_true(is_kept(world));
}

// Cut anywhere, and with any one byte changed.
static void test_damage(void **state) {
    World *world = *state;
    Str whole;
    keep(world);
    const char *file = kept_file(world);
    if (!file_read(&whole, &world->arena, file, 4096, &world->err)) fail_msg("%s", world->err.text);
    char *text = arena_cstr(&world->arena, whole);
    for (size_t i = 0; i < whole.len; i += 3) {
        put(world, file, (Str){text, i});
        assert_false(is_kept(world));
        text[i] ^= 1;
        put(world, file, (Str){text, whole.len});
        assert_false(is_kept(world));
        text[i] ^= 1;
    }
    put(world, file, STR(""));
    assert_false(is_kept(world));
    keep(world);
    assert_true(is_kept(world));
}

static void test_a_folder_that_cannot_be_written(void **state) {
    World *world = *state;
    put(world, at(world, "cache"), STR("a file is in the way"));
    keep(world);
    assert_false(is_kept(world));
}

static void test_where_it_is(void **state) {
    World *world = *state;
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", at(world, "home"), 1);
    world->folder = at(world, "home/.cache/npufuse");
    keep(world);
    assert_true(is_kept(world));
    kept_file(world);
    setenv("XDG_CACHE_HOME", "relative", 1); // counts as not set
    assert_true(is_kept(world));
    setenv("HOME", "relative", 1);
    keep(world);
    assert_false(is_kept(world));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        CASE(test_is_read_as_it_was_kept),
        CASE(test_an_empty_one),
        CASE(test_a_file_that_changed),
        CASE(test_another_file_of_the_same_bytes),
        CASE(test_the_same_file_by_another_name),
        CASE(test_damage),
        CASE(test_a_folder_that_cannot_be_written),
        CASE(test_where_it_is),
#undef CASE
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
