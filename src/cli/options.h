// options.h - options as data: one table reads the command line and prints
// the help.
#ifndef NPUFUSE_OPTIONS_H
#define NPUFUSE_OPTIONS_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/output.h"

typedef VEC(const char *) ArgList;

typedef enum OptionKind {
    OPTION_FLAG, // fills a bool
    OPTION_TEXT, // fills a const char *; given twice, the last one counts
    OPTION_LIST, // adds to an ArgList
} OptionKind;

typedef struct Option {
    const char *name;  // without "--"
    char letter;       // of the short form, 0 if there is none
    OptionKind kind;
    const char *value; // "DIR" for the help; "a|b" allows these words only
    const char *help;  // may have more lines, separated by '\n'
    size_t offset;     // of the field in the command's own struct
} Option;

// What a command is, for its --help.
typedef struct Usage {
    const char *name;     // "scan", "rules list"
    const char *operands; // "PATH..."
    const char *purpose;
    const char *example;
    const Option *options; // -h and --help come by themselves
    uint32_t option_count;
    const char *exit_help[EXIT_INTERNAL + 1]; // NULL: the common words
} Usage;

// The arguments behind the command's name, and the run's arena.
typedef struct Args {
    char **at;
    int count;
    Arena *run;
} Args;

// Reads `args` into the struct at `into` and the operands. False if the
// command has to return *code at once: help was printed or a fault told.
MUST_CHECK bool options_read(void *into, ArgList *operands, const Usage *usage,
                             const Args *args, int *code);
// The entry of names[0..count) nearest to `word`, NULL if none is near.
const char *nearest_name(const char *word, const char *const *names,
                         uint32_t count);

#endif
