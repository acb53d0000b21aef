// test_journal.c - candidates put into files and taken out again, in every
// order; what may not be written.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/file.h"
#include "base/sha256.h"
#include "patch/plan.h"
#include "patch/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CANDIDATES = 3 };

typedef struct Fixture {
    Arena arena;
    Err err;
    char folder[64]; // holds tree/ and work/
    Finding found[CANDIDATES];
} Fixture;

#define PRISTINE "import torch\r\n\r\nx = 1\r\ny = 1\r\nz = 1"

static const char *path_of(Fixture *x, const char *name) {
    return arena_printf(&x->arena, "%s/%s", x->folder, name).at;
}

static void put(Fixture *x, const char *name, const char *text) {
    assert_true(file_write(path_of(x, name), str_of(text), &x->err));
}

static Str get(Fixture *x, const char *name) {
    Str text;
    if (!file_read(&text, &x->arena, path_of(x, name), 1 << 20, &x->err)) {
        fail_msg("%s", x->err.text);
    }
    return text;
}

static Finding candidate(Fixture *x, const char *id, uint32_t line, const char *from,
                         const char *to) {
    char hex[SHA256_HEX + 1];
    sha256_hex(hex, STR(PRISTINE));
    Finding f = {.id = str_of(id), .file = STR("m.py"), .start_line = line, .end_line = line,
                 .file_sha256 = arena_str(&x->arena, str_of(hex)),
                 .original = str_of(from), .replacement = str_of(to)};
    Insert os = {2, 0, STR("import os\r\n")};
    Insert own = {2, 2, arena_printf(&x->arena, "%s = 0\r\n", id)};
    vec_push(&x->arena, &f.inserts, os);
    vec_push(&x->arena, &f.inserts, own);
    return f;
}

static int open_fixture(void **state) {
    static Fixture x;
    x = (Fixture){0};
    arena_init(&x.arena);
    strcpy(x.folder, "/tmp/npufuse-journal-XXXXXX");
    if (!mkdtemp(x.folder)) return -1;
    if (!file_make_folder(path_of(&x, "tree"), &x.err)) return -1;
    put(&x, "tree/m.py", PRISTINE);
    chmod(path_of(&x, "tree/m.py"), 0750);
    x.found[0] = candidate(&x, "a", 3, "x = 1\r\n", "x = 2\r\nx = 3\r\n");
    x.found[1] = candidate(&x, "b", 4, "y = 1\r\n", "y = 2\r\n");
    x.found[2] = candidate(&x, "c", 5, "z = 1", "z = 2");
    *state = &x;
    return 0;
}

static int close_fixture(void **state) {
    Fixture *x = *state;
    bool ok = file_remove(x->folder, &x->err);
    arena_free(&x->arena);
    return ok ? 0 : -1;
}

static Str root_of(Fixture *x) {
    return str_of(path_of(x, "tree"));
}

static void open_journal(Fixture *x, Journal *journal) {
    if (!journal_open(journal, &x->arena, path_of(x, "work"), &x->err)) {
        fail_msg("%s", x->err.text);
    }
    journal->root = root_of(x);
}

// Puts one candidate in or takes it out, with a journal read anew.
static bool change(Fixture *x, int which, bool revert) {
    Journal journal;
    Plan plan;
    if (!file_make_folder(path_of(x, "work"), &x->err)) return false;
    open_journal(x, &journal);
    PlanWish wish = {.root = root_of(x), .file = STR("m.py"), .revert = revert};
    const Finding *one = &x->found[which];
    vec_push(&x->arena, &wish.candidates, one);
    return plan_file(&plan, &journal, &wish, &x->err) &&
           journal_write_file(&journal, &plan.change, &x->err);
}

static void expect_change(Fixture *x, int which, bool revert) {
    if (!change(x, which, revert)) fail_msg("%s", x->err.text);
}

static Str wanted(Fixture *x, unsigned set) {
    const Finding *list[CANDIDATES];
    uint32_t count = 0;
    for (int i = 0; i < CANDIDATES; i++) {
        if (set >> i & 1) list[count++] = &x->found[i];
    }
    Edits edits;
    assert_true(edits_render(&edits, &x->arena, STR(PRISTINE), (EditList){list, count}, &x->err));
    return edits.text;
}

static void expect_set(Fixture *x, unsigned set) {
    Str text = get(x, "tree/m.py");
    if (!str_eq(text, wanted(x, set))) fail_msg("set %u: %s", set, text.at);
    Journal journal;
    open_journal(x, &journal);
    const JournalFile *entry = journal_find(&journal, STR("m.py"));
    assert_int_equal(entry ? entry->applied.len : 0, __builtin_popcount(set));
    Str pristine;
    assert_true(journal_pristine(&pristine, &journal, STR("m.py"), text, &x->err));
    assert_string_equal(pristine.at, PRISTINE);
}

