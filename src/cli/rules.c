// rules.c - `npufuse rules`: which rules there are, whether they are sound, and
// whether they compute what they replace (in Python, which this process becomes).
#include "base/base.h"

#include "base/buf.h"
#include "base/locate.h"
#include "base/proc.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/paths_python.h"
#include "match/rule.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct RulesArgs {
    ArgList folders;
    const char *python;
} RulesArgs;

static const Option options[] = {
    {"rules", 0, OPTION_LIST, "DIR",
     "more rules, beside the bundled ones; may be repeated\n"
     "(their operators: DIR/../ops)",
     offsetof(RulesArgs, folders)},
    {"python", 0, OPTION_TEXT, "EXE",
     "for test: a Python with torch (that of VIRTUAL_ENV, else python3)",
     offsetof(RulesArgs, python)},
};

static const Usage usage = {
    .name = "rules",
    .operands = "list|check|test [ID...]",
    .purpose = "list: every rule with its operator and alternatives.\n"
               "check: reads every rule file, and names the first fault.\n"
               "test: runs each rule's reference and replacement on its sample() and on\n"
               "edges of it, forward and backward, with emulated operators where no NPU\n"
               "works, and judges them as 'npufuse unit' judges a candidate. Rule files\n"
               "are Python that runs; list and check only read them.",
    .example = "npufuse rules test swiglu --rules my_rules/",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_NO] = "test: a rule fails",
        [EXIT_BLOCKED] = "test: no Python, or none with torch",
    },
};

static void print_rules(Buf *out, const RuleSet *set) {
    for (uint32_t i = 0; i < set->rules.len; i++) {
        const Rule *rule = set->rules.at[i];
        buf_addf(out, "%.*s\t%.*s\t%.*s\t", STR_FMT(rule->id), STR_FMT(rule->family),
                 STR_FMT(rule->api));
        for (uint32_t k = 0; k < rule->spec_count; k++) {
            buf_addf(out, "%s%.*s", k ? ", " : "", STR_FMT(rule->specs[k].variant));
        }
        buf_add_char(out, '\n');
    }
}

static bool load(Buf *out, Arena *run, const RulesArgs *own, Err *err) {
    SymTable symbols;
    sym_table_init(&symbols);
    Project project;
    project_init(&project, &symbols);
    OpTable ops;
    ops_init(&ops, run);
    RuleSet set;
    rules_init(&set, run, &project, &ops);
    Str bundled;
    bool ok = locate_rules(&bundled, run, err) &&
              rules_load(&set, bundled.at, err);
    for (uint32_t i = 0; ok && i < own->folders.len; i++) {
        ok = rules_load(&set, own->folders.at[i], err);
    }
    if (ok) print_rules(out, &set);
    project_free(&project);
    sym_table_free(&symbols);
    return ok;
}

// ---- test -----------------------------------------------------------------------

// The folder of the hook makes the package known to any Python; see
// python/npufuse/_site/sitecustomize.py.
static bool set_environment(Arena *run, Err *err) {
    Str site;
    if (!python_find_hook(&site, run, err)) return false;
    const char *path = getenv("PYTHONPATH");
    Str all = path && *path ? arena_printf(run, "%.*s:%s", STR_FMT(site), path) : site;
    if (setenv("PYTHONPATH", all.at, 1) != 0 || setenv("NPUFUSE_LOAD", "1", 1) != 0) {
        return err_set(err, "cannot set the environment: %s", strerror(errno));
    }
    return true;
}

static int test_rules(const RulesArgs *own, const ArgList *operands, Arena *run) {
    Err err;
    Str bundled;
    if (!locate_rules(&bundled, run, &err) || !set_environment(run, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    const char *python = python_find(run, own->python);
    if (!python) {
        return output_fail(EXIT_BLOCKED, "no Python '%s'; name one with --python",
                           own->python ? own->python : "python3");
    }
    VEC(const char *) words = {0};
    const char *head[] = {python, "-B", "-m", "npufuse.rules_test", "--rules", bundled.at};
    for (size_t i = 0; i < COUNT(head); i++) vec_push(run, &words, head[i]);
    for (uint32_t i = 0; i < own->folders.len; i++) {
        vec_push(run, &words, "--rules");
        vec_push(run, &words, own->folders.at[i]);
    }
    for (uint32_t i = 1; i < operands->len; i++) vec_push(run, &words, operands->at[i]);
    vec_push(run, &words, NULL);
    execv(python, (char *const *)(uintptr_t)words.at);
    return output_fail(EXIT_BLOCKED, "cannot run '%s': %s", python, strerror(errno));
}

int rules_command(const Args *args) {
    RulesArgs own = {0};
    ArgList operands = {0};
    int code;
    if (!options_read(&own, &operands, &usage, args, &code)) return code;
    const char *verb = operands.len ? operands.at[0] : "";
    if (strcmp(verb, "test") == 0) return test_rules(&own, &operands, args->run);
    bool list = strcmp(verb, "list") == 0;
    if (operands.len != 1 || (!list && strcmp(verb, "check") != 0)) {
        return output_fail(EXIT_USAGE, "rules takes 'list', 'check' or 'test [ID...]'");
    }
    Err err;
    Buf out = {0};
    bool ok = load(&out, args->run, &own, &err);
    if (ok && !list) {
        buf_clear(&out);
        buf_add(&out, STR("every rule is sound\n"));
    }
    ok = ok && output_write(buf_str(&out), &err);
    buf_free(&out);
    return ok ? EXIT_DONE : output_fail(EXIT_USAGE, "%s", err.text);
}
