// steps.c - what a line of a training log says of a step.
//
// Logs differ in spelling, not in kind: somewhere a key, a separator and a
// number. So there is one table of keys, with the role that the number has, and
// one pass over the line. Prefixes (time, rank, logger) are passed over by
// themselves. Only progress bars have a form of their own.
#include "base/base.h"

#include "trial/steps.h"

#include <math.h>
#include <stdlib.h>

typedef enum Role {
    ROLE_STEP,
    ROLE_LOSS,
    ROLE_TIME,
    ROLE_EPOCH,
    ROLE_PHASE,
    ROLE_SKIPPED, // iterations whose gradients overflowed
    ROLE_NAN,     // iterations whose loss was nan
    ROLE_SUMMARY, // the line tells of the whole run
    ROLE_COUNT
} Role;

typedef struct Key {
    const char *text; // lower case; matched without regard to case
    Role role;
    uint8_t rank;     // the least one of a line counts
    int8_t shift;     // power of ten that makes it seconds
} Key;

// By first letter; longer keys before those they begin with. Sources: what
// Megatron-LM, MindSpeed, Transformers, ms-swift, LLaMA-Factory, verl, Lightning
// and plain loops print.
static const Key keys[] = {
    {"actor/pg_loss", ROLE_LOSS, 2, 0},
    {"current_steps", ROLE_STEP, 0, 0},
    {"dt", ROLE_TIME, 2, 0},
    {"elapsed time per iteration (ms)", ROLE_TIME, 0, -3},
    {"elapsed time per iteration (s)", ROLE_TIME, 0, 0},
    {"epoch", ROLE_EPOCH, 0, 0},
    {"global_step/max_steps", ROLE_STEP, 0, 0},
    {"global_step", ROLE_STEP, 0, 0},
    {"iteration", ROLE_STEP, 1, 0},
    {"iteration_time_ms", ROLE_TIME, 0, -3},
    {"iteration_time", ROLE_TIME, 1, 0},
    {"iter_time_ms", ROLE_TIME, 0, -3},
    {"iter_time", ROLE_TIME, 1, 0},
    {"iter(train)", ROLE_STEP, 1, 0},
    {"iter", ROLE_STEP, 2, 0},
    {"lm loss", ROLE_LOSS, 0, 0},
    {"loss_step", ROLE_LOSS, 3, 0},
    {"loss", ROLE_LOSS, 1, 0},
    {"number of skipped iterations", ROLE_SKIPPED, 0, 0},
    {"number of nan iterations", ROLE_NAN, 0, 0},
    {"perf/time_per_step", ROLE_TIME, 0, 0},
    {"phase", ROLE_PHASE, 0, 0},
    {"step_time_ms", ROLE_TIME, 0, -3},
    {"step_time_s", ROLE_TIME, 0, 0},
    {"step_time", ROLE_TIME, 0, 0},
    {"step time", ROLE_TIME, 0, 0},
    {"step_ms", ROLE_TIME, 0, -3},
    {"step_loss", ROLE_LOSS, 1, 0},
    {"step", ROLE_STEP, 1, 0},
    {"train/loss", ROLE_LOSS, 1, 0},
    {"train/time(s)", ROLE_TIME, 1, 0},
    {"train_speed(s/it)", ROLE_TIME, 2, 0},
    {"train_runtime", ROLE_SUMMARY, 0, 0},
    {"train_loss", ROLE_LOSS, 3, 0},
    {"training_loss", ROLE_LOSS, 3, 0},
    {"total_loss", ROLE_LOSS, 3, 0},
    {"timing_s/step", ROLE_TIME, 1, 0},
    {"time_ms", ROLE_TIME, 2, -3},
    {"time", ROLE_TIME, 3, 0},
};

enum { RANK_NONE = 255 };

static const double STEP_MAX = 9e15; // below it a double holds every integer

typedef struct Pair {
    uint8_t rank;
    double number, quantum;
    Str word; // of ROLE_PHASE
} Pair;

