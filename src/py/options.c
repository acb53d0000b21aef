// options.c - reads the options that parsers declare, from the calls alone.
#include "base/base.h"

#include "py/options.h"

enum {
    PARSERS_MAX = 64,   // files whose options are kept
    OPTIONS_MAX = 4096, // of all of them
};

struct Options {
    VEC(Option) all;
    uint32_t files;
};

static Node *keyword(const Node *call, const char *name) {
    NodeList keywords = call->u.call.keywords;
    for (uint32_t i = 0; i < keywords.len; i++) {
        const Sym *given = keywords.at[i]->u.keyword.name;
        if (given && str_is(sym_str(given), name)) return keywords.at[i]->u.keyword.value;
    }
    return NULL;
}

static bool is_text(const Node *node) {
    return node && node->kind == N_CONSTANT && node->op == CONST_STR;
}

static bool is_bool(const Node *node) {
    return node && node->kind == N_CONSTANT && (node->op == CONST_TRUE || node->op == CONST_FALSE);
}

// The attribute that argparse stores to: dest, else the first long option. NULL for
// arguments by place and short options alone.
static const Sym *dest_of(Project *project, const Node *call) {
    const Node *dest = keyword(call, "dest");
    if (dest) return is_text(dest) ? sym_intern(project->symbols, dest->u.constant.text) : NULL;
    NodeList args = call->u.call.args;
    for (uint32_t i = 0; i < args.len; i++) {
        if (!is_text(args.at[i])) return NULL;
        Str name = args.at[i]->u.constant.text;
        if (!str_starts(name, "--") || name.len <= 2 || name.len > 100) continue;
        char plain[100];
        size_t n = 0;
        for (size_t k = 2; k < name.len; k++) plain[n++] = name.at[k] == '-' ? '_' : name.at[k];
        return sym_intern(project->symbols, (Str){plain, n});
    }
    return NULL;
}

static bool is_boolean(const Node *call) {
    const Node *action = keyword(call, "action");
    if (is_text(action)) {
        Str kind = action->u.constant.text;
        return str_is(kind, "store_true") || str_is(kind, "store_false");
    }
    const Sym *name = !action                        ? NULL
                      : action->kind == N_ATTRIBUTE ? action->u.attribute.attr
                      : action->kind == N_NAME      ? action->u.name.id
                                                    : NULL;
    if (name) return str_is(sym_str(name), "BooleanOptionalAction");
    return is_bool(keyword(call, "default"));
}

static bool speaks_of_fusion(Str name) {
    return str_contains(name, STR("fuse")) || str_contains(name, STR("fusion")) ||
           str_contains(name, STR("npu"));
}

static Str trimmed(Str s) {
    while (s.len && (s.at[0] == ' ' || s.at[0] == '\t')) {
        s.at++;
        s.len--;
    }
    while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\r')) s.len--;
    return s;
}

static Option make_option(Project *project, const Module *m, const Node *call, uint32_t file) {
    Option option = {.file = file, .boolean = is_boolean(call)};
    option.line = source_line(&m->source, call->start);
    option.shown = arena_str(&project->arena, m->shown);
    option.text = arena_str(&project->arena, trimmed(source_line_text(&m->source, option.line)));
    return option;
}

// Adds the options of one file, unless none of them is what we look for.
static void add_options(Project *project, Module *m, uint32_t file) {
    struct Options *options = project->options;
    const Sym *name = sym_intern(project->symbols, STR("add_argument"));
    uint32_t before = options->all.len;
    bool wanted = false;
    module_list_calls(m);
    for (uint32_t at = module_first_call(m, name); at; at = module_next_call(m, at)) {
        const Node *call = m->calls.at[at - 1], *func = call->u.call.func;
        if (func->kind != N_ATTRIBUTE || func->u.attribute.attr != name) continue;
        const Sym *dest = dest_of(project, call);
        if (!dest || options->all.len >= OPTIONS_MAX) continue;
        Option option = make_option(project, m, call, file);
        option.dest = dest;
        wanted |= option.boolean && speaks_of_fusion(sym_str(dest));
        vec_push(&project->arena, &options->all, option);
    }
    if (!wanted) options->all.len = before;
    else options->files++;
}

OptionList project_options(Project *project) {
    struct Options *options = project->options;
    if (!options) {
        options = project->options = NEW(&project->arena, struct Options);
        for (uint32_t i = 0; i < project->file_count && options->files < PARSERS_MAX; i++) {
            Module *m = project_open_naming(project, project->files[i], STR("add_argument"));
            if (m) add_options(project, m, i);
        }
    }
    return (OptionList){options->all.at, options->all.len};
}
