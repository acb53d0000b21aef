// steps.c - what a line of a training log says of a step.
//
// Logs differ in spelling, not in kind: somewhere a key, a separator and a
// number. So there is one table of keys, with the role that the number has, and
// one pass over the line. Prefixes (time, rank, logger) are passed over by
// themselves. Only progress bars have a form of their own.
//
// Most lines of most logs tell nothing of a step. They are passed over by blocks
// of bytes (find_mark), which the compiler turns into vector code.
#include "base/base.h"

#include "trial/steps.h"

#include "base/file.h"
#include "model/json_read.h"

#include <math.h>
#include <stdio.h>
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
    int8_t power;     // of ten, to seconds
} Key;

enum { MILLI = -3 };

// Longer keys before those they begin with. Sources: what Megatron-LM,
// MindSpeed, Transformers, ms-swift, LLaMA-Factory, verl and plain loops print.
static const Key keys[] = {
    {"step_time_ms", ROLE_TIME, 0, MILLI},
    {"step_time_s", ROLE_TIME, 0, 0},
    {"step_time", ROLE_TIME, 0, 0},
    {"step time", ROLE_TIME, 0, 0},
    {"step_ms", ROLE_TIME, 0, MILLI},
    {"elapsed time per iteration (ms)", ROLE_TIME, 0, MILLI},
    {"elapsed time per iteration (s)", ROLE_TIME, 0, 0},
    {"perf/time_per_step", ROLE_TIME, 0, 0},
    {"timing_s/step", ROLE_TIME, 1, 0},
    {"train/time(s)", ROLE_TIME, 1, 0},
    {"train_speed(s/it)", ROLE_TIME, 2, 0},
    {"iter_time", ROLE_TIME, 1, 0},
    {"time_ms", ROLE_TIME, 2, MILLI},
    {"time", ROLE_TIME, 3, 0},
    {"global_step/max_steps", ROLE_STEP, 0, 0},
    {"global_step", ROLE_STEP, 0, 0},
    {"current_steps", ROLE_STEP, 0, 0},
    {"iteration", ROLE_STEP, 1, 0},
    {"iter", ROLE_STEP, 2, 0},
    {"step", ROLE_STEP, 1, 0},
    {"lm loss", ROLE_LOSS, 0, 0},
    {"train/loss", ROLE_LOSS, 1, 0},
    {"actor/pg_loss", ROLE_LOSS, 2, 0},
    {"step_loss", ROLE_LOSS, 1, 0},
    {"loss", ROLE_LOSS, 1, 0},
    {"train_loss", ROLE_LOSS, 3, 0},
    {"training_loss", ROLE_LOSS, 3, 0},
    {"total_loss", ROLE_LOSS, 3, 0},
    {"loss_step", ROLE_LOSS, 3, 0},
    {"number of skipped iterations", ROLE_SKIPPED, 0, 0},
    {"number of nan iterations", ROLE_NAN, 0, 0},
    {"train_runtime", ROLE_SUMMARY, 0, 0},
    {"epoch", ROLE_EPOCH, 0, 0},
    {"phase", ROLE_PHASE, 0, 0},
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
    bool has_bar;
    int64_t bar_step, bar_total;
    double bar_time_s, bar_quantum_s;
} Line;

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

