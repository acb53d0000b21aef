// inserts.c - imports, switch and predicate as pieces of text.
#include "base/base.h"

#include "match/inserts.h"

#include "match/text.h"
#include "py/always.h"

#define GUARDED_IMPORT                                                         \
    "\ntry:  # npufuse: absent, or present without a working driver\n"         \
    "%s"                                                                       \
    "    import torch_npu\n"                                                   \
    "except Exception:\n"                                                      \
    "    torch_npu = None\n"
#define PREDICATE                                                              \
    "\n\ndef npu_fused_ready(operator, *tensors):\n"                           \
    "    \"\"\"Whether torch_npu has `operator` and every tensor is on an "    \
    "NPU.\"\"\"\n"                                                             \
    "    return hasattr(torch_npu, operator) and all(\n"                       \
    "        t.device.type == \"npu\" for t in tensors\n"                      \
    "    )\n"
// Where `all` may be that of torch or numpy.
#define PREDICATE_IN_STEPS                                                     \
    "\n\ndef npu_fused_ready(operator, *tensors):\n"                           \
    "    \"\"\"Whether torch_npu has `operator` and every tensor is on an "    \
    "NPU.\"\"\"\n"                                                             \
    "    ready = hasattr(torch_npu, operator)\n"                               \
    "    for t in tensors:\n"                                                  \
    "        ready = ready and t.device.type == \"npu\"\n"                     \
    "    return ready\n"

static bool binds(const Module *m, Str name) {
    const Sym *sym = sym_find(m->project->symbols, name);
    return sym && module_binding(m, sym);
}

// ---- where ------------------------------------------------------------------

static bool is_blank_line(const SourceText *source, uint32_t line) {
    Str text = source_line_text(source, line);
    for (size_t i = 0; i < text.len; i++) {
        if (!strchr(" \t\f", text.at[i])) return false;
    }
    return true;
}

static bool is_comment_line(const SourceText *source, uint32_t line) {
    return str_starts(source_line_text(source, line), "#");
}

// Line 1 or 2 that must stay there: `#!`, or the encoding.
static bool is_head_line(const SourceText *source, uint32_t line) {
    Str text = source_line_text(source, line);
    return line <= 2 && is_comment_line(source, line) &&
           (str_starts(text, "#!") || str_contains(text, STR("coding")));
}

// Behind the comment that opens the file; one that belongs to the statement
// below it stays there.
static uint32_t line_behind_head(const SourceText *source) {
    uint32_t line = 1;
    while (line <= source->line_count && is_comment_line(source, line)) line++;
    if (line > source->line_count || is_blank_line(source, line)) return line;
    uint32_t head = 1;
    for (uint32_t i = 1; i < line && i <= 2; i++) {
        if (is_head_line(source, i)) head = i + 1;
    }
    return head;
}

static uint32_t end_line(const Module *m, const Node *stmt) {
    return source_line(&m->source, stmt->end ? stmt->end - 1 : 0);
}

static bool is_definition(const Node *stmt) {
    return stmt->kind == N_CLASS_DEF || stmt->kind == N_FUNCTION_DEF ||
           stmt->kind == N_ASYNC_FUNCTION_DEF;
}

typedef struct InsertPlace {
    uint32_t line;
    bool behind_import;
} InsertPlace;

// Behind the imports at the top of the file, and behind whatever statement
// begins on the last one's line.
static InsertPlace insert_place(const Module *m) {
    NodeList body = m->parsed.module->u.module.body;
    InsertPlace place = {line_behind_head(&m->source), false};
    for (uint32_t i = 0; i < body.len && !is_definition(body.at[i]); i++) {
        const Node *stmt = body.at[i];
        bool text = stmt->kind == N_EXPR && stmt->u.return_.value->kind == N_CONSTANT;
        bool import = stmt->kind == N_IMPORT || stmt->kind == N_IMPORT_FROM;
        if (!import && !(i == 0 && text)) continue;
        place = (InsertPlace){end_line(m, stmt) + 1, import};
    }
    for (uint32_t i = 0; i < body.len; i++) {
        uint32_t from = source_line(&m->source, body.at[i]->start);
        if (from > place.line) break; // so do all that follow
        uint32_t to = end_line(m, body.at[i]);
        if (from < place.line && place.line <= to) place.line = to + 1;
    }
    return place;
}

// Whether the module binds the name itself, on every path, before the replacement can run.
static bool binds_for_code(const InsertWish *wish, Str name) {
    return module_always_binds(wish->module, name, wish->line) &&
           module_keeps_bound(wish->module, name, wish->line);
}

// Whether the module imports torch or a part of it whatever happens: it is installed, then.
static bool has_torch(const Module *m) {
    for (uint32_t i = 0; i < m->slot_count; i++) {
        for (const Binding *b = m->slots[i]; b; b = b->chain) {
            bool import = b->kind == BIND_MODULE || b->kind == BIND_FROM;
            if (!import || b->conditional || !str_starts(b->module, "torch")) continue;
            if (b->module.len == 5 || b->module.at[5] == '.') return true;
        }
    }
    return false;
}

// What runs without torch is to run without it still: `if is_torch_available(): import torch`.
static bool needs_torch(const InsertWish *wish) {
    const Module *m = wish->module;
    return !binds_for_code(wish, STR("torch")) && (has_torch(m) || !binds(m, STR("torch")));
}

bool inserts_last(const InsertWish *wish) {
    const Module *m = wish->module;
    uint32_t line = insert_place(m).line;
    return module_keeps_bound(m, STR("torch"), line) &&
           (!wish->npu || module_keeps_bound(m, STR("torch_npu"), line));
}

// ---- what -------------------------------------------------------------------

