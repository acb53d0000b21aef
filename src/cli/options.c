// options.c - reading a command line against a table of options.
//
// Accepted: --name, --name value, --name=value, -x, -x value, -xvalue, flags
// together (-qv); `--` ends the options, `-` is an operand.
#include "base/base.h"

#include "cli/options.h"

#include <stdio.h>

typedef struct Reader {
    void *into;
    ArgList *operands;
    const Usage *usage;
    const Args *args;
    int at; // the next argument
    bool wants_help;
    Err *err;
} Reader;

enum { NEAR_MAX = 200 }; // longer words are not compared

static uint32_t min3(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t least = a < b ? a : b;
    return least < c ? least : c;
}

// Levenshtein distance; both at most NEAR_MAX bytes.
static uint32_t distance(Str a, Str b) {
    uint32_t row[NEAR_MAX + 1];
    for (uint32_t j = 0; j <= b.len; j++) row[j] = j;
    for (uint32_t i = 1; i <= a.len; i++) {
        uint32_t diagonal = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= b.len; j++) {
            uint32_t above = row[j];
            uint32_t swap = diagonal + (a.at[i - 1] != b.at[j - 1]);
            row[j] = min3(above + 1, row[j - 1] + 1, swap);
            diagonal = above;
        }
    }
    return row[b.len];
}

const char *nearest_name(const char *word, const char *const *names,
                         uint32_t count) {
    Str wanted = str_of(word);
    if (wanted.len > NEAR_MAX) return NULL;
    const char *nearest = NULL;
    uint32_t least = (uint32_t)wanted.len / 3 + 2;
    for (uint32_t i = 0; i < count; i++) {
        Str name = str_of(names[i]);
        if (name.len > NEAR_MAX) continue;
        uint32_t far = distance(wanted, name);
        if (far >= least) continue;
        least = far;
        nearest = names[i];
    }
    return nearest;
}

static const Option *find_by_name(const Usage *usage, Str name) {
    for (uint32_t i = 0; i < usage->option_count; i++) {
        if (str_is(name, usage->options[i].name)) return &usage->options[i];
    }
    return NULL;
}

static const Option *find_by_letter(const Usage *usage, char letter) {
    for (uint32_t i = 0; i < usage->option_count; i++) {
        if (usage->options[i].letter == letter) return &usage->options[i];
    }
    return NULL;
}

static bool fail_unknown(const Reader *reader, Str name) {
    const Usage *usage = reader->usage;
    const char **names = NEW_N(reader->args->run, const char *,
                               usage->option_count + 1);
    for (uint32_t i = 0; i < usage->option_count; i++) {
        names[i] = usage->options[i].name;
    }
    names[usage->option_count] = "help";
    const char *word = arena_cstr(reader->args->run, name);
    const char *near = nearest_name(word, names, usage->option_count + 1);
    if (!near) return err_set(reader->err, "unknown option '--%s'", word);
    return err_set(reader->err, "unknown option '--%s', did you mean '--%s'?",
                   word, near);
}

// Whether `choices` is a list of words, and `value` is none of them.
static bool is_wrong_choice(const char *choices, const char *value) {
    if (!strchr(choices, '|')) return false;
    Str wanted = str_of(value);
    for (const char *p = choices;;) {
        size_t len = strcspn(p, "|");
        if (str_eq((Str){p, len}, wanted)) return false;
        if (!p[len]) return true;
        p += len + 1;
    }
}

static bool store(const Reader *reader, const Option *option,
                  const char *value) {
    void *field = (char *)reader->into + option->offset;
    if (option->kind == OPTION_FLAG) {
        *(bool *)field = true;
        return true;
    }
    if (is_wrong_choice(option->value, value)) {
        return err_set(reader->err, "'--%s' takes %s, not '%s'", option->name,
                       option->value, value);
    }
    if (option->kind == OPTION_TEXT) {
        *(const char **)field = value;
    } else {
        ArgList *list = field;
        vec_push(reader->args->run, list, value);
    }
    return true;
}

// Stores `value`, or the next argument if it is NULL.
static bool store_value(Reader *reader, const Option *option,
                        const char *value) {
    if (!value && reader->at < reader->args->count) {
        value = reader->args->at[reader->at++];
    }
    if (!value) {
        return err_set(reader->err, "option '--%s' needs a value: %s",
                       option->name, option->value);
    }
    return store(reader, option, value);
}

