// main.c - the table of commands. A command is one file of src/cli and one
// row here.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"

#include <signal.h>
#include <stdio.h>

typedef struct Command {
    const char *name;
    int (*run)(const Args *args);
    const char *summary;
} Command;

static const Command commands[] = {
    {"scan", scan_command,
     "find code that fused operators can replace; write a report"},
    {"confirm", confirm_command,
     "agree to candidates, so that they may be verified"},
    {"capture", capture_command, "record what really goes into confirmed candidates"},
    {"unit", unit_command, "precision of confirmed candidates on tensors"},
    {"verify", verify_command, "precision, loss and step time of confirmed candidates"},
    {"resume", resume_command, "go on with an interrupted verification"},
    {"status", status_command, "the task list of the verification"},
    {"report", report_command, "the pages of verified candidates once more"},
    {"apply", apply_command, "write candidates into the project, or take them back"},
    {"profile", profile_command, "where the device time goes, and what fusing can give"},
    {"steps", steps_command, "training steps out of a log, as JSON lines"},
    {"merge", merge_command, "the steps of two runs side by side; does the loss follow?"},
    {"doctor", doctor_command, "what this machine can and cannot do"},
    {"api", api_command, "the operators of the torch_npu that is installed"},
    {"lint", lint_command, "existing calls of torch_npu against their constraints"},
    {"rules", rules_command, "list, check and test the rules"},
    {"dump", dump_command, "show how a function is understood"},
};

static int print_commands(void) {
    Buf out = {0};
    Err err;
    buf_add(&out, STR("Usage: npufuse COMMAND [options] ...\n\n"
                      "Finds hand-written PyTorch code that a fused Ascend "
                      "NPU operator can replace.\n\nCommands:\n"));
    for (size_t i = 0; i < COUNT(commands); i++) {
        buf_addf(&out, "  %-10s %s\n", commands[i].name, commands[i].summary);
    }
    buf_add(&out, STR("\n'npufuse COMMAND --help' tells more; "
                      "'npufuse --version' prints the version.\n"));
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    return ok ? EXIT_DONE : output_fail(EXIT_USAGE, "%s", err.text);
}

static const Command *find_command(const char *name) {
    for (size_t i = 0; i < COUNT(commands); i++) {
        if (strcmp(commands[i].name, name) == 0) return &commands[i];
    }
    return NULL;
}

static int fail_unknown_command(const char *name) {
    const char *names[COUNT(commands)];
    for (size_t i = 0; i < COUNT(commands); i++) names[i] = commands[i].name;
    const char *near = nearest_name(name, names, COUNT(names));
    if (near) {
        return output_fail(EXIT_USAGE,
                           "unknown command '%s', did you mean '%s'?", name,
                           near);
    }
    return output_fail(EXIT_USAGE,
                       "unknown command '%s' ('npufuse' lists them)", name);
}

static bool is_one_of(const char *word, const char *a, const char *b) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int run_command(char **argv, int argc) {
    const Command *command = find_command(argv[0]);
    if (!command) return fail_unknown_command(argv[0]);
    Arena run;
    arena_init(&run);
    Args args = {argv + 1, argc - 1, &run};
    int code = command->run(&args);
    arena_free(&run);
    // Help and small outputs are still in the buffer of stdout.
    if (fflush(stdout) != 0 && code == EXIT_DONE) {
        return output_fail(EXIT_USAGE, "cannot write to standard output");
    }
    return code;
}

// `npufuse help scan` is `npufuse scan --help`.
static int run_help(int argc, char **argv) {
    if (argc < 3) return print_commands();
    char option[] = "--help";
    char *asked[] = {argv[2], option};
    return run_command(asked, 2);
}

int main(int argc, char **argv) {
    signal(SIGXFSZ, SIG_IGN); // a file too large is told as a failed write
    if (argc < 2) return print_commands();
    if (is_one_of(argv[1], "--version", "-V")) {
        printf("npufuse %s\n", NPUFUSE_VERSION);
        return fflush(stdout) == 0 ? EXIT_DONE : EXIT_USAGE;
    }
    if (is_one_of(argv[1], "--help", "-h")) return print_commands();
    if (strcmp(argv[1], "help") == 0) return run_help(argc, argv);
    if (argv[1][0] == '-') {
        return output_fail(EXIT_USAGE, "unknown option '%s' ('npufuse' alone "
                           "lists the commands)", argv[1]);
    }
    return run_command(argv + 1, argc - 1);
}
