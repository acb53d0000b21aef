// fuzz_steps.c - any bytes as a training log, and as the JSON lines of one.
//
// However the log is cut into chunks, the same steps come out; each is written
// as one line of JSON that reads back as what it was.
#include "base/base.h"

#include "base/file.h"
#include "fuzz.h"
#include "trial/gate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Found {
    Buf lines;
    StepList list;
    Arena *arena;
} Found;

static void take(void *data, const StepRecord *step) {
    Found *found = data;
    if (step->step < 0) BUG("step %lld", (long long)step->step);
    if (strlen(step->phase) >= STEP_PHASE_MAX) BUG("a phase without an end");
    if (step->has_loss && !(step->quantum >= 0)) BUG("quantum %g", step->quantum);
    step_write_json(&found->lines, step);
    step_list_add(&found->list, found->arena, step);
}

// Feeds chunks of up to `most` bytes; their sizes come from the text.
static void parse(Found *out, Arena *arena, Str text, size_t most) {
    StepParser parser;
    uint64_t state = text.len;
    *out = (Found){.arena = arena};
    step_parser_init(&parser, take, out);
    while (text.len) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        size_t n = 1 + (size_t)(state >> 33) % most;
        if (n > text.len) n = text.len;
        step_parser_feed(&parser, (Str){text.at, n});
        text = (Str){text.at + n, text.len - n};
    }
    step_parser_end(&parser);
}

static void check_order(const StepList *list) {
    for (uint32_t i = 1; i < list->len; i++) {
        if (list->at[i - 1].step >= list->at[i].step) BUG("not sorted at %u", (unsigned)i);
        if (step_list_find(list, list->at[i].step) != &list->at[i]) BUG("not found");
    }
}

static bool same_number(bool has, double a, double b) {
    return !has || a == b || (isnan(a) && isnan(b));
}

static void check_same(const StepList *a, const StepList *b) {
    if (a->len != b->len) BUG("%u steps, read %u", (unsigned)a->len, (unsigned)b->len);
    for (uint32_t i = 0; i < a->len; i++) {
        const StepRecord *x = &a->at[i], *y = &b->at[i];
        bool has_time = x->has_time && isfinite(x->step_time_s); // else null
        if (x->step != y->step || x->has_loss != y->has_loss || has_time != y->has_time ||
            !same_number(x->has_loss, x->loss, y->loss) ||
            !same_number(has_time, x->step_time_s, y->step_time_s)) {
            BUG("step %lld reads otherwise", (long long)x->step);
        }
    }
}

// Without fsync, unlike file_write: it is done some thousand times a second.
static void put(const char *path, Str text) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text.at, 1, text.len, file) != text.len || fclose(file) != 0) {
        BUG("cannot write '%s'", path);
    }
}

static char path[] = "/tmp/npufuse-steps-XXXXXX";

static void remove_path(void) {
    remove(path);
}

// The file that a command or another program wrote.
static bool read_back(StepList *out, Arena *arena, Str text) {
    Err err = {{0}};
    put(path, text);
    bool ok = steps_read_jsonl(out, arena, path, &err);
    if (!ok && !err.text[0]) BUG("refused without a word");
    check_order(out);
    return ok;
}

static void check_gate(Arena *arena, const StepList *base, const StepList *other) {
    Gate gate;
    Buf out = {0};
    Json json;
    gate_compare(&gate, arena, base, other, (GateLimits){0.01, 1});
    if (!gate.reason.len) BUG("a verdict without a word");
    if (gate.verdict == GATE_PASS && !(gate.max_rel_diff < INFINITY)) BUG("passed");
    json_init(&json, &out);
    metrics_write(&json, base, other);
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static bool is_ready;
    Str text = {(const char *)data, size};
    Arena arena;
    Found whole, pieces;
    StepList again, given;
    if (!is_ready) {
        if (mkstemp(path) < 0) BUG("cannot make '%s'", path);
        atexit(remove_path);
        is_ready = true;
    }
    arena_init(&arena);
    parse(&whole, &arena, text, size + 1);
    parse(&pieces, &arena, text, 7);
    if (!str_eq(buf_str(&whole.lines), buf_str(&pieces.lines))) BUG("chunks change the steps");
    check_order(&whole.list);
    Buf lines = {0};
    steps_write_jsonl(&lines, &whole.list);
    if (!read_back(&again, &arena, buf_str(&lines))) BUG("what was written does not read");
    check_same(&whole.list, &again);
    read_back(&given, &arena, text);
    check_gate(&arena, &whole.list, &given);
    buf_free(&lines);
    buf_free(&whole.lines);
    buf_free(&pieces.lines);
    arena_free(&arena);
    return 0;
}