typedef struct Line {
    Pair pairs[ROLE_COUNT];
    size_t first; // where the first key of a step or a loss is
    bool has_bar;
    int64_t bar_step, bar_total;
    double bar_time_s, bar_quantum_s;
} Line;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_separator(char c) {
    return c == ' ' || c == '\t' || c == '"' || c == '\'' || c == ':' || c == '=' || c == '[' ||
           c == '(' || c == '#';
}

static char lower(char c) {
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static Str skip(Str s, size_t n) {
    return (Str){s.at + n, s.len - n};
}

static bool starts(Str s, const char *text) {
    size_t i = 0;
    while (text[i] && i < s.len && lower(s.at[i]) == text[i]) i++;
    return !text[i];
}

// ---- numbers ----------------------------------------------------------------------

// A decimal number as it stands in the text.
typedef struct Decimal {
    uint64_t digits; // all of them, without the point; meaningless beyond 19
    uint32_t count;  // of digits
    int exponent;    // of ten, of the last digit
    bool negative;
    size_t len;      // of the text; 0: no number
} Decimal;

static size_t add_digits(Decimal *out, Str s, size_t i) {
    for (; i < s.len && is_digit(s.at[i]); i++, out->count++) {
        out->digits = out->digits * 10 + (uint64_t)(s.at[i] - '0');
    }
    return i;
}

// "e-05" at `i`; without digits it is not one.
static size_t add_exponent(Decimal *out, Str s, size_t i) {
    size_t e = i + 1;
    int exponent = 0;
    if (i >= s.len || (s.at[i] != 'e' && s.at[i] != 'E')) return i;
    bool negative = e < s.len && s.at[e] == '-';
    if (e < s.len && (s.at[e] == '-' || s.at[e] == '+')) e++;
    if (e >= s.len || !is_digit(s.at[e])) return i;
    while (e < s.len && is_digit(s.at[e]) && exponent < 1000) {
        exponent = exponent * 10 + (s.at[e++] - '0');
    }
    out->exponent += negative ? -exponent : exponent;
    return e;
}

static Decimal scan_decimal(Str s) {
    Decimal out = {0};
    size_t i = 0;
    if (s.len && (s.at[0] == '-' || s.at[0] == '+')) out.negative = s.at[i++] == '-';
    i = add_digits(&out, s, i);
    if (i < s.len && s.at[i] == '.') {
        size_t point = i + 1;
        i = add_digits(&out, s, point);
        out.exponent = -(int)(i - point);
    }
    if (out.count) out.len = add_exponent(&out, s, i);
    return out;
}

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double power_of_ten(int exponent) {
    int size = abs(exponent);
    if (size >= (int)COUNT(powers)) return pow(10, exponent);
    return exponent < 0 ? 1 / powers[size] : powers[size];
}

// The number times ten to the `shift`. An integer below 2^53 and a power of ten up
// to 1e22 are exact, so one operation on them rounds as strtod does.
static double decimal_value(const Decimal *decimal, Str s, int shift) {
    int exponent = decimal->exponent + shift;
    if (decimal->count <= 15 && abs(exponent) < (int)COUNT(powers)) {
        double n = (double)decimal->digits, power = powers[abs(exponent)];
        n = exponent < 0 ? n / power : n * power;
        return decimal->negative ? -n : n;
    }
    char text[64];
    memcpy(text, s.at, decimal->len);
    text[decimal->len] = 0;
    return strtod(text, NULL) * power_of_ten(shift);
}

// nan or inf at the start of `s`, with the length.
static size_t read_word(Str s, double *value) {
    static const struct {
        const char *text;
        double value;
    } words[] = {{"nan", NAN}, {"-nan", NAN}, {"-inf", -INFINITY}, {"+inf", INFINITY},
                 {"inf", INFINITY}};
    for (size_t i = 0; i < COUNT(words); i++) {
        size_t len = strlen(words[i].text);
        if (!starts(s, words[i].text)) continue;
        if (starts(skip(s, len), "inity")) len += 5;
        if (len < s.len && is_word(s.at[len])) return 0;
        *value = words[i].value;
        return len;
    }
    return 0;
}

// What stands behind a key.
typedef struct Number {
    double value, quantum;
    Str rest; // what follows
} Number;

// A number, nan or inf at the start of `s`; one in milliseconds ("12 ms", or a
// `shift` of -3) becomes seconds where `is_time`.
static bool read_number(Number *out, Str s, int shift, bool is_time) {
    enum { LEN_MAX = 63 };
    Decimal decimal = scan_decimal(s);
    if (!decimal.len) {
        size_t len = read_word(s, &out->value);
        out->quantum = 0;
        out->rest = skip(s, len);
        return len > 0;
    }
    if (decimal.len > LEN_MAX) return false;
    out->rest = skip(s, decimal.len);
    if (is_time && (starts(out->rest, "ms") || starts(out->rest, " ms"))) shift = -3;
    out->value = decimal_value(&decimal, s, shift);
    out->quantum = power_of_ten(decimal.exponent + shift);
    return true;
}

// ---- keys -------------------------------------------------------------------------

// Passes over what may stand between a key and its number.
static Str skip_separator(Str s) {
    size_t i = 0;
    while (i < s.len && i < 8 && is_separator(s.at[i])) i++;
    s = skip(s, i);
    if (i && starts(s, "is ")) return skip(s, 3); // loss is 0.5
    bool is_wrapped = starts(s, "np.float") || starts(s, "tensor("); // np.float64(0.5)
    const char *open = is_wrapped ? memchr(s.at, '(', s.len < 14 ? s.len : 14) : NULL;
    return open ? skip(s, (size_t)(open + 1 - s.at)) : s;
}

// "validation loss", "eval loss": not of a training step.
static bool is_of_evaluation(Str line, size_t at) {
    static const char *const words[] = {"validation ", "eval ", "val ", "test ", "valid "};
    for (size_t i = 0; i < COUNT(words); i++) {
        size_t len = strlen(words[i]);
        if (at >= len && starts((Str){line.at + at - len, len}, words[i])) return true;
    }
    return false;
}

static bool starts_with_one_of(Str s, const char *const *words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(words[i]);
        if (starts(s, words[i]) && (len == s.len || !is_word(s.at[len]))) return true;
    }
    return false;
}

