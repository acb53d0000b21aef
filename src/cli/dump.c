// dump.c - `npufuse dump`: what the front half makes of a function.
#include "base/base.h"

#include "base/buf.h"
#include "base/locate.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "flow/dtype.h"
#include "match/explain.h"
#include "py/ast_dump.h"

typedef struct DumpArgs {
    const char *function, *what;
} DumpArgs;

static const Option options[] = {
    {"function", 'f', OPTION_TEXT, "NAME",
     "qualified name of the function (all functions)",
     offsetof(DumpArgs, function)},
    {"what", 'w', OPTION_TEXT, "tree|names|graph|facts|all",
     "what to print (graph)", offsetof(DumpArgs, what)},
};

static const Usage usage = {
    .name = "dump",
    .operands = "FILE",
    .purpose = "Prints what is made from a Python file: the syntax tree, which name "
               "holds which\nvalue when, the graph of values (in its simplest equivalent "
               "form, with dtypes),\nand the facts: what matches a rule, and what of its "
               "requirements is proven.",
    .example = "npufuse dump model.py -f RMSNorm.forward",
    .options = options,
    .option_count = COUNT(options),
};

static void print_names(Buf *out, const Frame *f) {
    for (uint32_t i = 0; i < f->names.cap; i++) {
        const NameInfo *info = f->names.slots[i];
        if (!info) continue;
        const Sym *name = (const Sym *)(info->key & ~(uintptr_t)1);
        buf_addf(out, "  %s:", name->text);
        for (uint32_t k = 0; k < info->events.len; k++) {
            const Bind *b = info->events.at[k].bind;
            if (!b) continue;
            buf_addf(out, " @%u ", info->events.at[k].time);
            if (b->val) val_dump(out, b->val, 4);
        }
        buf_add_char(out, '\n');
    }
}

static void print_graph(Buf *out, const Frame *f) {
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *e = &f->evals.at[i];
        buf_addf(out, "  %u: %%%u = ", source_line(&f->module->source, e->node->start),
                 e->val->id);
        val_dump(out, e->val, 6);
        buf_add(out, STR(" : "));
        val_dump(out, dtype_of(f->flow, e->val, (Scalars){0}), 4);
        buf_add_char(out, '\n');
    }
    for (uint32_t i = 0; i < f->returns.len; i++) {
        buf_add(out, STR("  return "));
        val_dump(out, f->returns.at[i].val, 12);
        buf_add_char(out, '\n');
    }
}

static void add_fact_line(void *data, Str line) {
    buf_add(data, line);
    buf_add_char(data, '\n');
}

typedef struct Dump {
    const DumpArgs *args;
    Arena *run;
    const char *path;
    const OpTable *ops;
    const RuleSet *rules; // for facts; else NULL
} Dump;

static bool wants(const DumpArgs *args, const char *what) {
    return strcmp(args->what, what) == 0 || strcmp(args->what, "all") == 0;
}

static void print_functions(Buf *out, Flow *flow, Module *m, const Dump *dump_of) {
    const DumpArgs *args = dump_of->args;
    ModuleFlow *mf = flow_module(flow, m);
    flow_list_functions(flow, mf);
    for (uint32_t i = 0; i < mf->functions.len; i++) {
        Str name = mf->functions.at[i]->qualname;
        if (args->function && !str_is(name, args->function)) continue;
        Frame *f = flow_function(flow, mf, mf->functions.at[i]);
        buf_addf(out, "%.*s\n", STR_FMT(name));
        if (f && wants(args, "names")) print_names(out, f);
        if (f && wants(args, "graph")) print_graph(out, f);
        ScanOptions telling = {.explain = add_fact_line, .explain_data = out};
        if (f && dump_of->rules) explain_function(&telling, f, dump_of->rules);
    }
}

static bool print_file(Buf *out, Project *project, const Dump *of, Err *err) {
    Arena *run = of->run;
    Module *m = project_open(project, of->path, str_of(of->path), err);
    if (!m) return false;
    Flow flow;
    flow_init(&flow, project, of->ops, run);
    if (wants(of->args, "tree")) ast_dump(out, &m->source, m->parsed.module, 0);
    bool more = wants(of->args, "names") || wants(of->args, "graph") || of->rules;
    if (more) print_functions(out, &flow, m, of);
    return true;
}

static bool dump(Buf *out, Arena *run, const char *path, const DumpArgs *args,
                 Err *err) {
    SymTable symbols;
    sym_table_init(&symbols);
    Project project, rule_project;
    project_init(&project, &symbols);
    project_init(&rule_project, &symbols);
    OpTable ops;
    ops_init(&ops, run);
    RuleSet rules;
    rules_init(&rules, run, &rule_project, &ops);
    Dump of = {args, run, path, &ops, NULL};
    bool ok = true;
    if (wants(args, "facts")) {
        Str folder;
        ok = locate_rules(&folder, run, err) && rules_load(&rules, folder.at, err);
        of.rules = &rules;
    }
    ok = ok && print_file(out, &project, &of, err);
    project_free(&project);
    project_free(&rule_project);
    sym_table_free(&symbols);
    return ok;
}

int dump_command(const Args *args) {
    DumpArgs own = {.what = "graph"};
    ArgList operands = {0};
    int code;
    if (!options_read(&own, &operands, &usage, args, &code)) return code;
    if (operands.len != 1) return output_fail(EXIT_USAGE, "dump takes one FILE");
    Err err;
    Buf out = {0};
    bool ok = dump(&out, args->run, operands.at[0], &own, &err) &&
              output_write(buf_str(&out), &err);
    buf_free(&out);
    return ok ? EXIT_DONE : output_fail(EXIT_USAGE, "%s", err.text);
}
