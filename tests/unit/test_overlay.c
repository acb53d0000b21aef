// The overlay of a small project: what is copied, linked, left out.
#include "base/base.h"

#include "base/file.h"
#include "trial/overlay.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct World {
    Arena arena;
    Err err;
    char *root, *tree, *before;
} World;

static const char *at(World *w, const char *folder, const char *name) {
    return path_join(&w->arena, str_of(folder), str_of(name));
}

static void put(World *w, const char *name, const char *text) {
    const char *path = at(w, w->root, name);
    Str folder = path_folder(str_of(path));
    if (!file_make_folder(arena_cstr(&w->arena, folder), &w->err) ||
        !file_write(path, str_of(text), &w->err)) {
        fail_msg("%s", w->err.text);
    }
}

static int setup(void **state) {
    static World world;
    World *w = &world;
    char base[] = "/tmp/npufuse-overlay-XXXXXX";
    *w = (World){0};
    arena_init(&w->arena);
    if (!mkdtemp(base)) return -1;
    w->root = path_join(&w->arena, str_of(path_real(&w->arena, base)), STR("project"));
    put(w, "train.py", "import pkg\n");
    put(w, "run.sh", "python train.py\n");
    put(w, "src/pkg/__init__.py", "");
    put(w, "src/pkg/norm.py", "old\n");
    put(w, "src/pkg/table.json", "{}\n");
    put(w, "data/big/words.txt", "words\n");
    put(w, "env/pyvenv.cfg", "home = /usr\n");
    put(w, "env/lib/x.py", "");
    put(w, "fusion_verify/runs/a.py", "");
    put(w, "src/pkg/__pycache__/norm.pyc", "");
    if (!file_link("src/pkg", at(w, w->root, "short"), &w->err)) return -1;
    if (!file_link("..", at(w, w->root, "src/loop"), &w->err)) return -1;
    w->tree = path_join(&w->arena, path_folder(str_of(w->root)), STR("tree"));
    w->before = getcwd(NULL, 0);
    *state = w;
    return chdir(w->root);
}

static int teardown(void **state) {
    World *w = *state;
    int code = chdir(w->before);
    free(w->before);
    bool ok = file_remove(arena_cstr(&w->arena, path_folder(str_of(w->root))), &w->err);
    arena_free(&w->arena);
    return ok ? code : -1;
}

static Overlay make(World *w) {
    OverlayEdit edit = {STR("src/pkg/norm.py"), STR("new\n")};
    Str files[] = {STR("src/pkg/norm.py"), STR("train.py")};
    OverlaySpec spec = {.root = w->root, .tree = w->tree, .edits = &edit, .edit_count = 1,
                        .files = files, .file_count = 2};
    spec.work = at(w, w->root, "fusion_verify");
    Overlay overlay;
    if (!overlay_make(&overlay, &w->arena, &spec, &w->err)) fail_msg("%s", w->err.text);
    return overlay;
}

static bool is_link(World *w, const char *name) {
    struct stat st;
    return lstat(at(w, w->tree, name), &st) == 0 && S_ISLNK(st.st_mode);
}

static void assert_text(World *w, const char *name, const char *text) {
    Str found;
    if (!file_read(&found, &w->arena, at(w, w->tree, name), 1000, &w->err)) {
        fail_msg("%s", w->err.text);
    }
    assert_string_equal(found.at, text);
}

static void copies_and_links(void **state) {
    World *w = *state;
    make(w);
    assert_text(w, "src/pkg/norm.py", "new\n");
    assert_text(w, "short/norm.py", "new\n"); // the link within the project
    assert_text(w, "train.py", "import pkg\n");
    assert_text(w, "data/big/words.txt", "words\n");
    const char *links[] = {"data", "env", "short", "src/pkg/table.json", "src/loop"};
    for (size_t i = 0; i < COUNT(links); i++) {
        if (!is_link(w, links[i])) fail_msg("'%s' is no link", links[i]);
    }
    const char *copies[] = {"train.py", "run.sh", "src", "src/pkg", "src/pkg/norm.py"};
    for (size_t i = 0; i < COUNT(copies); i++) {
        if (is_link(w, copies[i])) fail_msg("'%s' is a link", copies[i]);
    }
    assert_int_equal(file_kind(at(w, w->tree, "fusion_verify")), FILE_NONE);
    assert_int_equal(file_kind(at(w, w->tree, "src/pkg/__pycache__")), FILE_NONE);
    Str kept;
    assert_true(file_read(&kept, &w->arena, at(w, w->root, "src/pkg/norm.py"), 99, &w->err));
    assert_string_equal(kept.at, "old\n");
}

// Links, whatever they lead to: the overlay's own files, or where they led.
static void links(void **state) {
    World *w = *state;
    const char *beside = arena_printf(&w->arena, "%s-2", w->root).at;
    assert_true(file_make_folder(beside, &w->err));
    assert_true(file_write(at(w, beside, "x.txt"), STR("beside\n"), &w->err));
    Str target = arena_printf(&w->arena, "../%.*s/x.txt", STR_FMT(path_base(str_of(beside))));
    assert_true(file_link(target.at, at(w, w->root, "x.txt"), &w->err));
    assert_true(file_link(at(w, w->root, "src"), at(w, w->root, "absolute"), &w->err));
    make(w);
    assert_text(w, "x.txt", "beside\n");
    assert_text(w, "absolute/pkg/norm.py", "new\n");
    assert_text(w, "src/loop/src/pkg/norm.py", "new\n");
}