// "[eval]", "Validation step", "evaluating: 9%" at the start of `s`, which begin a
// line of an evaluation; not "eval: false", "val: 0.3", "val acc".
static bool names_evaluation(Str s) {
    static const char *const words[] = {"eval", "val", "valid", "evaluation", "validation",
                                        "evaluating", "validating"};
    static const char *const next[] = {"step", "global_step", "iteration", "iter", "epoch",
                                       "loss", "at", "after"};
    static const char *const none[] = {"false", "none", "null", "no", "off"};
    if (!starts_with_one_of(s, words, COUNT(words))) return false;
    size_t i = 0, digits = 0;
    while (i < s.len && is_word(s.at[i])) i++;
    Str value = skip_separator(skip(s, i));
    while (digits < value.len && is_digit(value.at[digits])) digits++;
    if (digits) return digits < value.len && value.at[digits] == '%'; // a bar
    while (i < s.len && s.at[i] == ' ') i++;
    bool is_adjective = i < s.len && is_word(s.at[i]);
    if (is_adjective) return starts_with_one_of(skip(s, i), next, COUNT(next));
    return !starts_with_one_of(value, none, COUNT(none));
}

static bool is_line_of_evaluation(const Line *line, Str text) {
    const Pair *phase = &line->pairs[ROLE_PHASE];
    if (phase->rank != RANK_NONE && names_evaluation(phase->word)) return true;
    for (size_t i = 0; i < line->first && i < text.len; i++) {
        char c = text.at[i] | 0x20;
        bool may_be = c == 'e' || c == 'v';
        if (may_be && (i == 0 || !is_word(text.at[i - 1])) && names_evaluation(skip(text, i))) {
            return true;
        }
    }
    return false;
}

// What follows the 2026 of 2026-03-01, the 10 of 10:00:00.
static bool is_clock(Str rest) {
    return rest.len > 1 && strchr("-:", rest.at[0]) && is_digit(rest.at[1]);
}

