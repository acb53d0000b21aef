// Files and folders, in a world where things go wrong.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include "base/file.h"
#include "base/lock.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct World {
    Arena arena;
    char root[64];
    Err err;
    Str out;
} World;

static int setup(void **state) {
    World *world = calloc(1, sizeof(*world));
    if (!world) return -1;
    arena_init(&world->arena);
    snprintf(world->root, sizeof(world->root), "/tmp/npufuse-file-XXXXXX");
    *state = world;
    return mkdtemp(world->root) ? 0 : -1;
}

static int teardown(void **state) {
    World *world = *state;
    Str command = arena_printf(&world->arena, "rm -rf '%s'", world->root);
    int code = system(command.at);
    arena_free(&world->arena);
    free(world);
    return code;
}

static const char *at(World *world, const char *name) {
    return arena_printf(&world->arena, "%s/%s", world->root, name).at;
}

static void put(World *world, const char *name, Str data) {
    if (!file_write(at(world, name), data, &world->err)) {
        fail_msg("%s", world->err.text);
    }
}

static void assert_text(World *world, const char *name, Str expected) {
    if (!file_read(&world->out, &world->arena, at(world, name), FILE_MAX_BYTES,
                   &world->err)) {
        fail_msg("%s", world->err.text);
    }
    assert_int_equal(world->out.len, expected.len);
    assert_memory_equal(world->out.at, expected.at, expected.len);
    assert_int_equal(world->out.at[world->out.len], 0);
}

static void test_written_is_read(void **state) {
    World *world = *state;
    put(world, "a", STR("text\0with NUL\n"));
    assert_text(world, "a", STR("text\0with NUL\n"));
    put(world, "a", STR(""));
    assert_text(world, "a", STR(""));
    FolderList list;
    assert_true(folder_read(&list, &world->arena, world->root, &world->err));
    assert_int_equal(list.len, 1); // no temporary file stays
}

static void test_large_file(void **state) {
    World *world = *state;
    size_t len = 3 * 1000 * 1000;
    char *data = arena_alloc(&world->arena, len);
    for (size_t i = 0; i < len; i++) data[i] = (char)(i * 7);
    put(world, "large", (Str){data, len});
    assert_text(world, "large", (Str){data, len});
    assert_false(file_read(&world->out, &world->arena, at(world, "large"),
                           1024 * 1024, &world->err));
    assert_non_null(strstr(world->err.text, "is larger than 1 MB"));
}

static void test_what_cannot_be_read(void **state) {
    World *world = *state;
    const char *absent = at(world, "absent");
    assert_false(file_read(&world->out, &world->arena, absent, 10,
                           &world->err));
    assert_string_equal(
        world->err.text,
        arena_printf(&world->arena,
                     "cannot open '%s': No such file or directory", absent).at);
    assert_false(file_read(&world->out, &world->arena, world->root, 10,
                           &world->err));
    assert_non_null(strstr(world->err.text, "is not a regular file"));
    // A pipe that nobody writes to must not make the program wait.
    assert_int_equal(mkfifo(at(world, "pipe"), 0600), 0);
    assert_false(file_read(&world->out, &world->arena, at(world, "pipe"), 10,
                           &world->err));
    assert_non_null(strstr(world->err.text, "is not a regular file"));
}

static void test_a_file_that_says_it_is_empty(void **state) {
    World *world = *state;
    assert_true(file_read(&world->out, &world->arena, "/proc/self/status",
                          FILE_MAX_BYTES, &world->err));
    assert_true(world->out.len > 100);
}

static void test_what_cannot_be_written(void **state) {
    World *world = *state;
    assert_false(file_write(at(world, "no/such/folder"), STR("x"),
                            &world->err));
    assert_non_null(strstr(world->err.text, "cannot write '"));
    assert_false(file_write("/dev/full/x", STR("x"), &world->err));
    assert_true(file_make_folder(at(world, "folder"), &world->err));
    assert_false(file_write(at(world, "folder"), STR("x"), &world->err));
    FolderList list;
    assert_true(folder_read(&list, &world->arena, world->root, &world->err));
    assert_int_equal(list.len, 1);
}

static void test_folders(void **state) {
    World *world = *state;
    assert_true(file_make_folder(at(world, "a/b/c"), &world->err));
    assert_true(file_make_folder(at(world, "a/b/c"), &world->err));
    assert_true(file_make_folder(at(world, "a//b/d/"), &world->err));
    assert_int_equal(file_kind(at(world, "a/b/d")), FILE_FOLDER);
    put(world, "file", STR("x"));
    assert_false(file_make_folder(at(world, "file"), &world->err));
    assert_false(file_make_folder(at(world, "file/x"), &world->err));
}

