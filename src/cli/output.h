// output.h - what every command says the same way: exit codes, messages on
// stderr, data on stdout, the language and the colours.
#ifndef NPUFUSE_OUTPUT_H
#define NPUFUSE_OUTPUT_H

#include "base/err.h"
#include "report/phrases.h"

typedef enum ExitCode {
    EXIT_DONE = 0,
    EXIT_NO = 1,       // the answer is no
    EXIT_USAGE = 2,    // usage, configuration or input
    EXIT_BLOCKED = 3,  // blocked or undecided
    EXIT_INTERNAL = 4, // a mistake of ours
} ExitCode;

// What --help prints about one exit code.
const char *exit_code_help(ExitCode code);

// One line on stderr, with the program's name before it. What could steer a terminal
// is shown as '?': names and texts come from outside.
void output_complain(const char *fmt, ...) PRINTF_LIKE(1, 2);
// Complains and returns `code`, so that `return output_fail(...)` reads well.
int output_fail(ExitCode code, const char *fmt, ...) PRINTF_LIKE(2, 3);
// One line on stderr as it is.
void output_note(Str line);
// Lines on stderr as they are.
void output_talk(Str lines);
// Whether stderr is a terminal, where a line of progress may come and go.
bool output_has_progress(void);
// Shows `done` of `count` there, and clears the line when all is done. `data`
// is not used: a callback has it.
void output_progress(void *data, uint32_t done, uint32_t count);
// Writes to stdout and makes sure it arrived.
MUST_CHECK bool output_write(Str data, Err *err);
// Whether stdout takes colours: a terminal, and no NO_COLOR.
bool output_has_colour(void);
// "zh" or "en"; NULL asks LC_ALL, LC_MESSAGES and LANG, in this order.
Lang output_lang(const char *name);

#endif