static void take_word(Pair *out, Str value) {
    size_t n = 0;
    while (n < value.len && is_word(value.at[n])) n++;
    out->word = (Str){value.at, n};
}

static bool has_fraction(double value) {
    return isfinite(value) && floor(value) != value;
}

static void take_pair(Line *out, const Key *key, Str rest) {
    Pair *pair = &out->pairs[key->role], found = {.rank = key->rank};
    if (key->rank >= pair->rank) return;
    Str value = skip_separator(rest);
    if (value.at == rest.at) return; // "iterator", "steps"
    if (key->role == ROLE_PHASE) {
        take_word(&found, value);
    } else {
        Number number;
        bool is_time = key->role == ROLE_TIME;
        if (!read_number(&number, value, key->shift, is_time)) return;
        if (is_time && is_clock(number.rest)) return;
        if (key->role == ROLE_STEP && has_fraction(number.value)) return; // "step 0.31s"
        found.number = number.value;
        found.quantum = number.quantum;
    }
    *pair = found;
}

// Tries the keys that begin with this letter at a place where a word begins.
static size_t take_key(Line *out, const StepParser *parser, Str line, size_t at) {
    Str here = skip(line, at);
    size_t i = parser->first_key[(uint8_t)here.at[0]];
    char first = keys[i].text[0], second = lower(here.at[1]);
    for (; i < COUNT(keys) && keys[i].text[0] == first; i++) {
        const Key *key = &keys[i];
        if (key->text[1] != second || !starts(here, key->text)) continue;
        size_t len = strlen(key->text);
        if (len < here.len && (is_word(here.at[len]) || here.at[len] == '/')) continue;
        if (key->role == ROLE_LOSS && is_of_evaluation(line, at)) return len;
        take_pair(out, key, skip(here, len));
        bool is_first = key->role == ROLE_STEP || key->role == ROLE_LOSS;
        if (is_first && at < out->first) out->first = at;
        return len;
    }
    return 0;
}

// ---- progress bars ------------------------------------------------------------------

// "12/" at the start: the cheap look at what most numbers are not.
static bool begins_bar(Str s) {
    size_t i = 0;
    while (i < s.len && is_digit(s.at[i])) i++;
    return i + 1 < s.len && s.at[i] == '/' && is_digit(s.at[i + 1]);
}

// "1.50s/it" or "2.10it/s" in what follows the bar.
static void take_rate(Line *out, Str bar) {
    for (size_t i = 0; i + 3 < bar.len; i++) {
        bool per_step = starts(skip(bar, i), "s/it"), per_second = starts(skip(bar, i), "it/s");
        if (!per_step && !per_second) continue;
        size_t start = i;
        while (start > 0 && (is_digit(bar.at[start - 1]) || bar.at[start - 1] == '.')) start--;
        Number rate;
        if (!read_number(&rate, skip(bar, start), 0, false) || rate.value <= 0) return;
        out->bar_time_s = per_step ? rate.value : 1 / rate.value;
        out->bar_quantum_s = per_step ? rate.quantum : rate.quantum / (rate.value * rate.value);
        return;
    }
}

// "12/100 [00:05<00:40, 2.1it/s, loss=0.5]": at the digit that begins it.
static void take_bar(Line *out, Str here) {
    Number done, total;
    if (out->has_bar || !begins_bar(here) || !read_number(&done, here, 0, false)) return;
    if (!read_number(&total, skip(done.rest, 1), 0, false)) return;
    Str rest = total.rest;
    if (!starts(rest, " [") || !memchr(rest.at, '<', rest.len)) return;
    out->has_bar = true;
    out->bar_step = done.value < STEP_MAX ? (int64_t)done.value : 0;
    out->bar_total = total.value < STEP_MAX ? (int64_t)total.value : 0;
    take_rate(out, rest);
}

// A word begins behind anything but these.
static bool is_glue(char c) {
    return is_word(c) || c == '/' || c == '.';
}

