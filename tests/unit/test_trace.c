// Traces: the events of every kind of file, and the way from a kernel to its source.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include "base/file.h"
#include "prof/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct World {
    Arena arena;
    char path[64], csv[80];
    Err err;
} World;

static int setup(void **state) {
    World *world = calloc(1, sizeof(*world));
    if (!world) return -1;
    arena_init(&world->arena);
    snprintf(world->path, sizeof(world->path), "/tmp/npufuse-trace-XXXXXX");
    *state = world;
    int fd = mkstemp(world->path);
    if (fd < 0) return -1;
    snprintf(world->csv, sizeof(world->csv), "%s.csv", world->path);
    return close(fd);
}

static int teardown(void **state) {
    World *world = *state;
    arena_free(&world->arena);
    unlink(world->csv);
    int code = unlink(world->path);
    free(world);
    return code;
}

static void put(World *world, const char *text) {
    assert_true(file_write(world->path, str_of(text), &world->err));
}

// ---- events -------------------------------------------------------------------------

static void add_ph(void *data, const JsonVal *event) {
    char *seen = data;
    Str ph = json_text(json_member(event, "ph"));
    size_t len = strlen(seen);
    seen[len] = ph.len ? ph.at[0] : '?';
    seen[len + 1] = 0;
}

static bool read_events(World *world, char *seen, EventStats *stats) {
    EventReader reader = {.take = add_ph, .data = seen};
    seen[0] = 0;
    return events_read(stats, world->path, &reader, &world->err);
}

static void test_lists_of_events(void **state) {
    World *world = *state;
    EventStats stats;
    char seen[64];
    static const struct {
        const char *text, *seen;
        bool is_cut;
        unsigned faults;
    } cases[] = {
        {"[{\"ph\":\"X\",\"args\":{\"a\":[{}]}},{\"ph\":\"s\"}]", "Xs", false, 0},
        {"[{\"ph\":\"X\"},{\"ph\":\"s\"}", "Xs", true, 0},
        {"[{\"ph\":\"X\"},{\"ph\":\"s\",\"na", "X", true, 1},
        {"\xef\xbb\xbf [{\"ph\":\"X\",\"name\":\"}{[\\\"\"}]\n", "X", false, 0},
        {"{\"devices\":[{\"id\":0}],\"traceEvents\":[{\"ph\":\"f\"}],\"z\":1}", "?f", false, 0},
        {"[{\"ph\":\"X\",\"dur\":NaN},{ph},{\"ph\":\"f\"}]", "Xf", false, 1},
        {"[]", "", false, 0},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        put(world, cases[i].text);
        assert_true(read_events(world, seen, &stats));
        assert_string_equal(seen, cases[i].seen);
        assert_int_equal(stats.is_cut, cases[i].is_cut);
        assert_int_equal(stats.faults, cases[i].faults);
    }
}

static void test_no_trace(void **state) {
    World *world = *state;
    EventStats stats;
    char seen[64];
    put(world, "");
    assert_false(read_events(world, seen, &stats));
    assert_non_null(strstr(world->err.text, "is empty"));
    put(world, "Name,Type\nA,B\n");
    assert_false(read_events(world, seen, &stats));
    assert_non_null(strstr(world->err.text, "no list of events"));
}

// An event that lies over the border of two pieces of the file.
static void test_long_file(void **state) {
    World *world = *state;
    EventStats stats;
    char seen[64];
    enum { BYTES = 3 << 20, PAD = (1 << 20) - 20 };
    char *text = malloc(BYTES);
    int at = snprintf(text, BYTES, "[%*s{\"ph\":\"X\",\"name\":\"%0*d\"}", PAD, "", PAD, 7);
    snprintf(text + at, (size_t)(BYTES - at), ",{\"ph\":\"f\"}]");
    put(world, text);
    free(text);
    assert_true(read_events(world, seen, &stats));
    assert_string_equal(seen, "Xf");
}

