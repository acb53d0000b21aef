// ast_dump.c - the syntax tree as text; the oracle tests read it too, so what
// is written here must be what tests/oracle/compare.py makes of CPython's ast.
#include "base/base.h"

#include "py/ast_dump.h"

enum { MAX_INDENT = 50 };

typedef struct Dump {
    Buf *buf;
    const SourceText *source;
    unsigned flags;
    uint32_t depth;
    uint32_t in_fstring; // how many f-strings around the node
} Dump;

// --- values ----------------------------------------------------------------

static void add(Dump *d, const char *text) {
    buf_add(d->buf, str_of(text));
}

static bool is_plain(unsigned char c) {
    return c >= 0x20 && c != '"' && c != '\\' && c != 0x7F;
}

static void add_escaped(Dump *d, unsigned char c, bool bytes) {
    if (c == '\n') {
        add(d, "\\n");
    } else if (c == '"' || c == '\\') {
        buf_add_char(d->buf, '\\');
        buf_add_char(d->buf, (char)c);
    } else if (c >= 0x80 && !bytes) {
        buf_add_char(d->buf, (char)c);
    } else {
        buf_addf(d->buf, "\\x%02x", c);
    }
}

static void add_quoted(Dump *d, Str text, bool bytes) {
    buf_add_char(d->buf, '"');
    size_t start = 0;
    for (size_t i = 0; i <= text.len; i++) {
        unsigned char c = i < text.len ? (unsigned char)text.at[i] : 0;
        if (i < text.len && is_plain(c) && !(bytes && c >= 0x80)) continue;
        buf_add(d->buf, (Str){text.at + start, i - start});
        start = i + 1;
        if (i < text.len) add_escaped(d, c, bytes);
    }
    buf_add_char(d->buf, '"');
}

static void add_sym(Dump *d, const char *key, const Sym *sym) {
    if (!sym) return;
    buf_add_char(d->buf, ' ');
    add(d, key);
    buf_add_char(d->buf, '=');
    buf_add(d->buf, sym_str(sym));
}

static void add_syms(Dump *d, const char *key, const Sym *const *syms,
                     uint32_t len) {
    for (uint32_t i = 0; i < len; i++) add_sym(d, key, syms[i]);
}

static void add_op(Dump *d, AstOp op) {
    add(d, " op=");
    add(d, ast_op_name(op));
}

static void add_constant(Dump *d, const Node *node) {
    Str text = node->u.constant.text;
    switch (node->op) {
    case CONST_NONE: add(d, " None"); return;
    case CONST_TRUE: add(d, " True"); return;
    case CONST_FALSE: add(d, " False"); return;
    case CONST_ELLIPSIS: add(d, " Ellipsis"); return;
    case CONST_INT: add(d, " int="); break;
    case CONST_FLOAT: add(d, " float="); break;
    case CONST_COMPLEX: add(d, " complex="); break;
    case CONST_STR:
        add(d, node->flags & NODE_U_PREFIX ? " kind=u str=" : " str=");
        add_quoted(d, text, false);
        if (node->flags & NODE_NAMED_ESCAPE) add(d, " named");
        return;
    case CONST_BYTES:
        add(d, " bytes=");
        add_quoted(d, text, true);
        return;
    default: BUG("constant kind %d", node->op);
    }
    buf_add(d->buf, text);
}

static void add_formatted(Dump *d, const Node *node) {
    if (node->kind == N_INTERPOLATION) {
        add(d, " str=");
        add_quoted(d, node->u.formatted.expr_text, false);
    }
    buf_addf(d->buf, " conversion=%d", node->op ? node->op : -1);
}

static void add_compare(Dump *d, const Node *node) {
    for (uint32_t i = 0; i < node->u.compare.comparators.len; i++) {
        add_op(d, (AstOp)node->u.compare.ops[i]);
    }
}

static void add_ctx(Dump *d, const Node *node) {
    static const char *const NAMES[] = {" Load", " Store", " Del"};
    add(d, NAMES[node->ctx]);
}

