// status.c - `npufuse status`: the task list.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/output_folder.h"
#include "cli/trial_setup.h"

#include "base/file.h"

typedef struct StatusArgs {
    const char *output, *format;
} StatusArgs;

#define FIELD(name) offsetof(StatusArgs, name)

static const Option options[] = {
    {"format", 0, OPTION_TEXT, "text|json|md", "what is printed (text)", FIELD(format)},
    {"output", 'o', OPTION_TEXT, "DIR", "the folder that scan wrote (fusion_verify)",
     FIELD(output)},
};

static const Usage usage = {
    .name = "status",
    .operands = "",
    .purpose = "Prints the task list of the last verification: state, answer and reason of each\n"
               "candidate.",
    .example = "npufuse status",
    .options = options,
    .option_count = COUNT(options),
};

static int print_text(Arena *run, const char *folder) {
    TaskList tasks;
    Err err;
    Buf out = {0};
    if (!tasks_read(&tasks, run, folder, &err)) return output_fail(EXIT_USAGE, "%s", err.text);
    if (!tasks.tasks.len) output_note(STR("no candidate was verified yet"));
    tasks_print(&out, &tasks);
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    return ok ? EXIT_DONE : output_fail(EXIT_USAGE, "%s", err.text);
}

static int print_json(Arena *run, const char *folder) {
    TaskList tasks;
    Err err;
    Buf out = {0};
    if (!tasks_read(&tasks, run, folder, &err)) return output_fail(EXIT_USAGE, "%s", err.text);
    tasks_write_json(&out, &tasks);
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    return ok ? EXIT_DONE : output_fail(EXIT_USAGE, "%s", err.text);
}

static int print_file(Arena *run, const char *folder, Str name) {
    Str text;
    Err err;
    const char *path = path_join(run, str_of(folder), name);
    if (file_kind(path) == FILE_NONE) {
        output_note(STR("no candidate was verified yet"));
        return EXIT_DONE;
    }
    if (!file_read(&text, run, path, FILE_MAX_BYTES, &err) || !output_write(text, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    return EXIT_DONE;
}

int status_command(const Args *args) {
    StatusArgs given = {.output = OUTPUT_FOLDER, .format = "text"};
    ArgList operands = {0};
    int code;
    if (!options_read(&given, &operands, &usage, args, &code)) return code;
    if (operands.len) {
        return output_fail(EXIT_USAGE, "status takes no operand, not '%s'", operands.at[0]);
    }
    if (file_kind(given.output) != FILE_FOLDER) {
        return output_fail(EXIT_USAGE, "no folder '%s'; run 'npufuse scan' first", given.output);
    }
    if (strcmp(given.format, "json") == 0) return print_json(args->run, given.output);
    if (strcmp(given.format, "md") == 0) return print_file(args->run, given.output,
                                                           STR("tasks.md"));
    return print_text(args->run, given.output);
}