static void find_bar(Line *out, Str line) {
    if (!memchr(line.at, '<', line.len)) return;
    for (size_t i = 0; i < line.len && !out->has_bar; i++) {
        if (is_digit(line.at[i]) && (i == 0 || !is_glue(line.at[i - 1]))) {
            take_bar(out, skip(line, i));
        }
    }
}

// Bit 0: whether a key begins with this byte and the next.
static uint32_t begins_key(const uint32_t *seconds, const uint8_t *at) {
    return seconds[at[0]] >> (at[1] & 31);
}

// The next pair of letters that a key begins with; few do. Four at a time, for
// this is where the time goes.
static size_t find_pair(const uint32_t *seconds, Str line, size_t i) {
    const uint8_t *at = (const uint8_t *)line.at;
    for (; i + 4 < line.len; i += 4) {
        uint32_t hits = begins_key(seconds, at + i) | begins_key(seconds, at + i + 1) |
                        begins_key(seconds, at + i + 2) | begins_key(seconds, at + i + 3);
        if (hits & 1) break;
    }
    while (i + 1 < line.len && !(begins_key(seconds, at + i) & 1)) i++;
    return i;
}

static void read_line(Line *out, const StepParser *parser, Str line) {
    *out = (Line){.first = line.len};
    for (int i = 0; i < ROLE_COUNT; i++) out->pairs[i].rank = RANK_NONE;
    find_bar(out, line);
    for (size_t i = 0; (i = find_pair(parser->seconds, line, i)) + 1 < line.len; i++) {
        if (i == 0 || !is_glue(line.at[i - 1])) i += take_key(out, parser, line, i);
    }
}

static const int64_t BAR_MAX = INT64_C(9000000000000000);

// ---- records ------------------------------------------------------------------------

// The step of a bar that tells the loss itself. A bar is drawn more than once at the
// same step. Where it is far back, it began anew, as in each epoch: steps go on.
static int64_t step_of_bar(StepParser *parser, int64_t shown) {
    if (shown * 2 <= parser->bar_last && shown != parser->bar_last) {
        parser->bar_offset = parser->last;
    }
    parser->bar_last = shown;
    int64_t step = shown + parser->bar_offset;
    return step < BAR_MAX ? step : BAR_MAX;
}

static StepEpoch *find_epoch(StepParser *parser, double number) {
    uint32_t count = parser->epoch_count;
    for (uint32_t i = 0; i < STEP_EPOCHS_MAX && i < count; i++) {
        if (parser->epochs[i].number == number) return &parser->epochs[i];
    }
    return NULL;
}

// One that begins with this step. Steps that begin anew go on from the last one
// of the epoch before; those that do not are higher than where that one began.
static StepEpoch *add_epoch(StepParser *parser, double number, int64_t step) {
    StepEpoch added = {.number = number, .first = step};
    if (parser->epoch_count) {
        const StepEpoch *before = &parser->epochs[(parser->epoch_count - 1) % STEP_EPOCHS_MAX];
        bool goes_on = number > before->number;
        if (goes_on && step <= before->first) added.offset = before->last + (step == 0);
        else if (goes_on) added.offset = before->offset;
    }
    StepEpoch *place = &parser->epochs[parser->epoch_count++ % STEP_EPOCHS_MAX];
    *place = added;
    return place;
}

static int64_t step_in_epoch(StepParser *parser, double number, int64_t step) {
    if (!isfinite(number) || floor(number) != number) return step; // a Trainer's 0.37
    StepEpoch *epoch = find_epoch(parser, number);
    if (!epoch) epoch = add_epoch(parser, number, step);
    step += epoch->offset;
    if (step > (int64_t)STEP_MAX) step = (int64_t)STEP_MAX;
    if (step > epoch->last) epoch->last = step;
    return step;
}

// The step's number, where the line or the bar has one; else counted.
static int64_t step_number(StepParser *parser, const Line *line) {
    const Pair *step = &line->pairs[ROLE_STEP], *epoch = &line->pairs[ROLE_EPOCH];
    if (step->rank == RANK_NONE) {
        parser->total = line->has_bar ? line->bar_total : parser->shown_total;
        if (line->has_bar) return parser->last = step_of_bar(parser, line->bar_step);
        return parser->last = parser->shown > parser->last ? parser->shown : parser->last + 1;
    }
    int64_t number = (int64_t)step->number;
    if (epoch->rank != RANK_NONE) number = step_in_epoch(parser, epoch->number, number);
    return parser->last = number;
}

