// rules.c - `npufuse rules`: which rules there are, and whether they are sound.
#include "base/base.h"

#include "base/buf.h"
#include "base/locate.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "match/rule.h"

typedef struct RulesArgs {
    ArgList folders;
} RulesArgs;

static const Option options[] = {
    {"rules", 0, OPTION_LIST, "DIR",
     "more rules, beside the bundled ones; may be repeated\n"
     "(their operators: DIR/../ops)",
     offsetof(RulesArgs, folders)},
};

static const Usage usage = {
    .name = "rules",
    .operands = "list|check",
    .purpose = "list: every rule with its operator and alternatives.\n"
               "check: reads every rule file, and names the first fault.",
    .example = "npufuse rules check --rules my_rules/",
    .options = options,
    .option_count = COUNT(options),
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

int rules_command(const Args *args) {
    RulesArgs own = {0};
    ArgList operands = {0};
    int code;
    if (!options_read(&own, &operands, &usage, args, &code)) return code;
    const char *verb = operands.len == 1 ? operands.at[0] : "";
    bool list = strcmp(verb, "list") == 0;
    if (!list && strcmp(verb, "check") != 0) {
        return output_fail(EXIT_USAGE, "rules takes 'list' or 'check'");
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