static void test_entries_are_sorted_with_their_kinds(void **state) {
    World *world = *state;
    put(world, "b", STR("x"));
    put(world, "B", STR("x"));
    put(world, "\xc3\xa9", STR("x"));
    assert_true(file_make_folder(at(world, "a"), &world->err));
    assert_int_equal(symlink("a", at(world, "link")), 0);
    assert_int_equal(symlink("nothing", at(world, "z-dangling")), 0);
    FolderList list;
    assert_true(folder_read(&list, &world->arena, world->root, &world->err));
    static const char *const NAMES[] = {"B", "a", "b", "link", "z-dangling",
                                        "\xc3\xa9"};
    static const FileKind KINDS[] = {FILE_REGULAR, FILE_FOLDER, FILE_REGULAR,
                                     FILE_FOLDER, FILE_NONE, FILE_REGULAR};
    assert_int_equal(list.len, COUNT(NAMES));
    for (size_t i = 0; i < list.len; i++) {
        assert_string_equal(list.at[i].name, NAMES[i]);
        assert_int_equal(list.at[i].kind, KINDS[i]);
    }
    assert_true(list.at[3].is_link && !list.at[1].is_link);
    assert_int_equal(list.at[3].inode, list.at[1].inode); // what it points at
    assert_false(folder_read(&list, &world->arena, at(world, "b"),
                             &world->err));
}

static void test_paths(void **state) {
    World *world = *state;
    Arena *arena = &world->arena;
    assert_string_equal(path_join(arena, STR("a"), STR("b")), "a/b");
    assert_string_equal(path_join(arena, STR("/"), STR("b")), "/b");
    assert_string_equal(path_join(arena, STR("."), STR("b")), "b");
    assert_string_equal(path_join(arena, STR(""), STR("b")), "b");
    assert_true(str_is(path_folder(STR("a/b/c")), "a/b"));
    assert_true(str_is(path_folder(STR("c")), "."));
    assert_true(str_is(path_folder(STR("/c")), "/"));
    assert_true(str_is(path_base(STR("a/b/c.py")), "c.py"));
    assert_true(str_is(path_base(STR("c.py")), "c.py"));
    assert_null(path_real(arena, at(world, "absent")));
    assert_string_equal(path_real(arena, "/usr/../usr/."), "/usr");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

static void appends_lines(void **state) {
    World *world = *state;
    const char *path = at(world, "events");
    assert_true(file_append(path, STR("one\n"), &world->err));
    assert_true(file_append(path, STR("tw"), &world->err)); // cut off there
    assert_true(file_append(path, STR("three\n"), &world->err));
    assert_text(world, "events", STR("one\ntw\nthree\n"));
    assert_false(file_append(at(world, "no/events"), STR("x"), &world->err));
}

static void keeps_the_mode(void **state) {
    World *world = *state;
    put(world, "script", STR("a"));
    assert_int_equal(chmod(at(world, "script"), 0750), 0);
    put(world, "script", STR("b"));
    struct stat st;
    assert_int_equal(stat(at(world, "script"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    assert_true(file_copy(at(world, "script"), at(world, "copy"), &world->err));
    assert_text(world, "copy", STR("b"));
    assert_int_equal(stat(at(world, "copy"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
    assert_false(file_copy(at(world, "script"), at(world, "copy"), &world->err));
    assert_false(file_copy(world->root, at(world, "folder"), &world->err));
}

static void removes_without_following(void **state) {
    World *world = *state;
    put(world, "kept", STR("kept"));
    assert_true(file_make_folder(at(world, "tree/deep/er"), &world->err));
    put(world, "tree/deep/file", STR("x"));
    assert_true(file_link(world->root, at(world, "tree/up"), &world->err));
    assert_true(file_link("../../kept", at(world, "tree/deep/link"), &world->err));
    assert_true(file_remove(at(world, "tree"), &world->err));
    assert_int_equal(file_kind(at(world, "tree")), FILE_NONE);
    assert_text(world, "kept", STR("kept"));
    assert_true(file_remove(at(world, "tree"), &world->err));
}

// The lock of another process: it is told, and gone when that process is.
static void locks(void **state) {
    World *world = *state;
    const char *path = at(world, "lock");
    int ready[2], done[2];
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(done), 0);
    pid_t child = fork();
    if (child == 0) {
        Lock held;
        char c = lock_take(&held, path, &world->err) ? 'y' : 'n';
        (void)!write(ready[1], &c, 1);
        (void)!read(done[0], &c, 1);
        _exit(0);
    }
    char c = 0;
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(c, 'y');
    Lock lock;
    assert_false(lock_take(&lock, path, &world->err));
    Str expected = arena_printf(&world->arena, "'%s' is locked: npufuse process %ld is at work "
                                "in this folder; wait for it or end it", path, (long)child);
    assert_string_equal(world->err.text, expected.at);
    assert_int_equal(write(done[1], &c, 1), 1);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(lock_take(&lock, path, &world->err));
    lock_free(&lock);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_written_is_read),
        TEST(test_large_file),
        TEST(test_what_cannot_be_read),
        TEST(test_a_file_that_says_it_is_empty),
        TEST(test_what_cannot_be_written),
        TEST(test_folders),
        TEST(test_entries_are_sorted_with_their_kinds),
        TEST(test_paths),
        TEST(appends_lines),
        TEST(keeps_the_mode),
        TEST(removes_without_following),
        TEST(locks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
