// Scanning with a text in place of what a file holds: who imports the file
// reads that text, too, whichever file comes first.
#include "base/base.h"

#include "base/file.h"
#include "match/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define MLP "from act import act\n"                                            \
            "def mlp(x):\n"                                                    \
            "    gate, up = x.chunk(2, dim=-1)\n"                              \
            "    return act(gate) * up\n"
#define RELU "import torch.nn.functional as F\nact = F.relu\n"
#define SILU "import torch.nn.functional as F\nact = F.silu\n"

static Arena arena;
static char folder[] = "/tmp/npufuse-scan-XXXXXX";

static const char *path_of(const char *name) {
    return path_join(&arena, str_of(folder), str_of(name));
}

static int make_files(void **state) {
    Err err;
    (void)state;
    arena_init(&arena);
    return !mkdtemp(folder) || !file_write(path_of("mlp.py"), STR(MLP), &err) ||
           !file_write(path_of("act.py"), STR(RELU), &err);
}

static int remove_files(void **state) {
    Err err;
    (void)state;
    bool ok = file_remove(folder, &err);
    arena_free(&arena);
    return !ok;
}

// How many candidates of swiglu the two inputs give.
static uint32_t count_found(const ScanInput inputs[2]) {
    static const char *const folders[] = {SOURCE_ROOT "/rules"};
    ScanOptions options = {.rule_folders = folders, .rule_folder_count = 1,
                           .root = str_of(folder), .jobs = 1};
    FindingSet set = {.file_count = 0};
    Err err;
    if (!scan_run(&set, &arena, (ScanInputs){inputs, 2}, &options, &err)) {
        fail_msg("%s", err.text);
    }
    assert_int_equal(set.skipped.len, 0);
    uint32_t count = 0;
    for (uint32_t i = 0; i < set.findings.len; i++) {
        const Finding *f = &set.findings.at[i];
        assert_string_equal(f->file.at, "mlp.py");
        count += str_is(f->family, "swiglu") && f->replacement.len > 0;
    }
    return count;
}

static void test_importers_read_the_given_text(void **state) {
    (void)state;
    ScanInput mlp = {.path = path_of("mlp.py"), .shown = STR("mlp.py")};
    ScanInput act = {.path = path_of("act.py"), .shown = STR("act.py")};
    ScanInput given = act;
    given.text = STR(SILU);
    given.has_text = true;
    assert_int_equal(count_found((ScanInput[]){mlp, act}), 0);
    assert_int_equal(count_found((ScanInput[]){given, mlp}), 1);
    assert_int_equal(count_found((ScanInput[]){mlp, given}), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_importers_read_the_given_text),
    };
    return cmocka_run_group_tests(tests, make_files, remove_files);
}