static void test_time(void **state) {
    World *world = *state;
    static const struct { const char *text; int64_t ns; } cases[] = {
        {"\"1750000000000000.702\"", 1750000000000000702},
        {"\"1750000000000000.7\\t\"", 1750000000000000700},
        {"1750000000000000.75", 1750000000000000750},
        {"12", 12000}, {"0.001", 1}, {"\"0\"", 0},
        {"\"-1\"", -1}, {"-1.5", -1}, {"\"99999999999999999\"", -1}, {"1e300", -1},
        {"\"12x\"", -1}, {"null", -1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const JsonVal *v;
        int64_t ns = -1;
        assert_true(json_read_loose(&v, &world->arena, str_of(cases[i].text), &world->err));
        assert_int_equal(event_ns(&ns, v), cases[i].ns >= 0);
        assert_int_equal(ns, cases[i].ns);
    }
}

// ---- to the source ------------------------------------------------------------------

#define ARROW(id, host_tid, host_ts, ts)                                                    \
    ",{\"ph\":\"s\",\"id\":" id ",\"pid\":1,\"tid\":" host_tid ",\"ts\":" host_ts           \
    ",\"cat\":\"async_npu\"},{\"ph\":\"f\",\"id\":" id ",\"pid\":64,\"tid\":3,\"ts\":\"" ts \
    "\",\"cat\":\"async_npu\"},{\"ph\":\"X\",\"name\":\"k\",\"pid\":64,\"tid\":3,"          \
    "\"ts\":\"" ts "\",\"dur\":2.5,\"args\":{\"Task Type\":\"AI_CORE\",\"Stream Id\":7}}"
#define SPAN(name, cat, tid, ts, dur, args)                                                 \
    ",{\"ph\":\"X\",\"name\":\"" name "\",\"cat\":\"" cat "\",\"pid\":1,\"tid\":" tid       \
    ",\"ts\":" ts ",\"dur\":" dur ",\"args\":{" args "}}"

// Row 0 is launched by an operator in a module, by its Python frames; row 1 by the
// backward operator of it; row 2 by an operator with a call stack; row 3 by nobody.
static const char trace_text[] =
    "[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"Python\"}}"
    SPAN("ProfilerStep#1", "cpu_op", "1", "0", "1000", "")
    SPAN("train.py(10): <module>", "python_function", "1", "1", "900", "")
    SPAN("nn.Module: Model_0", "python_function", "1", "2", "100", "")
    SPAN("nn.Module: Norm_1", "python_function", "1", "3", "50", "")
    SPAN("net/norm.py(17): forward", "python_function", "1", "4", "40", "")
    SPAN("/lib/torch/_tensor.py(40): wrapped", "python_function", "1", "5", "30", "")
    SPAN("aten::pow", "cpu_op", "1", "6", "20", "\"Sequence number\":5,\"Fwd thread id\":0")
    ARROW("\"9\"", "1", "7", "100.000")
    SPAN("PowBackward0", "cpu_op", "2", "200", "20",
         "\"Sequence number\":5,\"Fwd thread id\":1")
    SPAN("aten::mul", "cpu_op", "2", "201", "10", "\"Sequence number\":-1")
    ARROW("10", "2", "202", "210.000")
    SPAN("aten::add_", "cpu_op", "1", "500", "20",
         "\"Sequence number\":-1,\"Call stack\":\"torch/optim/adamw.py(161): step;\\r\\n"
         "train.py(12): main;\\r\\nnn.Module: Inner_0;\\r\\nnn.Module: Outer_2;\\r\\n"
         "run.py(3): <module>\"")
    ARROW("11", "1", "501", "510.250") "]";

static Profile four_rows(World *world) {
    static const int64_t starts[] = {100000, 210000, 510000, 900000};
    Profile profile = {.row_count = 4, .lane_count = 1};
    profile.rows = NEW_N(&world->arena, ProfRow, 4);
    profile.lanes = NEW(&world->arena, ProfLane);
    profile.lanes[0] = (ProfLane){.device = PROF_NONE, .stream = 7, .len = 4};
    profile.lanes[0].rows = NEW_N(&world->arena, uint32_t, 4);
    for (uint32_t i = 0; i < 4; i++) {
        profile.rows[i].start_ns = starts[i];
        profile.lanes[0].rows[i] = i;
    }
    return profile;
}

static void assert_row(const Profile *profile, uint32_t row, const char *module,
                       const char *site) {
    assert_true(str_is(profile->modules[profile->row_module[row]], module));
    assert_true(str_is(profile->sites[profile->row_site[row]], site));
}

static void test_rows_to_sources(void **state) {
    World *world = *state;
    TraceLink link;
    Profile profile = four_rows(world);
    put(world, trace_text);
    TraceOptions options = {.path = world->path};
    assert_true(trace_link(&link, &profile, &world->arena, &options, &world->err));
    assert_int_equal(link.rows, 3);
    assert_int_equal(link.by_forward, 1);
    assert_int_equal(link.ops, 4);
    assert_row(&profile, 0, "Model_0/Norm_1", "net/norm.py:17");
    assert_row(&profile, 1, "Model_0/Norm_1", "net/norm.py:17");
    assert_row(&profile, 2, "Outer_2/Inner_0", "train.py:12");
    assert_row(&profile, 3, "", "");
}

static void test_other_stream(void **state) {
    World *world = *state;
    TraceLink link;
    Profile profile = four_rows(world);
    profile.lanes[0].stream = 8;
    put(world, trace_text);
    TraceOptions options = {.path = world->path};
    assert_true(trace_link(&link, &profile, &world->arena, &options, &world->err));
    assert_int_equal(link.rows, 0);
    assert_null(profile.row_module);
    assert_null(profile.row_site);
}

static void test_kernels_alone(void **state) {
    World *world = *state;
    TraceKernels kernels;
    Str text;
    put(world, trace_text);
    TraceOptions options = {.path = world->path};
    assert_true(trace_write_kernels(&kernels, world->csv, &options, &world->err));
    assert_int_equal(kernels.kernels, 3);
    assert_true(file_read(&text, &world->arena, world->csv, 10000, &world->err));
    assert_true(str_contains(text, STR("\n0,7,\"k\",N/A,\"AI_CORE\",510.250,2.500\n")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lists_of_events, setup, teardown),
        cmocka_unit_test_setup_teardown(test_no_trace, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_rows_to_sources, setup, teardown),
        cmocka_unit_test_setup_teardown(test_other_stream, setup, teardown),
        cmocka_unit_test_setup_teardown(test_kernels_alone, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
