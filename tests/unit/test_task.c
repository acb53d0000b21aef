// test_task.c - tasks.json both ways: what was known is known again, and what is
// written there by others leads nowhere.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"
#include "base/file.h"
#include "model/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct Fixture {
    Arena arena;
    Err err;
    char folder[64];
} Fixture;

static int setup(void **state) {
    Fixture *x = calloc(1, sizeof(*x));
    arena_init(&x->arena);
    strcpy(x->folder, "/tmp/npufuse_task_XXXXXX");
    assert_non_null(mkdtemp(x->folder));
    *state = x;
    return 0;
}

static int teardown(void **state) {
    Fixture *x = *state;
    assert_true(file_remove(x->folder, &x->err));
    arena_free(&x->arena);
    free(x);
    return 0;
}

static Str get(Fixture *x, const char *name) {
    Str text;
    const char *path = path_join(&x->arena, str_of(x->folder), str_of(name));
    if (!file_read(&text, &x->arena, path, 1 << 20, &x->err)) fail_msg("%s", x->err.text);
    return text;
}

static bool read_text(Fixture *x, TaskList *out, const char *text) {
    const char *path = path_join(&x->arena, str_of(x->folder), STR("tasks.json"));
    assert_true(file_write(path, str_of(text), &x->err));
    return tasks_read(out, &x->arena, x->folder, &x->err);
}

static bool read_task(Fixture *x, TaskList *out, const char *members) {
    return read_text(x, out, arena_printf(&x->arena, "{\"schema\":1,\"tasks\":[{\"id\":\"a:b\",%s}]}",
                                          members).at);
}

static void assert_text(Str got, const char *wanted) {
    assert_int_equal(got.len, strlen(wanted));
    assert_memory_equal(got.at, wanted, got.len);
}

static void fill(Fixture *x, TaskList *list) {
    Launch *launch = &list->launch;
    vec_push(&x->arena, &launch->argv, STR("torchrun"));
    vec_push(&x->arena, &launch->argv, STR("--name=\"a b\"\n"));
    vec_push(&x->arena, &launch->argv, STR(""));
    launch->folder = STR("/home/训练");
    launch->log = STR("out/steps.log");
    launch->python = STR("/env/bin/python");
    launch->device = STR("cpu");
    launch->steps = 120;
    launch->seed = -7;
    launch->threshold = 0.0125;
    launch->timeout_s = 0.5;
    launch->no_emulate = true;
    Task task = {.id = STR("rms_norm:a/b.py:N.forward:0d012d5b"), .state = TASK_PERFORMANCE_RUNNING,
                 .speed = SPEED_SLOWER, .answer = ANSWER_DO_NOT,
                 .reason = STR("why | not\n\"so\""), .file_sha256 = STR("f1"),
                 .edits_sha256 = STR("e1"), .launch_sha256 = STR("l1")};
    task.slug = task_slug(&x->arena, task.id);
    task.stages[STAGE_UNIT] = (Stage){STAGE_PASS, STR("fine"), true};
    task.stages[STAGE_LOSS] = (Stage){STAGE_FAIL, STR("step 20"), false};
    task.stages[STAGE_PERFORMANCE] = (Stage){STAGE_SKIPPED, STR(""), false};
    vec_push(&x->arena, &list->tasks, task);
    Task other = {.id = STR("b"), .slug = STR("b"), .state = TASK_STALE,
                  .speed = SPEED_FASTER, .answer = ANSWER_REPLACE};
    vec_push(&x->arena, &list->tasks, other);
    list->together = (Stage){STAGE_BLOCKED, STR("one of them"), true};
}

static void assert_launch(const Launch *got, const Launch *wanted) {
    assert_int_equal(got->argv.len, wanted->argv.len);
    for (uint32_t i = 0; i < got->argv.len; i++) {
        assert_true(str_eq(got->argv.at[i], wanted->argv.at[i]));
    }
    assert_true(str_eq(got->folder, wanted->folder));
    assert_true(str_eq(got->log, wanted->log));
    assert_true(str_eq(got->python, wanted->python));
    assert_true(str_eq(got->device, wanted->device));
    assert_int_equal(got->steps, wanted->steps);
    assert_int_equal(got->seed, wanted->seed);
    assert_true(got->threshold == wanted->threshold);
    assert_true(got->timeout_s == wanted->timeout_s);
    assert_int_equal(got->no_emulate, wanted->no_emulate);
    assert_int_equal(got->no_performance, wanted->no_performance);
}

static void assert_stage(const Stage *got, const Stage *wanted) {
    assert_int_equal(got->status, wanted->status);
    assert_true(str_eq(got->reason, wanted->reason));
    assert_int_equal(got->emulated, wanted->emulated);
}

static void assert_task(const Task *got, const Task *wanted) {
    assert_true(str_eq(got->id, wanted->id));
    assert_true(str_eq(got->slug, wanted->slug));
    assert_int_equal(got->state, wanted->state);
    assert_int_equal(got->speed, wanted->speed);
    assert_int_equal(got->answer, wanted->answer);
    assert_true(str_eq(got->reason, wanted->reason));
    assert_true(str_eq(got->file_sha256, wanted->file_sha256));
    assert_true(str_eq(got->edits_sha256, wanted->edits_sha256));
    assert_true(str_eq(got->launch_sha256, wanted->launch_sha256));
    for (int i = 0; i < STAGE_COUNT; i++) assert_stage(&got->stages[i], &wanted->stages[i]);
}