static void add_values(Dump *d, const Node *node) {
    switch (node->kind) {
    case N_FUNCTION_DEF:
    case N_ASYNC_FUNCTION_DEF:
        add_sym(d, "name", node->u.function->name);
        break;
    case N_CLASS_DEF: add_sym(d, "name", node->u.class_->name); break;
    case N_BIN_OP:
    case N_UNARY_OP:
    case N_BOOL_OP:
    case N_AUG_ASSIGN: add_op(d, (AstOp)node->op); break;
    case N_COMPARE: add_compare(d, node); break;
    case N_ANN_ASSIGN:
        add(d, node->flags & NODE_SIMPLE ? " simple=1" : " simple=0");
        break;
    case N_COMPREHENSION:
        add(d, node->flags & NODE_ASYNC ? " is_async=1" : " is_async=0");
        break;
    case N_IMPORT_FROM:
        add_sym(d, "module", node->u.import_from.module);
        buf_addf(d->buf, " level=%u", node->u.import_from.level);
        break;
    case N_GLOBAL:
    case N_NONLOCAL:
        add_syms(d, "names", node->u.global.names, node->u.global.len);
        break;
    case N_MATCH_SINGLETON:
    case N_CONSTANT: add_constant(d, node); break;
    case N_FORMATTED_VALUE:
    case N_INTERPOLATION: add_formatted(d, node); break;
    case N_NAME: add_sym(d, "id", node->u.name.id); break;
    case N_ATTRIBUTE: add_sym(d, "attr", node->u.attribute.attr); break;
    case N_EXCEPT_HANDLER: add_sym(d, "name", node->u.handler.name); break;
    case N_ARG: add_sym(d, "arg", node->u.arg.name); break;
    case N_KEYWORD: add_sym(d, "arg", node->u.keyword.name); break;
    case N_ALIAS:
        add_sym(d, "name", node->u.alias.name);
        add_sym(d, "asname", node->u.alias.asname);
        break;
    case N_MATCH_STAR: add_sym(d, "name", node->u.match_star.name); break;
    case N_MATCH_AS: add_sym(d, "name", node->u.match_as.name); break;
    case N_MATCH_MAPPING: add_sym(d, "rest", node->u.match_mapping.rest); break;
    case N_MATCH_CLASS:
        add_syms(d, "kwd_attrs", node->u.match_class->kwd_names,
                 node->u.match_class->kwd_patterns.len);
        break;
    case N_TYPE_VAR:
    case N_PARAM_SPEC:
    case N_TYPE_VAR_TUPLE: add_sym(d, "name", node->u.type_var.name); break;
    case N_BROKEN:
        add(d, " message=");
        add_quoted(d, str_of(node->u.broken.message), false);
        break;
    default: break;
    }
    bool has_ctx = node->kind >= N_ATTRIBUTE && node->kind <= N_TUPLE;
    if (has_ctx) add_ctx(d, node);
}

// --- lines -----------------------------------------------------------------

static bool has_position(const Node *node) {
    switch (node->kind) {
    case N_MODULE:
    case N_ARGUMENTS:
    case N_COMPREHENSION:
    case N_WITHITEM:
    case N_MATCH_CASE: return false;
    default: return true;
    }
}

static void add_position(Dump *d, uint32_t offset) {
    uint32_t line = source_line(d->source, offset);
    buf_addf(d->buf, "%u:%u", line, offset - d->source->lines[line - 1]);
}

static void add_indent(Dump *d) {
    static const char SPACES[MAX_INDENT * 2 + 1] =
        "                                                  "
        "                                                  ";
    uint32_t depth = d->depth < MAX_INDENT ? d->depth : MAX_INDENT;
    buf_add(d->buf, (Str){SPACES, depth * 2});
    if (d->depth > MAX_INDENT) buf_addf(d->buf, "(%u) ", d->depth);
}

static bool dump_field(const NodeField *field, void *data);

static void dump_node(Dump *d, const char *field, const Node *node) {
    add_indent(d);
    if (field) add(d, field);
    if (field) buf_add_char(d->buf, ' ');
    if (!node) {
        add(d, "None\n");
        return;
    }
    add(d, node_kind_name((NodeKind)node->kind));
    bool hidden = d->flags & AST_DUMP_NO_FSTRING_POSITIONS && d->in_fstring;
    if (has_position(node) && !hidden) {
        buf_add_char(d->buf, ' ');
        add_position(d, node->start);
        buf_add_char(d->buf, '-');
        add_position(d, node->end);
    }
    add_values(d, node);
    buf_add_char(d->buf, '\n');
    bool fstring = node->kind == N_JOINED_STR || node->kind == N_TEMPLATE_STR;
    d->depth++;
    d->in_fstring += fstring;
    node_fields(node, dump_field, d);
    d->in_fstring -= fstring;
    d->depth--;
}

static bool dump_field(const NodeField *field, void *data) {
    for (uint32_t i = 0; i < field->len; i++) {
        dump_node(data, field->name, field->at[i]);
    }
    return true;
}

void ast_dump(Buf *buf, const SourceText *source, const Node *node,
              unsigned flags) {
    Dump d = {.buf = buf, .source = source, .flags = flags};
    dump_node(&d, NULL, node);
}