static const int ORDERS[6][CANDIDATES] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                          {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

// Applied in any order and taken back in any order: 36 ways.
static void test_every_order(void **state) {
    Fixture *x = *state;
    for (int in = 0; in < 6; in++) {
        for (int out = 0; out < 6; out++) {
            unsigned set = 0;
            for (int i = 0; i < CANDIDATES; i++) {
                expect_change(x, ORDERS[in][i], false);
                expect_set(x, set |= 1u << ORDERS[in][i]);
            }
            for (int i = 0; i < CANDIDATES; i++) {
                expect_change(x, ORDERS[out][i], true);
                expect_set(x, set &= ~(1u << ORDERS[out][i]));
            }
            assert_string_equal(get(x, "tree/m.py").at, PRISTINE);
        }
    }
    struct stat st;
    assert_int_equal(stat(path_of(x, "tree/m.py"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
}

static void expect_refusal(Fixture *x, int which, bool revert, const char *part) {
    Str before = get(x, "tree/m.py");
    assert_false(change(x, which, revert));
    if (!strstr(x->err.text, part)) fail_msg("%s", x->err.text);
    assert_true(str_eq(before, get(x, "tree/m.py")));
}

static void test_changed_by_hand(void **state) {
    Fixture *x = *state;
    put(x, "tree/m.py", PRISTINE " # mine");
    expect_refusal(x, 0, false, "'m.py' was changed since the scan; scan again");
    put(x, "tree/m.py", PRISTINE);
    expect_change(x, 0, false);
    put(x, "tree/m.py", PRISTINE);
    expect_refusal(x, 0, true, "'m.py' was changed since candidates were applied");
    expect_refusal(x, 1, false, "'m.py' was changed since candidates were applied");
}

static void test_scanned_while_applied(void **state) {
    Fixture *x = *state;
    expect_change(x, 0, false);
    char hex[SHA256_HEX + 1];
    sha256_hex(hex, get(x, "tree/m.py"));
    x->found[1].file_sha256 = str_of(hex);
    expect_refusal(x, 1, false, "'m.py' was scanned with candidates applied to it");
}

static void test_result_must_parse(void **state) {
    Fixture *x = *state;
    x->found[0].replacement = STR("x = (\r\n");
    expect_refusal(x, 0, false, "the result would not parse");
}

static void test_damaged_pristine(void **state) {
    Fixture *x = *state;
    expect_change(x, 0, false);
    char hex[SHA256_HEX + 1];
    sha256_hex(hex, STR(PRISTINE));
    const char *saved = arena_printf(&x->arena, "work/pristine/%s", hex).at;
    put(x, saved, "x = 0\n");
    expect_refusal(x, 0, true, "is damaged; restore 'm.py' from version control");
}

// The journal as a crash leaves it, before and after the file was written.
static void test_pending_is_settled(void **state) {
    Fixture *x = *state;
    expect_change(x, 0, false);
    Journal journal;
    for (int written = 0; written < 2; written++) {
        open_journal(x, &journal);
        JournalFile *entry = journal_find(&journal, STR("m.py"));
        const Finding *second = &x->found[1];
        entry->pending = entry->applied;
        vec_push(&x->arena, &entry->pending, second);
        char hex[SHA256_HEX + 1];
        sha256_hex(hex, wanted(x, 3));
        entry->pending_sha256 = arena_str(&x->arena, str_of(hex));
        if (written) put(x, "tree/m.py", wanted(x, 3).at);
        put(x, "tree/m.py.123.tmp", "half");
        put(x, "tree/m.py.mine.tmp", "mine");
        assert_true(journal_recover(&journal, &x->err));
        expect_set(x, written ? 3 : 1);
        assert_int_equal(file_kind(path_of(x, "tree/m.py.123.tmp")), FILE_NONE);
        assert_int_equal(file_kind(path_of(x, "tree/m.py.mine.tmp")), FILE_REGULAR);
    }
}

static void test_damaged_journal(void **state) {
    Fixture *x = *state;
    static const char *const texts[] = {
        "{\"schema\": 2, \"files\": []}",
        "{\"schema\": 1, \"files\": [{\"file\": \"m.py\"}]}",
        ("{\"schema\": 1, \"files\": [{\"file\": \"m.py\", \"pristine_sha256\": \"../../etc\", "
         "\"current_sha256\": \"../../etc\"}]}"),
        "{\"schema\": 1", "[]",
    };
    assert_true(file_make_folder(path_of(x, "work"), &x->err));
    for (size_t i = 0; i < COUNT(texts); i++) {
        Journal journal;
        put(x, "work/journal.json", texts[i]);
        assert_false(journal_open(&journal, &x->arena, path_of(x, "work"), &x->err));
    }
}

static void expect_no_target(Fixture *x, const char *file, const char *part) {
    const char *path;
    assert_false(target_path(&path, &x->arena, root_of(x), str_of(file), &x->err));
    if (!strstr(x->err.text, part)) fail_msg("%s: %s", file, x->err.text);
}

static void test_targets(void **state) {
    Fixture *x = *state;
    const char *path;
    put(x, "out.py", "x = 1\n");
    assert_int_equal(symlink("../out.py", path_of(x, "tree/leaves.py")), 0);
    assert_int_equal(symlink("m.py", path_of(x, "tree/stays.py")), 0);
    assert_true(file_make_folder(path_of(x, "tree/v/site-packages"), &x->err));
    put(x, "tree/v/site-packages/p.py", "x = 1\n");
    assert_true(target_path(&path, &x->arena, root_of(x), STR("stays.py"), &x->err));
    assert_true(str_ends(str_of(path), "/tree/m.py"));
    expect_no_target(x, "../out.py", "outside of the scanned root");
    expect_no_target(x, "a/../../out.py", "outside of the scanned root");
    expect_no_target(x, "/etc/passwd", "outside of the scanned root");
    expect_no_target(x, "", "outside of the scanned root");
    expect_no_target(x, "leaves.py", "a link that leaves the scanned root");
    expect_no_target(x, "gone.py", "is no file in");
    expect_no_target(x, "v", "is no file in");
    expect_no_target(x, "v/site-packages/p.py", "belongs to an installed package");
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_fixture, close_fixture)
    const struct CMUnitTest tests[] = {
        TEST(test_every_order), TEST(test_changed_by_hand), TEST(test_scanned_while_applied),
        TEST(test_result_must_parse), TEST(test_damaged_pristine),
        TEST(test_pending_is_settled), TEST(test_damaged_journal), TEST(test_targets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