typedef struct Pieces {
    Inserts *out;
    Arena *run;
    Str newline;
    uint32_t line;
} Pieces;

static void add_piece(Pieces *pieces, uint32_t order, Str text) {
    Buf buf = {0};
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '\n') buf_add(&buf, pieces->newline);
        else buf_add_char(&buf, text.at[i]);
    }
    Insert insert = {pieces->line, order, arena_str(pieces->run, buf_str(&buf))};
    vec_push(pieces->run, pieces->out, insert);
    buf_free(&buf);
}

// `from os import path as os`: the name means something else.
static bool is_other_os(const Module *m) {
    const Sym *os = sym_find(m->project->symbols, STR("os"));
    for (const Binding *b = os ? module_binding(m, os) : NULL; b; b = b->earlier) {
        if (b->kind != BIND_MODULE || !str_is(b->module, "os")) return true;
    }
    return false;
}

// A blank line parts imports from a comment or docstring above them.
static void add_imports(Pieces *pieces, const InsertWish *wish, bool behind_import) {
    const Module *m = wish->module;
    bool os = wish->switch_definition.len && !is_other_os(m) &&
              !module_always_binds(m, STR("os"), pieces->line);
    bool torch = needs_torch(wish);
    bool parted = behind_import || pieces->line == 1 ||
                  is_blank_line(&m->source, pieces->line - 1);
    if ((os || torch) && !parted) add_piece(pieces, INSERT_IMPORT, STR("\n"));
    if (os) add_piece(pieces, INSERT_IMPORT, STR("import os\n"));
    if (torch) add_piece(pieces, INSERT_IMPORT, STR("import torch\n"));
}

// X = __import__("os").environ...
static Str with_imported_os(Arena *run, Str text) {
    Str value = text, name = str_take(&value, '='), os = STR(" os.");
    if (!str_starts(value, os.at)) return text;
    Str rest = {value.at + os.len, value.len - os.len};
    return arena_printf(run, "%.*s= __import__(\"os\").%.*s", STR_FMT(name), STR_FMT(rest));
}

static void add_switch(Pieces *pieces, const InsertWish *wish) {
    Str text = wish->switch_definition;
    const char *blank = text.len ? memchr(text.at, ' ', text.len) : NULL;
    if (!blank || binds(wish->module, (Str){text.at, (size_t)(blank - text.at)})) return;
    if (is_other_os(wish->module)) text = with_imported_os(pieces->run, text);
    add_piece(pieces, INSERT_SWITCH, arena_printf(pieces->run, "\n%.*s\n", STR_FMT(text)));
}

// Where the project has an opinion of its own, it is asked before torch_npu is loaded.
static void add_guarded_import(Pieces *pieces, const InsertWish *wish) {
    Str ask = STR("");
    if (find_availability(wish->available, pieces->run, wish->module, pieces->line)) {
        ask = arena_printf(pieces->run, "    if not %.*s:\n"
                                        "        raise ImportError(\"torch_npu\")\n",
                           STR_FMT(wish->available->test));
    }
    add_piece(pieces, INSERT_GUARDED_IMPORT, arena_printf(pieces->run, GUARDED_IMPORT, ask.at));
}

// Two blank lines before the code that follows. The same for every candidate
// of the file, so that it is there once.
static void add_tail(Pieces *pieces, const SourceText *source) {
    uint32_t blank = 0, line = pieces->line;
    for (; line <= source->line_count && is_blank_line(source, line); line++) blank++;
    if (line > source->line_count || blank >= 2) return;
    add_piece(pieces, INSERT_TAIL, blank ? STR("\n") : STR("\n\n"));
}

// Whether the text calls a function of this name.
static bool calls(Str text, Str name) {
    for (size_t i = 0; i + name.len < text.len; i++) {
        bool starts = i == 0 || !(text.at[i - 1] == '_' || text.at[i - 1] == '.' ||
                                  (text.at[i - 1] >= 'a' && text.at[i - 1] <= 'z'));
        if (starts && memcmp(text.at + i, name.at, name.len) == 0 && text.at[i + name.len] == '(') {
            return true;
        }
    }
    return false;
}

// The rule's own functions that the replacement calls.
static void add_helpers(Pieces *pieces, const InsertWish *wish) {
    NodeList body = wish->rule->parsed.module->u.module.body;
    for (uint32_t i = 0; i < body.len; i++) {
        const Node *fn = body.at[i];
        if (fn->kind != N_FUNCTION_DEF) continue;
        Str name = sym_str(fn->u.function->name);
        if (!str_starts(name, "npu_") || !calls(wish->text, name) ||
            binds(wish->module, name)) continue;
        Str text = source_span(&wish->rule->source, fn->start, fn->end);
        add_piece(pieces, INSERT_HELPER, arena_printf(pieces->run, "\n\n%.*s\n", STR_FMT(text)));
    }
}

void make_inserts(Inserts *out, Arena *run, const InsertWish *wish) {
    const Module *m = wish->module;
    InsertPlace place = insert_place(m);
    Pieces pieces = {out, run, file_newline(&m->source), place.line};
    *out = (Inserts){0};
    add_imports(&pieces, wish, place.behind_import);
    uint32_t imports = out->len;
    if (wish->npu && !binds_for_code(wish, STR("torch_npu"))) {
        add_guarded_import(&pieces, wish);
    }
    add_switch(&pieces, wish);
    if (wish->npu && !binds(m, STR("npu_fused_ready"))) {
        bool plain = !m->stars.len && !binds(m, STR("all"));
        add_piece(&pieces, INSERT_PREDICATE, plain ? STR(PREDICATE) : STR(PREDICATE_IN_STEPS));
    }
    add_helpers(&pieces, wish);
    if (out->len > imports) add_tail(&pieces, &m->source);
}
