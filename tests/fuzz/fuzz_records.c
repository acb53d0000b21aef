// fuzz_records.c - any bytes as each of the files of the work folder. Reading
// may refuse them, with a message; what was read is written again and is then
// what was read.
#include "base/base.h"

#include "base/file.h"
#include "fuzz.h"
#include "model/confirmation.h"
#include "model/finding_read.h"
#include "model/task.h"
#include "patch/journal.h"
#include "report/findings_json.h"
#include "report/markdown.h"

#include <stdio.h>
#include <stdlib.h>

static char folder[] = "/tmp/npufuse-fuzz-XXXXXX";

static void remove_folder(void) {
    Err err;
    if (!file_remove(folder, &err)) BUG("%s", err.text);
}

// Without fsync, unlike file_write: it is done some thousand times a second.
static void put(const char *path, Str text) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text.at, 1, text.len, file) != text.len || fclose(file) != 0) {
        BUG("cannot write '%s'", path);
    }
}

static void expect_message(const Err *err) {
    if (!err->text[0]) BUG("refused without a word");
}

static void check_findings(Arena *arena, const char *path) {
    FindingSet set, again;
    Err err = {{0}};
    if (!findings_read(&set, arena, path, &err)) {
        expect_message(&err);
        return;
    }
    Buf first = {0}, second = {0}, report = {0};
    findings_json_write(&first, &set);
    put(path, buf_str(&first));
    if (!findings_read(&again, arena, path, &err)) BUG("%s", err.text);
    findings_json_write(&second, &again);
    if (!str_eq(buf_str(&first), buf_str(&second))) BUG("written in two ways");
    markdown_write(&report, &set, &(MarkdownStyle){LANG_ZH, {0}});
    buf_free(&first);
    buf_free(&second);
    buf_free(&report);
}

static void check_journal(Arena *arena) {
    Journal journal;
    Err err = {{0}};
    if (!journal_open(&journal, arena, folder, &err)) {
        expect_message(&err);
        return;
    }
    for (uint32_t i = 0; i < journal.files.len; i++) {
        Str file = journal.files.at[i].file, pristine;
        if (!journal_pristine(&pristine, &journal, file, STR("x = 1\n"), &err)) {
            expect_message(&err);
        }
    }
}

static void check_confirmations(Arena *arena) {
    ConfirmationSet set, again;
    Err err = {{0}};
    if (!confirmations_read(&set, arena, folder, &err)) {
        expect_message(&err);
        return;
    }
    Buf first = {0}, second = {0};
    confirmations_print(&first, &set);
    put(path_join(arena, str_of(folder), STR(CONFIRMATIONS_FILE)), buf_str(&first));
    if (!confirmations_read(&again, arena, folder, &err)) BUG("%s", err.text);
    confirmations_print(&second, &again);
    if (!str_eq(buf_str(&first), buf_str(&second))) BUG("written in two ways");
    buf_free(&first);
    buf_free(&second);
}

static void check_tasks(Arena *arena) {
    TaskList tasks;
    Err err = {{0}};
    if (!tasks_read(&tasks, arena, folder, &err)) expect_message(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool is_made;
    static const char *const names[] = {"findings.json", "journal.json",
                                        CONFIRMATIONS_FILE, "tasks.json"};
    Arena arena;
    if (!is_made && !mkdtemp(folder)) BUG("cannot make a folder in /tmp");
    if (!is_made) atexit(remove_folder);
    is_made = true;
    arena_init(&arena);
    for (size_t i = 0; i < COUNT(names); i++) {
        put(path_join(&arena, str_of(folder), str_of(names[i])),
            (Str){(const char *)data, size});
    }
    check_findings(&arena, path_join(&arena, str_of(folder), STR("findings.json")));
    check_journal(&arena);
    check_confirmations(&arena);
    check_tasks(&arena);
    arena_free(&arena);
    return 0;
}