static bool is_word(char c) {
    static const char words[256] = {
        ['0'] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, ['_'] = 1,
        ['a'] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
        ['A'] = 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,
    };
    return words[(unsigned char)c];
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

// 10^power; exact for those that are doubles.
static double ten_to(int power) {
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                  1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (power >= 0 && power < (int)COUNT(tens)) return tens[power];
    if (power < 0 && -power < (int)COUNT(tens)) return 1 / tens[-power];
    return pow(10, power);
}

// The nearest double to the digits of `s` times 10^power.
static double value_of_digits(Str s, int power) {
    enum { EXACT_DIGITS = 15, EXACT_POWER = 22, DIGITS_MAX = 64 };
    char text[DIGITS_MAX + 16];
    size_t n = 0;
    uint64_t whole = 0;
    for (size_t i = 0; i < s.len && n < DIGITS_MAX; i++) {
        if (!is_digit(s.at[i])) continue;
        if (n < EXACT_DIGITS) whole = whole * 10 + (uint64_t)(s.at[i] - '0');
        text[n++] = s.at[i];
    }
    // Both are doubles, so that one rounding is all (W. Clinger, 1990).
    if (n <= EXACT_DIGITS && power >= 0 && power <= EXACT_POWER) {
        return (double)whole * ten_to(power);
    }
    if (n <= EXACT_DIGITS && power < 0 && power >= -EXACT_POWER) {
        return (double)whole / ten_to(-power);
    }
    snprintf(text + n, sizeof(text) - n, "e%d", power);
    return strtod(text, NULL);
}

// "nan", "-inf", "Infinity" at the start of `s`.
static bool read_word(Str s, Pair *out, Str *rest) {
    static const struct {
        const char *text;
        double value;
    } words[] = {{"nan", NAN}, {"-inf", -INFINITY}, {"+inf", INFINITY}, {"inf", INFINITY}};
    for (size_t i = 0; i < COUNT(words); i++) {
        size_t len = strlen(words[i].text);
        if (!starts(s, words[i].text)) continue;
        if (starts(skip(s, len), "inity")) len += 5;
        if (len < s.len && is_word(s.at[len])) return 0;
        *value = words[i].value;
        return len;
    }
    return false;
}

// A number at the start of `s`, times 10^power, or nan or inf; *rest is what
// follows.
static bool read_number(Str s, int power, Pair *out, Str *rest) {
    enum { LONGEST = 64 };
    int decimals, exponent;
    size_t len = number_length(s, &decimals, &exponent);
    if (!len) return read_word(s, out, rest);
    if (len >= LONGEST) return false;
    size_t digits = 0;
    while (digits < len && s.at[digits] != 'e' && s.at[digits] != 'E') digits++;
    power += exponent - decimals;
    out->number = value_of_digits((Str){s.at, digits}, power);
    if (s.at[0] == '-') out->number = -out->number;
    out->quantum = ten_to(power);
    *rest = skip(s, len);
    return true;
}

// ---- keys -------------------------------------------------------------------------

// Passes over what may stand between a key and its number.
static Str skip_separator(Str s) {
    size_t i = 0;
    while (i < s.len && i < 8 && is_separator(s.at[i])) i++;
    s = skip(s, i);
    if (starts(s, "np.float")) { // np.float64(0.5)
        const char *open = memchr(s.at, '(', s.len < 14 ? s.len : 14);
        if (open) s = skip(s, (size_t)(open + 1 - s.at));
    }
    return s;
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

// What follows the 2026 of 2026-03-01, the 10 of 10:00:00.
static bool is_clock(Str rest) {
    return rest.len > 1 && strchr("-:", rest.at[0]) && is_digit(rest.at[1]);
}

static void take_word(Pair *out, Str value) {
    size_t n = 0;
    while (n < value.len && is_word(value.at[n])) n++;
    out->word = (Str){value.at, n};
}

static void take_pair(Line *out, const Key *key, Str rest) {
    Pair *pair = &out->pairs[key->role], found = {.rank = key->rank};
    if (key->rank >= pair->rank) return;
    Str value = skip_separator(rest);
    if (value.at == rest.at) return; // "iterator", "steps"
    if (key->role == ROLE_PHASE) {
        size_t n = 0;
        while (n < value.len && is_word(value.at[n])) n++;
        found.word = (Str){value.at, n};
        *pair = found;
        return;
    }
    if (!read_number(value, key->power, &found, &rest)) return;
    if (key->role == ROLE_TIME) {
        if (is_clock(rest)) return;
        bool is_ms = starts(rest, "ms") || starts(rest, " ms");
        if (is_ms && !read_number(value, MILLI, &found, &rest)) return;
    }
    *pair = found;
}

// Which keys begin with which letter: a bit for each row.
static void index_keys(StepParser *parser) {
    for (size_t i = 0; i < COUNT(keys); i++) {
        parser->keys_of[keys[i].text[0] - 'a'] |= UINT64_C(1) << i;
    }
}

// Tries the keys that begin with this letter at a place where a word begins.
static size_t take_key(const StepParser *parser, Line *out, Str line, size_t at) {
    Str here = skip(line, at);
    char first = lower(here.at[0]);
    uint64_t left = first >= 'a' && first <= 'z' ? parser->keys_of[first - 'a'] : 0;
    for (size_t i = 0; left; i++, left >>= 1) {
        while (!(left & 1)) i++, left >>= 1;
        const Key *key = &keys[i];
        if (!starts(here, key->text)) continue;
        size_t len = strlen(key->text);
        if (len < here.len && (is_word(here.at[len]) || here.at[len] == '/')) continue;
        if (key->role == ROLE_LOSS && is_of_evaluation(line, at)) return len;
        take_pair(out, key, skip(here, len));
        return len;
    }
    return 0;
}

// ---- progress bars ------------------------------------------------------------------

// "12/100 [00:05<00:40, 2.1it/s, loss=0.5]": at the digit that begins it.
static void take_bar(Line *out, Str line, size_t at) {
    Pair done = {0}, total = {0}, rate = {0};
    Str rest;
    if (out->has_bar || !read_number(skip(line, at), 0, &done, &rest)) return;
    if (!rest.len || rest.at[0] != '/' || !read_number(skip(rest, 1), 0, &total, &rest)) return;
    if (!starts(rest, " [") || !memchr(rest.at, '<', rest.len)) return;
    out->has_bar = true;
    out->bar_step = done.number < STEP_MAX ? (int64_t)done.number : 0;
    out->bar_total = total.number < STEP_MAX ? (int64_t)total.number : 0;
    for (size_t i = 0; i + 3 < rest.len; i++) {
        bool per_step = starts(skip(rest, i), "s/it"), per_second = starts(skip(rest, i), "it/s");
        if (!per_step && !per_second) continue;
        size_t start = i;
        while (start > 0 && (is_digit(rest.at[start - 1]) || rest.at[start - 1] == '.')) start--;
        Str after;
        if (!read_number(skip(rest, start), 0, &rate, &after) || rate.number <= 0) return;
        out->bar_time_s = per_step ? rate.number : 1 / rate.number;
        out->bar_quantum_s = per_step ? rate.quantum
                                      : rate.quantum / (rate.number * rate.number);
        return;
    }
}

static void read_line(const StepParser *parser, Line *out, Str line) {
    *out = (Line){0};
    for (int i = 0; i < ROLE_COUNT; i++) out->pairs[i].rank = RANK_NONE;
    bool begins = true; // a word may begin here
    for (size_t i = 0; i < line.len;) {
        char c = line.at[i];
        if (!is_word(c)) {
            begins = c != '/' && c != '.';
            out->is_dict |= c == '{';
            i++;
            continue;
        }
        size_t taken = 0;
        if (begins && is_digit(c)) take_bar(out, line, i);
        else if (begins) taken = take_key(parser, out, line, i);
        i += taken;
        while (!taken && i < line.len && is_word(line.at[i])) i++;
        begins = false;
    }
    return 0;
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
    out->bar_time_s = read_rate(rest);
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
    *out = (Line){0};
    for (int i = 0; i < ROLE_COUNT; i++) out->pairs[i].rank = RANK_NONE;
    find_bar(out, line);
    for (size_t i = 0; (i = find_pair(parser->seconds, line, i)) + 1 < line.len; i++) {
        if (i == 0 || !is_glue(line.at[i - 1])) i += take_key(out, parser, line, i);
    }
}

// ---- records ------------------------------------------------------------------------

// The step's number, where the line or the bar has one; else counted.
static int64_t step_number(StepParser *parser, const Line *line) {
    const Pair *step = &line->pairs[ROLE_STEP], *epoch = &line->pairs[ROLE_EPOCH];
    if (step->rank == RANK_NONE) {
        parser->total = line->has_bar ? line->bar_total : parser->shown_total;
        int64_t shown = line->has_bar ? line->bar_step : parser->shown;
        return parser->last = shown > parser->last ? shown : parser->last + 1;
    }
    int64_t number = (int64_t)step->number;
    if (epoch->rank != RANK_NONE) {
        // Steps that begin anew in each epoch go on from the last one.
        bool anew = parser->epoch >= 0 && epoch->number > parser->epoch &&
                    parser->last < STEP_MAX &&
                    number + parser->offset <= parser->last &&
                    floor(epoch->number) == epoch->number;
        if (anew) parser->offset = parser->last + (number == 0 ? 1 : 0);
        parser->epoch = epoch->number;
        number += parser->offset;
    }
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
    read_line(parser, &line, text);
    const Pair *step = &line.pairs[ROLE_STEP];
    if (line.pairs[ROLE_SUMMARY].rank != RANK_NONE) return;
    bool has_step = step->rank != RANK_NONE;
    if (has_step && !(step->number >= 0 && step->number < STEP_MAX)) return;
    bool has_loss = line.pairs[ROLE_LOSS].rank != RANK_NONE;
    bool has_time = line.pairs[ROLE_TIME].rank != RANK_NONE;
    // {'loss': ...} is the form that leaves the step to a progress bar.
    bool is_counted = !has_step && has_loss && (line.has_bar || memchr(text.at, '{', text.len));
    if (is_counted || (has_step && (has_loss || has_time))) give(parser, &line);
    // A bar of another total is one of the evaluation.
    if (!line.has_bar || (parser->total > 0 && line.bar_total != parser->total)) return;
    parser->shown = line.bar_step;
    parser->shown_total = line.bar_total;
    parser->shown_time_s = line.bar_time_s;
    parser->shown_quantum_s = line.bar_quantum_s;
}

// ---- marks ----------------------------------------------------------------------------

enum { BLOCK = 32, LOOK_AHEAD = 3 };

// Whether a mark begins in at[0..BLOCK): each line that tells anything has one.
// Too many are found (b | 0x20 is not lower case alone), never too few.
static bool has_mark(const char *at) {
    uint8_t any = 0;
    for (int i = 0; i < BLOCK; i++) {
        uint8_t a = (uint8_t)at[i] | 0x20, b = (uint8_t)at[i + 1] | 0x20;
        uint8_t c = (uint8_t)at[i + 2] | 0x20, d = (uint8_t)at[i + 3] | 0x20;
        uint8_t loss = (a ^ 'l') | (b ^ 'o') | (c ^ 's') | (d ^ 's');
        uint8_t tim = (a ^ 't') | (b ^ 'i') | (c ^ 'm');              // time, timing
        uint8_t ms = (a ^ 'p') | (b ^ ('_' | 0x20)) | (c ^ 'm');      // step_ms
        uint8_t rate = (a ^ '(') | (b ^ 's') | (c ^ '/') | (d ^ 'i'); // train_speed(s/it)
        uint8_t bar = (uint8_t)at[i] ^ '<', escape = (uint8_t)at[i] ^ 0x1b;
        any |= (loss == 0) | (tim == 0) | (ms == 0) | (rate == 0) | (bar == 0) | (escape == 0);
    }
    return any;
}

// A place at or before the next mark with none before it; s.len if there is none.
static size_t find_mark(Str s, size_t from) {
    while (from + BLOCK + LOOK_AHEAD <= s.len) {
        if (has_mark(s.at + from)) return from;
        from += BLOCK;
    }
    if (from >= s.len) return s.len;
    char rest[BLOCK * 2 + LOOK_AHEAD] = {0};
    memcpy(rest, s.at + from, s.len - from);
    return has_mark(rest) || has_mark(rest + BLOCK) ? from : s.len;
}

// A row of `keys` without a mark would never be seen.
static void check_marks(void) {
    for (size_t i = 0; i < COUNT(keys); i++) {
        bool needs = keys[i].role == ROLE_LOSS || keys[i].role == ROLE_TIME;
        Str text = str_of(keys[i].text);
        if (needs && find_mark(text, 0) == text.len) BUG("no mark in '%s'", keys[i].text);
    }
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

static void add_part(StepParser *parser, Str part) {
    if (parser->line.len + part.len > STEP_LINE_MAX) {
        parser->is_long = true;
        buf_clear(&parser->line);
    }
    if (!parser->is_long) buf_add(&parser->line, part);
}

static void end_line(StepParser *parser) {
    if (parser->line.len && !parser->is_long) {
        take_line(parser, without_escapes(buf_str(&parser->line)));
    }
    buf_clear(&parser->line);
    parser->is_long = false;
}

// A line that lies in a chunk as a whole: it is copied only to be changed.
static void take_whole(StepParser *parser, Str line) {
    if (line.len > STEP_LINE_MAX) return;
    if (!memchr(line.at, 0x1b, line.len)) {
        take_line(parser, line);
        return;
    }
    add_part(parser, line);
    end_line(parser);
}

// Where the line at `from` ends; s.len if its end is not in `s`.
static size_t find_end(Str s, size_t from) {
    while (from < s.len && s.at[from] != '\n' && s.at[from] != '\r') from++;
    return from;
}

// Where the line of `at` begins, not before `from`.
static size_t find_start(Str s, size_t from, size_t at) {
    while (at > from && s.at[at - 1] != '\n' && s.at[at - 1] != '\r') at--;
    return at;
}

void step_parser_init(StepParser *parser, void (*take)(void *data, const StepRecord *step),
                      void *data) {
    *parser = (StepParser){.take = take, .data = data, .shown = -1, .epoch = -1};
    index_keys(parser);
    check_marks();
}

void step_parser_feed(StepParser *parser, Str chunk) {
    size_t at = 0;
    if (parser->line.len || parser->is_long) {
        at = find_end(chunk, 0);
        add_part(parser, (Str){chunk.at, at});
        if (at == chunk.len) return;
        end_line(parser);
    }
    for (;;) { // at `at` a line begins, or the one before ends
        size_t mark = find_mark(chunk, at);
        size_t start = find_start(chunk, at, mark), end = find_end(chunk, mark);
        if (end == chunk.len) {
            add_part(parser, skip(chunk, start));
            return;
        }
        take_whole(parser, (Str){chunk.at + start, end - start});
        at = end + 1;
    }
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

// ---- JSON lines -------------------------------------------------------------------------

static void add_number(Json *json, bool has, double value) {
    if (has) json_double(json, value);
    else json_null(json);
}

// The names are written as they are: a log may have millions of steps.
void step_write_json(Buf *out, const StepRecord *step) {
    Json json;
    json_init(&json, out);
    buf_add(out, STR("{\"step\": "));
    json_int_write(&json, step->step);
    buf_add(out, STR(", \"loss\": "));
    add_number(&json, step->has_loss, step->loss);
    buf_add(out, STR(", \"step_time\": "));
    add_number(&json, step->has_time, step->step_time_s);
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
    Pair pair = {0};
    Str rest;
    if (!text.len || !read_number(text, 0, &pair, &rest) || rest.len) return false;
    out->loss = pair.number;
    return true;
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
    for (int decimals = 0; decimals < 15; decimals++) {
        double digits = nearbyint(fabs(number) * ten_to(decimals));
        if (digits >= 1e15) break;
        if (digits / ten_to(decimals) == fabs(number)) return 1 / ten_to(decimals);
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
    if (str_starts(text, "\xef\xbb\xbf")) text = skip(text, 3);
    for (uint32_t number = 1; ok && text.len; number++) {
        const char *end = memchr(text.at, '\n', text.len);
        Str line = {text.at, end ? (size_t)(end - text.at) : text.len};
        text = skip(text, line.len + (end != NULL));
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