static uint32_t whole_of(const Pair *pair) {
    bool has = pair->rank != RANK_NONE && pair->number >= 0 && pair->number < 1e9;
    return has ? (uint32_t)pair->number : 0;
}

static void give(StepParser *parser, const Line *line) {
    const Pair *loss = &line->pairs[ROLE_LOSS], *time = &line->pairs[ROLE_TIME];
    const Pair *phase = &line->pairs[ROLE_PHASE];
    StepRecord record = {.step = step_number(parser, line)};
    record.has_loss = loss->rank != RANK_NONE;
    record.loss = loss->number;
    record.quantum = loss->quantum;
    double bar = line->has_bar ? line->bar_time_s : parser->shown_time_s;
    record.has_time = time->rank != RANK_NONE || bar > 0;
    record.step_time_s = time->rank != RANK_NONE ? time->number : bar;
    record.time_quantum_s = time->rank != RANK_NONE ? time->quantum
                            : line->has_bar         ? line->bar_quantum_s
                                                    : parser->shown_quantum_s;
    record.skipped = whole_of(&line->pairs[ROLE_SKIPPED]);
    record.nans = whole_of(&line->pairs[ROLE_NAN]);
    size_t n = phase->word.len < STEP_PHASE_MAX ? phase->word.len : STEP_PHASE_MAX - 1;
    if (n) memcpy(record.phase, phase->word.at, n);
    parser->take(parser->data, &record);
}

static void take_line(StepParser *parser, Str text) {
    Line line;
    read_line(&line, parser, text);
    const Pair *step = &line.pairs[ROLE_STEP];
    if (line.pairs[ROLE_SUMMARY].rank != RANK_NONE) return;
    bool has_step = step->rank != RANK_NONE;
    if (has_step && !(step->number >= 0 && step->number < STEP_MAX)) return;
    bool has_loss = line.pairs[ROLE_LOSS].rank != RANK_NONE;
    bool has_time = line.pairs[ROLE_TIME].rank != RANK_NONE;
    // {'loss': ...} is the form that leaves the step to a progress bar.
    bool is_counted = !has_step && has_loss && (line.has_bar || memchr(text.at, '{', text.len));
    bool tells = is_counted || (has_step && (has_loss || has_time));
    if ((tells || line.has_bar) && is_line_of_evaluation(&line, text)) return;
    if (tells) give(parser, &line);
    // A bar of another total is one of the evaluation.
    if (!line.has_bar || (parser->total > 0 && line.bar_total != parser->total)) return;
    parser->shown = line.bar_step;
    parser->shown_total = line.bar_total;
    parser->shown_time_s = line.bar_time_s;
    parser->shown_quantum_s = line.bar_quantum_s;
}

// ---- lines ----------------------------------------------------------------------------

// Takes out "\x1b[31m" and the like, in place.
static Str without_escapes(Str line) {
    char *at = (char *)(uintptr_t)line.at, *end = at;
    if (!memchr(at, 0x1b, line.len)) return line;
    for (size_t i = 0; i < line.len; i++) {
        if (at[i] != 0x1b) {
            *end++ = at[i];
            continue;
        }
        if (i + 1 < line.len && at[i + 1] == '[') i++;
        while (i + 1 < line.len && !(at[i + 1] >= '@' && at[i + 1] <= '~')) i++;
        i++;
    }
    return (Str){at, (size_t)(end - at)};
}

// A whole line; where it has escapes they are taken out of a copy.
static void end_line(StepParser *parser, Str line) {
    if (line.len && line.at != parser->line.at && memchr(line.at, 0x1b, line.len)) {
        buf_add(&parser->line, line);
        line = buf_str(&parser->line);
    }
    if (line.at == parser->line.at) line = without_escapes(line);
    if (line.len && !parser->is_long) take_line(parser, line);
    buf_clear(&parser->line);
    parser->is_long = false;
}