static bool read_long(Reader *reader, const char *arg) {
    size_t len = strcspn(arg, "=");
    const char *value = arg[len] ? arg + len + 1 : NULL;
    Str name = {arg, len};
    if (str_is(name, "help") && !value) {
        reader->wants_help = true;
        return true;
    }
    const Option *option = find_by_name(reader->usage, name);
    if (!option) return fail_unknown(reader, name);
    if (option->kind != OPTION_FLAG) {
        return store_value(reader, option, value);
    }
    if (value) {
        return err_set(reader->err, "option '--%s' takes no value",
                       option->name);
    }
    return store(reader, option, NULL);
}

static bool read_letters(Reader *reader, const char *letters) {
    for (const char *p = letters; *p; p++) {
        if (*p == 'h') {
            reader->wants_help = true;
            continue;
        }
        const Option *option = find_by_letter(reader->usage, *p);
        if (!option) return err_set(reader->err, "unknown option '-%c'", *p);
        if (option->kind != OPTION_FLAG) {
            return store_value(reader, option, p[1] ? p + 1 : NULL);
        }
        if (!store(reader, option, NULL)) return false;
    }
    return true;
}

static bool read_all(Reader *reader) {
    const Args *args = reader->args;
    bool options_end = false;
    while (reader->at < args->count) {
        const char *arg = args->at[reader->at++];
        bool ok = true;
        if (options_end || arg[0] != '-' || !arg[1]) {
            vec_push(args->run, reader->operands, arg);
        } else if (strcmp(arg, "--") == 0) {
            options_end = true;
        } else if (arg[1] == '-') {
            ok = read_long(reader, arg + 2);
        } else {
            ok = read_letters(reader, arg + 1);
        }
        if (!ok) return false;
    }
    return true;
}

// Appends `text` with every line after the first indented by `columns`.
static void add_indented(Buf *out, const char *text, int columns) {
    for (const char *p = text; *p; p++) {
        buf_add_char(out, *p);
        if (*p == '\n') buf_addf(out, "%*s", columns, "");
    }
    buf_add_char(out, '\n');
}

static void add_option(Buf *out, const Option *option) {
    enum { HELP_COLUMN = 26 };
    size_t start = out->len;
    if (option->letter) {
        buf_addf(out, "  -%c, --%s", option->letter, option->name);
    } else {
        buf_addf(out, "      --%s", option->name);
    }
    if (option->value) buf_addf(out, " %s", option->value);
    size_t width = out->len - start;
    if (width + 2 > HELP_COLUMN) {
        buf_add_char(out, '\n');
        width = 0;
    }
    buf_addf(out, "%*s", (int)(HELP_COLUMN - width), "");
    add_indented(out, option->help, HELP_COLUMN);
}

static void print_help(const Usage *usage) {
    static const Option help = {.name = "help", .letter = 'h',
                                .help = "print this text"};
    Buf out = {0};
    buf_addf(&out, "Usage: npufuse %s [options]%s%s\n\n%s\n\nOptions:\n", usage->name,
             *usage->operands ? " " : "", usage->operands, usage->purpose);
    for (uint32_t i = 0; i < usage->option_count; i++) {
        add_option(&out, &usage->options[i]);
    }
    add_option(&out, &help);
    buf_addf(&out, "\nExample:\n  %s\n\nExit codes:\n", usage->example);
    for (int code = EXIT_DONE; code <= EXIT_INTERNAL; code++) {
        const char *own = usage->exit_help[code];
        buf_addf(&out, "  %d  %s\n", code,
                 own ? own : exit_code_help((ExitCode)code));
    }
    fputs(out.at, stdout);
    buf_free(&out);
}

bool options_read(void *into, ArgList *operands, const Usage *usage,
                  const Args *args, int *code) {
    Err err;
    Reader reader = {.into = into, .operands = operands, .usage = usage,
                     .args = args, .err = &err};
    bool ok = read_all(&reader);
    if (ok && !reader.wants_help) return true;
    if (ok) {
        print_help(usage);
        *code = EXIT_DONE;
    } else {
        *code = output_fail(EXIT_USAGE, "%s (try 'npufuse %s --help')",
                            err.text, usage->name);
    }
    return false;
}