static void all_is_read_back(void **state) {
    Fixture *x = *state;
    TaskList list = {0}, again;
    fill(x, &list);
    assert_true(tasks_write(&list, x->folder, &x->err));
    assert_true(tasks_read(&again, &x->arena, x->folder, &x->err));
    assert_launch(&again.launch, &list.launch);
    assert_int_equal(again.tasks.len, 2);
    for (uint32_t i = 0; i < 2; i++) assert_task(&again.tasks.at[i], &list.tasks.at[i]);
    assert_stage(&again.together, &list.together);
    Str first = get(x, "tasks.json");
    assert_true(tasks_write(&again, x->folder, &x->err));
    assert_true(str_eq(first, get(x, "tasks.json")));
}

static void cells_of_the_table_stay_cells(void **state) {
    Fixture *x = *state;
    TaskList list = {0};
    fill(x, &list);
    assert_true(tasks_write(&list, x->folder, &x->err));
    const char *text = arena_cstr(&x->arena, get(x, "tasks.md"));
    assert_non_null(strstr(text, "| 性能验证中 performance_running | pass (emulated) | fail | "
                                 "skipped | do_not (slower) | why \\| not \"so\" | "));
    assert_non_null(strstr(text, "| 过期 stale | – | – | – | replace (faster) | "));
}

static void no_file_is_no_task(void **state) {
    Fixture *x = *state;
    TaskList list;
    assert_true(tasks_read(&list, &x->arena, x->folder, &x->err));
    assert_int_equal(list.tasks.len, 0);
    assert_int_equal(list.launch.argv.len, 0);
}

static void slugs_name_one_folder(void **state) {
    Fixture *x = *state;
    static const char *const ids[][2] = {
        {"rms_norm:decoder/norm.py:RMSNorm.forward:0d012d5b",
         "rms_norm-decoder-norm.py-RMSNorm.forward-0d012d5b"},
        {"../../etc/passwd", "-.-..-etc-passwd"},
        {"a\\b c\n", "a-b-c-"},
        {"规", "---"},
        {"..", "--"},
        {".", "-"},
        {".hidden", "-hidden"},
    };
    for (size_t i = 0; i < COUNT(ids); i++) {
        assert_text(task_slug(&x->arena, str_of(ids[i][0])), ids[i][1]);
    }
}

static void slugs_are_not_taken_from_the_file(void **state) {
    Fixture *x = *state;
    TaskList list;
    assert_true(read_task(x, &list, "\"slug\":\"../../home\",\"state\":\"waiting\""));
    assert_text(list.tasks.at[0].slug, "a-b");
}

static void assert_refused(Fixture *x, const char *members, const char *words) {
    TaskList list;
    if (read_task(x, &list, members)) fail_msg("accepted: %s", members);
    if (!strstr(x->err.text, words)) fail_msg("no '%s' in: %s", words, x->err.text);
}

static void unknown_words_are_refused(void **state) {
    Fixture *x = *state;
    assert_refused(x, "\"state\":\"done\"", "'state' is 'done'");
    assert_refused(x, "\"answer\":\"yes\"", "'answer' is 'yes'");
    assert_refused(x, "\"speed\":\"fast\"", "'speed' is 'fast'");
    assert_refused(x, "\"stages\":[{\"name\":\"unit\",\"status\":\"passed\"}]",
                   "'status' is 'passed'");
    assert_refused(x, "\"stages\":[{\"name\":\"units\",\"status\":\"pass\"}]", "'name' is 'units'");
    assert_refused(x, "\"stages\":[{\"status\":\"pass\"}]", "a stage has no 'name'");
    TaskList list;
    assert_true(read_task(x, &list, "\"reason\":3"));
    assert_int_equal(list.tasks.at[0].state, TASK_WAITING);
    assert_int_equal(list.tasks.at[0].answer, ANSWER_UNDECIDED);
}

static void other_files_are_refused(void **state) {
    Fixture *x = *state;
    TaskList list;
    assert_false(read_text(x, &list, "{\"schema\":2,\"tasks\":[]}"));
    assert_non_null(strstr(x->err.text, "schema is not 1"));
    assert_false(read_text(x, &list, "[]"));
    assert_false(read_text(x, &list, "{\"schema\":1,"));
    assert_true(read_text(x, &list, "{\"schema\":1,\"tasks\":[3,null,{},{\"id\":\"\"},{\"id\":\"a\"},"
                                    "{\"id\":\"a\",\"answer\":\"replace\"}]}"));
    assert_int_equal(list.tasks.len, 1); // no id: no task; the first of two counts
    assert_int_equal(list.tasks.at[0].answer, ANSWER_UNDECIDED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(all_is_read_back),
        TEST(cells_of_the_table_stay_cells),
        TEST(no_file_is_no_task),
        TEST(slugs_name_one_folder),
        TEST(slugs_are_not_taken_from_the_file),
        TEST(unknown_words_are_refused),
        TEST(other_files_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
