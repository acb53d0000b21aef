// fuzz_parse.c - any bytes: decode, parse, dump, and check the tree's shape.
//
// Every node lies in the text and in its parent, children of a list stand in
// order, ids are within their count, and a fault comes with an N_BROKEN.
#include "base/base.h"

#include "fuzz.h"
#include "py/ast_dump.h"
#include "py/parser.h"

typedef struct Check {
    const Node *parent;
    const ParseResult *result;
    uint32_t text_len;
    uint32_t broken;
} Check;

static bool check_field(const NodeField *field, void *data);

static void check_node(const Node *node, Check *check) {
    if (node->start > node->end || node->end > check->text_len) {
        BUG("%s at %u-%u", node_kind_name((NodeKind)node->kind), node->start,
            node->end);
    }
    if (node->kind == N_NONE || node->id >= check->result->node_count) {
        BUG("node kind %u, id %u", node->kind, node->id);
    }
    check->broken += node->kind == N_BROKEN;
    const Node *outer = check->parent;
    check->parent = node;
    node_fields(node, check_field, check);
    check->parent = outer;
}

// Decorators stand before their definition; what was skipped inside a
// statement's clauses is put behind it.
static bool may_leave_parent(const NodeField *field, const Node *child) {
    return strcmp(field->name, "decorator_list") == 0 || child->kind == N_BROKEN;
}

// Except in f-strings: the text of {x=} starts behind the '{' of its value.
static bool in_order(const Node *parent, const Node *last, const Node *child) {
    if (last->start <= child->start) return true;
    return last->kind == N_BROKEN || child->kind == N_BROKEN ||
           parent->kind == N_JOINED_STR || parent->kind == N_TEMPLATE_STR;
}

static bool check_field(const NodeField *field, void *data) {
    Check *check = data;
    const Node *parent = check->parent;
    const Node *last = NULL;
    for (uint32_t i = 0; i < field->len; i++) {
        const Node *child = field->at[i];
        if (!child) continue;
        bool inside = parent->start <= child->start && child->end <= parent->end;
        if (!inside && !may_leave_parent(field, child)) {
            BUG("%s at %u-%u in %s at %u-%u",
                node_kind_name((NodeKind)child->kind), child->start, child->end,
                node_kind_name((NodeKind)parent->kind), parent->start,
                parent->end);
        }
        if (last && !in_order(parent, last, child)) {
            BUG("'%s' out of order at %u", field->name, child->start);
        }
        last = child;
        check_node(child, check);
    }
    return true;
}

static void check_text(const SourceText *source, Arena *arena) {
    SymTable symbols;
    Buf buf = {0};
    sym_table_init(&symbols);
    parser_init_symbols(&symbols);
    ParseResult result = parser_parse(source, arena, &symbols);
    Check check = {.result = &result, .text_len = (uint32_t)source->text.len};
    check_node(result.module, &check);
    if ((check.broken > 0) != (result.fault_count > 0)) {
        BUG("%u broken, %u faults", check.broken, result.fault_count);
    }
    for (uint32_t i = 0; i < result.fault_count; i++) {
        if (result.faults[i].offset > source->text.len) BUG("fault beyond");
    }
    ast_dump(&buf, source, result.module, 0);
    buf_free(&buf);
    sym_table_free(&symbols);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    SourceText source;
    Err err;
    arena_init(&arena);
    char *bytes = arena_cstr(&arena, (Str){(const char *)data, size});
    if (source_init(&source, &arena, "fuzz.py", (Str){bytes, size}, &err)) {
        check_text(&source, &arena);
    }
    arena_free(&arena);
    return 0;
}