// A part of a line: the rest comes with the next chunk.
static void add_part(StepParser *parser, Str part) {
    if (parser->line.len + part.len > STEP_LINE_MAX) {
        parser->is_long = true;
        buf_clear(&parser->line);
    }
    if (!parser->is_long) buf_add(&parser->line, part);
}

static void end_part(StepParser *parser, Str part) {
    bool is_whole = !parser->line.len && part.len <= STEP_LINE_MAX;
    if (!is_whole) add_part(parser, part);
    end_line(parser, is_whole ? part : buf_str(&parser->line));
}

static void init_tables(StepParser *parser) {
    for (size_t i = COUNT(keys); i-- > 0;) {
        uint8_t letter = (uint8_t)keys[i].text[0], capital = (uint8_t)(letter - 'a' + 'A');
        parser->first_key[letter] = parser->first_key[capital] = (uint8_t)i;
        parser->seconds[letter] |= UINT32_C(1) << (keys[i].text[1] & 31);
        parser->seconds[capital] = parser->seconds[letter];
    }
}

void step_parser_init(StepParser *parser, void (*take)(void *data, const StepRecord *step),
                      void *data) {
    *parser = (StepParser){.take = take, .data = data, .shown = -1};
    init_tables(parser);
}

// Lines end with \n, \r or both.
static void feed_lines(StepParser *parser, Str text) {
    const char *end;
    while (text.len && (end = memchr(text.at, '\r', text.len))) {
        size_t len = (size_t)(end - text.at);
        end_part(parser, (Str){text.at, len});
        text = skip(text, len + 1);
    }
    end_part(parser, text);
}

void step_parser_feed(StepParser *parser, Str chunk) {
    const char *end;
    while (chunk.len && (end = memchr(chunk.at, '\n', chunk.len))) {
        size_t len = (size_t)(end - chunk.at);
        feed_lines(parser, (Str){chunk.at, len});
        chunk = skip(chunk, len + 1);
    }
    while (chunk.len && (end = memchr(chunk.at, '\r', chunk.len))) {
        size_t len = (size_t)(end - chunk.at);
        end_part(parser, (Str){chunk.at, len});
        chunk = skip(chunk, len + 1);
    }
    if (chunk.len) add_part(parser, chunk);
}

void step_parser_end(StepParser *parser) {
    end_line(parser, buf_str(&parser->line));
    buf_free(&parser->line);
}

// ---- lists ----------------------------------------------------------------------------

// The index of the first record that is not before `step`.
static uint32_t find_place(const StepList *list, int64_t step) {
    uint32_t low = 0, high = list->len;
    if (high && list->at[high - 1].step < step) return high;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list->at[middle].step < step) low = middle + 1;
        else high = middle;
    }
    return low;
}

void step_merge(StepRecord *into, const StepRecord *step) {
    StepRecord kept = *into;
    *into = *step;
    // Another rank, or another line, may have told the rest.
    if (!step->has_loss && kept.has_loss) {
        into->has_loss = true;
        into->loss = kept.loss;
        into->quantum = kept.quantum;
    }
    if (!step->has_time && kept.has_time) {
        into->has_time = true;
        into->step_time_s = kept.step_time_s;
        into->time_quantum_s = kept.time_quantum_s;
    }
}

void step_list_add(StepList *list, Arena *arena, const StepRecord *step) {
    uint32_t place = find_place(list, step->step);
    if (place < list->len && list->at[place].step == step->step) {
        step_merge(&list->at[place], step);
        return;
    }
    vec_push(arena, list, *step);
    memmove(list->at + place + 1, list->at + place,
            (list->len - 1 - place) * sizeof(*list->at));
    list->at[place] = *step;
}

const StepRecord *step_list_find(const StepList *list, int64_t step) {
    uint32_t place = find_place(list, step);
    bool found = place < list->len && list->at[place].step == step;
    return found ? &list->at[place] : NULL;
}
