// steps_json.c - steps as JSON lines: written, and read from a file that a command
// or another program wrote.
#include "base/base.h"

#include "trial/steps.h"

#include "base/file.h"
#include "model/json_read.h"

#include <math.h>
#include <stdlib.h>

// ---- writing ----------------------------------------------------------------------------

// The names are written as they are: a log may have millions of steps.
void step_write_json(Buf *out, const StepRecord *step) {
    Json json;
    json_init(&json, out);
    buf_add(out, STR("{\"step\": "));
    json_int_write(&json, step->step);
    buf_add(out, STR(", \"loss\": "));
    json_double_if(&json, step->has_loss, step->loss);
    buf_add(out, STR(", \"step_time\": "));
    json_double_if(&json, step->has_time, step->step_time_s);
    if (step->phase[0]) {
        buf_add(out, STR(", \"phase\": "));
        json_str(&json, str_of(step->phase));
    }
    if (step->has_loss && !isfinite(step->loss)) {
        const char *text = isnan(step->loss) ? "nan" : step->loss > 0 ? "inf" : "-inf";
        buf_add(out, STR(", \"loss_text\": "));
        json_str(&json, str_of(text));
    }
    buf_add(out, STR("}\n"));
}

void steps_write_jsonl(Buf *out, const StepList *list) {
    for (uint32_t i = 0; i < list->len; i++) step_write_json(out, &list->at[i]);
}

// A loss that JSON has no number for.
static bool read_loss_text(StepRecord *out, Str text) {
    enum { LONGEST = 63 };
    char copy[LONGEST + 1], *end;
    if (!text.len || text.len > LONGEST) return false;
    memcpy(copy, text.at, text.len);
    copy[text.len] = 0;
    out->loss = strtod(copy, &end);
    return end == copy + text.len;
}

static bool read_json_step(StepRecord *out, const JsonVal *v, Err *err) {
    const JsonVal *loss = json_member(v, "loss"), *time = json_member(v, "step_time");
    *out = (StepRecord){.step = json_int(json_member(v, "step"), -1)};
    if (out->step < 0) return err_set(err, "'step' is no number from 0 up");
    out->has_loss = json_is_number(loss);
    out->loss = json_number(loss, 0);
    if (!out->has_loss) {
        Str text = json_text(loss);
        if (!text.len) text = json_text(json_member(v, "loss_text"));
        out->has_loss = read_loss_text(out, text);
    }
    out->has_time = json_is_number(time);
    out->step_time_s = json_number(time, 0);
    Str phase = json_text(json_member(v, "phase"));
    if (phase.len < STEP_PHASE_MAX) memcpy(out->phase, phase.at, phase.len);
    return true;
}

// ---- what a file of steps resolves ------------------------------------------------------

// What the last digit is worth in the shortest text that gives `number`.
static double last_digit(double number) {
    for (double ten = 1; ten < 1e15; ten *= 10) { // each is exact
        double digits = nearbyint(fabs(number) * ten);
        if (digits >= 1e15) break;
        if (digits / ten == fabs(number)) return 1 / ten;
    }
    return 0;
}

static int compare_losses(const void *a, const void *b) {
    double x = (*(const StepRecord *const *)a)->loss, y = (*(const StepRecord *const *)b)->loss;
    return x < y ? -1 : x > y;
}

static uint32_t count_losses(const StepList *list, Arena *scratch) {
    const StepRecord **losses = NEW_N(scratch, const StepRecord *, list->len + 1);
    uint32_t count = 0, different = 0;
    for (uint32_t i = 0; i < list->len; i++) {
        if (list->at[i].has_loss && isfinite(list->at[i].loss)) losses[count++] = &list->at[i];
    }
    qsort(losses, count, sizeof(*losses), compare_losses);
    for (uint32_t i = 0; i < count; i++) different += !i || losses[i]->loss != losses[i - 1]->loss;
    return different;
}

// JSON does not say how many digits a log had. Many different losses, none with
// more than a few digits, were rounded; of few losses that is not known. No clock
// gives times of few digits.
static void find_quanta(StepList *list, Arena *scratch) {
    enum { DIFFERENT_MIN = 20 };
    bool is_known = count_losses(list, scratch) >= DIFFERENT_MIN;
    for (uint32_t i = 0; i < list->len; i++) {
        StepRecord *step = &list->at[i];
        bool has_loss = is_known && step->has_loss && isfinite(step->loss);
        if (has_loss) step->quantum = last_digit(step->loss);
        if (step->has_time) step->time_quantum_s = last_digit(step->step_time_s);
    }
}

// ---- reading ------------------------------------------------------------------------------

typedef struct Numbered {
    StepRecord step;
    uint32_t line;
} Numbered;

typedef VEC(Numbered) NumberedList;

static int compare_numbered(const void *a, const void *b) {
    const Numbered *x = a, *y = b;
    if (x->step.step != y->step.step) return x->step.step < y->step.step ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

// The values of a line are dropped at once; empty lines are passed over.
static bool add_json_line(NumberedList *out, Arena *scratch, Arena *values, Str line, Err *err) {
    const JsonVal *v;
    Numbered added = {.line = out->len};
    while (line.len && (line.at[line.len - 1] == '\r' || line.at[line.len - 1] == ' ')) line.len--;
    if (!line.len) return true;
    arena_clear(values);
    if (!json_read_loose(&v, values, line, err)) return false;
    if (!read_json_step(&added.step, v, err)) return false;
    vec_push(scratch, out, added);
    return true;
}

static bool read_lines(NumberedList *out, Arena *scratch, const char *path, Err *err) {
    enum { BYTES_MAX = 1024 * 1024 * 1024 };
    Str text;
    Arena values;
    bool ok = file_read(&text, scratch, path, BYTES_MAX, err);
    if (!ok) return false;
    arena_init(&values);
    if (str_starts(text, "\xef\xbb\xbf")) text = (Str){text.at + 3, text.len - 3};
    for (uint32_t number = 1; ok && text.len; number++) {
        Str line = str_take(&text, '\n');
        Err fault;
        ok = add_json_line(out, scratch, &values, line, &fault) ||
             err_set(err, "'%.200s':%u: %.200s", path, (unsigned)number, fault.text);
    }
    arena_free(&values);
    return ok;
}

bool steps_read_jsonl(StepList *out, Arena *arena, const char *path, Err *err) {
    Arena scratch;
    NumberedList lines = {0};
    *out = (StepList){0};
    arena_init(&scratch);
    bool ok = read_lines(&lines, &scratch, path, err);
    if (ok && lines.len) {
        qsort(lines.at, lines.len, sizeof(*lines.at), compare_numbered);
        for (uint32_t i = 0; i < lines.len; i++) step_list_add(out, arena, &lines.at[i].step);
        find_quanta(out, &scratch);
    }
    arena_free(&scratch);
    return ok;
}
