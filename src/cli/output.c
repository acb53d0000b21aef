// output.c - stdout carries the product only; all talk goes to stderr.
#include "base/base.h"

#include "cli/output.h"

#include "model/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

const char *exit_code_help(ExitCode code) {
    static const char *const help[] = {
        [EXIT_DONE] = "done",
        [EXIT_NO] = "the answer is no",
        [EXIT_USAGE] = "wrong usage, configuration or input",
        [EXIT_BLOCKED] = "blocked or undecided",
        [EXIT_INTERNAL] = "internal error",
    };
    return help[code];
}

static void print_complaint(const char *fmt, va_list args) PRINTF_LIKE(1, 0);
static void print_complaint(const char *fmt, va_list args) {
    Buf said = {0}, line = {0};
    buf_add(&line, STR("npufuse: "));
    buf_addv(&said, fmt, args);
    utf8_add_safe(&line, buf_str(&said));
    buf_add_char(&line, '\n');
    output_talk(buf_str(&line));
    buf_free(&line);
    buf_free(&said);
}

void output_complain(const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    print_complaint(fmt, args);
    va_end(args);
}

int output_fail(ExitCode code, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    print_complaint(fmt, args);
    va_end(args);
    return (int)code;
}

void output_note(Str line) {
    fwrite(line.at, 1, line.len, stderr);
    fputc('\n', stderr);
}

void output_talk(Str lines) {
    fwrite(lines.at, 1, lines.len, stderr);
}

static bool has_terminal(int fd) {
    const char *term = getenv("TERM");
    return term && strcmp(term, "dumb") != 0 && isatty(fd) == 1;
}

bool output_has_progress(void) {
    return has_terminal(STDERR_FILENO);
}

void output_progress(void *data, uint32_t done, uint32_t count) {
    (void)data;
    uint32_t step = count / 100 + 1; // a hundred writes at most
    if (done >= count) {
        fputs("\r\033[K", stderr);
    } else if (done % step == 0) {
        fprintf(stderr, "\r%u/%u files", (unsigned)done, (unsigned)count);
    }
}

bool output_write(Str data, Err *err) {
    errno = 0;
    size_t put = fwrite(data.at, 1, data.len, stdout);
    if (put == data.len && fflush(stdout) == 0) return true;
    return err_set(err, "cannot write to standard output: %s",
                   strerror(errno ? errno : EIO));
}

bool output_has_colour(void) {
    const char *no = getenv("NO_COLOR");
    return !(no && *no) && has_terminal(STDOUT_FILENO);
}

Lang output_lang(const char *name) {
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; !name && i < COUNT(variables); i++) {
        const char *value = getenv(variables[i]);
        if (value && *value) name = value;
    }
    return name && str_starts(str_of(name), "zh") ? LANG_ZH : LANG_EN;
}
