// Commands that end, fail, hang, ignore TERM, and leave others behind.
#include "base/base.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/proc.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

typedef struct Heard {
    Buf text;
    const char *stop_at; // end the command once this was said
} Heard;

static ProcAnswer hear(void *data, Str chunk) {
    Heard *heard = data;
    buf_add(&heard->text, chunk);
    if (heard->stop_at && str_contains(buf_str(&heard->text), str_of(heard->stop_at))) {
        return PROC_STOP;
    }
    return chunk.len ? PROC_PROGRESS : PROC_GO;
}

typedef struct Shell {
    const char *script;
    double limit_s, quiet_s;
    const char *stop_at;
} Shell;

static ProcResult run(Heard *heard, Shell shell) {
    const char *argv[] = {"sh", "-c", shell.script, NULL};
    const char *env[] = {"GREETING=hello", NULL};
    *heard = (Heard){.stop_at = shell.stop_at};
    ProcSpec spec = {.argv = argv, .env = env, .take = hear, .data = heard, .folder = "/",
                     .limit_s = shell.limit_s, .quiet_s = shell.quiet_s};
    ProcResult result;
    Err err;
    if (!proc_run(&result, &spec, &err)) fail_msg("%s", err.text);
    return result;
}

static void ends(void **state) {
    (void)state;
    Heard heard;
    ProcResult result = run(&heard, (Shell){.script = "echo $GREETING; pwd; echo no >&2; exit 7"});
    assert_int_equal(result.end, PROC_EXITED);
    assert_int_equal(result.code, 7);
    assert_string_equal(heard.text.at, "hello\n/\nno\n");
    buf_free(&heard.text);
    result = run(&heard, (Shell){.script = "kill -SEGV $$"});
    assert_int_equal(result.end, PROC_SIGNALLED);
    assert_int_equal(result.code, SIGSEGV);
    buf_free(&heard.text);
}

static void hangs(void **state) {
    (void)state;
    Heard heard;
    ProcResult result = run(&heard, (Shell){.script = "echo a; sleep 60", .limit_s = 0.3});
    assert_int_equal(result.end, PROC_TOO_LONG);
    buf_free(&heard.text);
    result = run(&heard, (Shell){.script = "echo a; sleep 60", .limit_s = 50, .quiet_s = 0.3});
    assert_int_equal(result.end, PROC_TOO_QUIET);
    assert_true(result.seconds < 20);
    buf_free(&heard.text);
}

static bool is_gone(long pid) {
    for (int i = 0; i < 50 && kill((pid_t)pid, 0) == 0; i++) poll(NULL, 0, 20);
    return kill((pid_t)pid, 0) != 0;
}

// Those that it started end with it, whether they hear TERM or not.
static void ends_the_group(void **state) {
    (void)state;
    Heard heard;
    ProcResult result = run(&heard, (Shell){
        .script = "(trap '' TERM; sleep 60) & echo pid $!; sleep 60", .stop_at = "pid "});
    assert_int_equal(result.end, PROC_STOPPED);
    long pid = strtol(strstr(heard.text.at, "pid ") + 4, NULL, 10);
    assert_true(pid > 1);
    assert_true(is_gone(pid));
    buf_free(&heard.text);
}

// torchrun gives each worker a session of its own: the group is not enough.
static void ends_who_left_the_group(void **state) {
    (void)state;
    const char *argv[] = {
        "sh", "-c", "setsid sh -c 'echo pid $$; exec sleep 60' & sleep 60", NULL};
    const char *env[] = {"NPUFUSE_TEST_MARK=one of a kind", NULL};
    for (int marked = 1; marked >= 0; marked--) {
        Heard heard = {.stop_at = "pid "};
        ProcSpec spec = {.argv = argv, .env = env, .take = hear, .data = &heard,
                         .mark = marked ? env[0] : NULL};
        ProcResult result;
        Err err;
        assert_true(proc_run(&result, &spec, &err));
        long pid = strtol(strstr(heard.text.at, "pid ") + 4, NULL, 10);
        assert_true(pid > 1);
        if (marked) assert_true(is_gone(pid));
        else assert_int_equal(kill((pid_t)pid, 0), 0);
        buf_free(&heard.text);
    }
    assert_int_equal(proc_end_marked("NPUFUSE_TEST_MARK=one"), 1);
    assert_int_equal(proc_end_marked("NPUFUSE_TEST_MARK=one"), 0);
}

// A child that keeps the pipe open does not keep us.
static void does_not_wait_for_daemons(void **state) {
    (void)state;
    Heard heard;
    ProcResult result = run(&heard, (Shell){.script = "sleep 60 & echo done"});
    assert_int_equal(result.end, PROC_EXITED);
    assert_int_equal(result.code, 0);
    assert_true(result.seconds < 20);
    buf_free(&heard.text);
}

static void cannot_start(void **state) {
    (void)state;
    const char *argv[] = {"npufuse-no-such-command", NULL};
    ProcSpec spec = {.argv = argv};
    ProcResult result;
    Err err;
    assert_false(proc_run(&result, &spec, &err));
    assert_string_equal(err.text, "cannot start 'npufuse-no-such-command': "
                                  "No such file or directory");
    argv[0] = "true";
    spec.log = "/nowhere/log";
    assert_false(proc_run(&result, &spec, &err));
    assert_string_equal(err.text, "cannot write '/nowhere/log': No such file or directory");
}

static void keeps_a_log(void **state) {
    (void)state;
    char path[] = "/tmp/npufuse-proc-XXXXXX";
    close(mkstemp(path));
    const char *argv[] = {"printf", "one\\ntwo\\n", NULL};
    ProcSpec spec = {.argv = argv, .log = path};
    ProcResult result;
    Err err;
    Arena arena;
    Str text;
    arena_init(&arena);
    assert_true(proc_run(&result, &spec, &err));
    assert_true(file_read(&text, &arena, path, 1000, &err));
    assert_string_equal(text.at, "one\ntwo\n");
    unlink(path);
    arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ends),           cmocka_unit_test(hangs),
        cmocka_unit_test(ends_the_group), cmocka_unit_test(does_not_wait_for_daemons),
        cmocka_unit_test(cannot_start),   cmocka_unit_test(keeps_a_log),
        cmocka_unit_test(ends_who_left_the_group),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