static void words(void **state) {
    World *w = *state;
    Overlay overlay = make(w);
    const char *outside = arena_cstr(&w->arena, path_folder(str_of(w->root)));
    const struct { const char *word, *seen; } cases[] = {
        {"train.py", "train.py"}, {"--steps=60", "--steps=60"}, {"", ""}, {"--x=", "--x="},
        {at(w, w->root, "train.py"), at(w, w->tree, "train.py")},
        {"./src/../train.py", at(w, w->tree, "train.py")},
        {"..", outside}, {"../new.log", at(w, outside, "new.log")},
        {"../none/new.log", "../none/new.log"}, {"import a; b = '../x'", "import a; b = '../x'"},
        {arena_printf(&w->arena, "--a=%s/train.py", w->root).at,
         arena_printf(&w->arena, "--a=%s/train.py", w->tree).at},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_string_equal(overlay_word(&overlay, &w->arena, cases[i].word), cases[i].seen);
    }
    assert_int_equal(chdir(outside), 0); // the command runs where we are, beside the project
    overlay.folder = path_real(&w->arena, ".");
    assert_string_equal(overlay_word(&overlay, &w->arena, "project/train.py"),
                        at(w, w->tree, "train.py"));
    assert_string_equal(overlay_word(&overlay, &w->arena, "other/train.py"), "other/train.py");
}

// Findings of a folder below the root; and an edit that no walk comes to.
static void below_the_root(void **state) {
    World *w = *state;
    OverlayEdit edit = {STR("norm.py"), STR("new\n")};
    Str file = STR("norm.py");
    OverlaySpec spec = {.root = w->root, .prefix = STR("src/pkg"), .tree = w->tree,
                        .edits = &edit, .edit_count = 1, .files = &file, .file_count = 1};
    Overlay overlay;
    if (!overlay_make(&overlay, &w->arena, &spec, &w->err)) fail_msg("%s", w->err.text);
    assert_text(w, "src/pkg/norm.py", "new\n");
    Str seen = overlay_file(&overlay, &w->arena, file);
    assert_string_equal(arena_cstr(&w->arena, seen), "src/pkg/norm.py");
    assert_string_equal(overlay.import_roots.at[0], at(w, w->tree, "src"));
    spec.prefix = STR("short"); // a link
    assert_false(overlay_make(&overlay, &w->arena, &spec, &w->err));
    assert_non_null(strstr(w->err.text, "cannot copy 'norm.py' with its candidates"));
}

static void paths(void **state) {
    World *w = *state;
    Overlay overlay = make(w);
    assert_string_equal(overlay.folder, w->tree);
    assert_int_equal(overlay.import_roots.len, 2);
    assert_string_equal(overlay.import_roots.at[0], at(w, w->tree, "src"));
    assert_string_equal(overlay.import_roots.at[1], w->tree);
    setenv("PYTHONPATH", arena_printf(&w->arena, "%s/src:/elsewhere", w->root).at, 1);
    Str path = overlay_python_path(&overlay, &w->arena, STR("/hook"));
    Str expected = arena_printf(&w->arena, "/hook:%s/src:%s:%s/src:/elsewhere", w->tree, w->tree,
                                w->tree);
    assert_string_equal(path.at, expected.at);
    unsetenv("PYTHONPATH");
    assert_string_equal(overlay_path(&overlay, &w->arena, at(w, w->root, "train.py")),
                        at(w, w->tree, "train.py"));
    assert_string_equal(overlay_path(&overlay, &w->arena, at(w, w->root, "out")),
                        at(w, w->root, "out"));
    assert_string_equal(overlay_path(&overlay, &w->arena, "train.py"), "train.py");
}

// Of a library only the edited package is there.
static void library(void **state) {
    World *w = *state;
    put(w, "lib/site-packages/a/__init__.py", "");
    put(w, "lib/site-packages/a/norm.py", "old\n");
    put(w, "lib/site-packages/b/other.py", "");
    Str file = STR("a/norm.py");
    OverlayEdit edit = {file, STR("new\n")};
    OverlaySpec spec = {.root = at(w, w->root, "lib/site-packages"), .tree = w->tree,
                        .edits = &edit, .edit_count = 1, .files = &file, .file_count = 1};
    Overlay overlay;
    if (!overlay_make(&overlay, &w->arena, &spec, &w->err)) fail_msg("%s", w->err.text);
    assert_text(w, "a/norm.py", "new\n");
    assert_int_equal(file_kind(at(w, w->tree, "b")), FILE_NONE);
    assert_string_equal(overlay.folder, w->root);
    assert_string_equal(overlay.import_roots.at[0], w->tree);
    // The other packages are still found, behind the copy.
    setenv("PYTHONPATH", spec.root, 1);
    Str path = overlay_python_path(&overlay, &w->arena, STR("/hook"));
    Str expected = arena_printf(&w->arena, "/hook:%s:%s", w->tree, spec.root);
    assert_string_equal(path.at, expected.at);
    unsetenv("PYTHONPATH");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(copies_and_links, setup, teardown),
        cmocka_unit_test_setup_teardown(paths, setup, teardown),
        cmocka_unit_test_setup_teardown(library, setup, teardown),
        cmocka_unit_test_setup_teardown(links, setup, teardown),
        cmocka_unit_test_setup_teardown(words, setup, teardown),
        cmocka_unit_test_setup_teardown(below_the_root, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
