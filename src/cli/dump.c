// dump.c - `npufuse dump`: what the front half makes of a function.
#include "base/base.h"

#include "base/buf.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "flow/dtype.h"
#include "py/ast_dump.h"

typedef struct DumpArgs {
    const char *function, *what;
} DumpArgs;

static const Option options[] = {
    {"function", 'f', OPTION_TEXT, "NAME",
     "qualified name of the function (all functions)",
     offsetof(DumpArgs, function)},
    {"what", 'w', OPTION_TEXT, "tree|names|graph|all",
     "what to print (graph)", offsetof(DumpArgs, what)},
};

static const Usage usage = {
    .name = "dump",
    .operands = "FILE",
    .purpose = "Prints the tree, the names, or the graph of values that is "
               "made from a Python\nfile: what the rules are matched against.",
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

static bool wants(const DumpArgs *args, const char *what) {
    return strcmp(args->what, what) == 0 || strcmp(args->what, "all") == 0;
}

static void print_functions(Buf *out, Flow *flow, Module *m, const DumpArgs *args) {
    ModuleFlow *mf = flow_module(flow, m);
    flow_list_functions(flow, mf);
    for (uint32_t i = 0; i < mf->functions.len; i++) {
        Str name = mf->functions.at[i]->qualname;
        if (args->function && !str_is(name, args->function)) continue;
        Frame *f = flow_function(flow, mf, mf->functions.at[i]);
        buf_addf(out, "%.*s\n", STR_FMT(name));
        if (f && wants(args, "names")) print_names(out, f);
        if (f && wants(args, "graph")) print_graph(out, f);
    }
}

static bool dump(Buf *out, Arena *run, const char *path, const DumpArgs *args,
                 Err *err) {
    SymTable symbols;
    sym_table_init(&symbols);
    Project project;
    project_init(&project, &symbols);
    OpTable ops;
    ops_init(&ops, run);
    Module *m = project_open(&project, path, str_of(path), err);
    if (m) {
        Flow flow;
        flow_init(&flow, &project, &ops, run);
        if (wants(args, "tree")) ast_dump(out, &m->source, m->parsed.module, 0);
        print_functions(out, &flow, m, args);
    }
    project_free(&project);
    sym_table_free(&symbols);
    return m != NULL;
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
