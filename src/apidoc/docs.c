// docs.c - finds the texts of `_op_plugin_docs.py`: calls at the top of the
// module with a name and a string. The parser gives where each string lies;
// what it says is taken from the source as written, because Python would eat
// some of its backslashes (`\frac` begins with a form feed).
#include "base/base.h"

#include "apidoc/docs.h"

#include "base/sym.h"
#include "py/parser.h"

typedef struct Reader {
    Docs *out;
    Arena *arena;
    const SourceText *source;
} Reader;

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' ||
           (c >= '0' && c <= '9');
}

static bool is_operator_name(Str name) {
    if (!name.len || name.len > 200 || (name.at[0] >= '0' && name.at[0] <= '9')) return false;
    for (size_t i = 0; i < name.len; i++) {
        if (!is_name_char(name.at[i])) return false;
    }
    return name.at[0] != '.' && name.at[name.len - 1] != '.';
}

static bool is_string(const Node *n) {
    return n && n->kind == N_CONSTANT && n->op == CONST_STR;
}

// "npu_x" of the string, or of the attribute torch_npu.npu_x; empty if neither.
static Str entry_name(const Node *n) {
    if (is_string(n)) return is_operator_name(n->u.constant.text) ? n->u.constant.text : STR("");
    if (n && n->kind == N_ATTRIBUTE) return sym_str(n->u.attribute.attr);
    return STR("");
}

// What lies between the quotes of a literal that is one triple-quoted string.
static bool between_quotes(Str literal, Str *inside) {
    size_t start = 0;
    while (start < literal.len && start < 2 && is_name_char(literal.at[start])) start++;
    if (literal.len < start + 6) return false;
    const char *quote = literal.at + start;
    if (memcmp(quote, "\"\"\"", 3) != 0 && memcmp(quote, "'''", 3) != 0) return false;
    Str body = {quote + 3, literal.len - start - 3};
    for (size_t i = 0; i + 3 <= body.len; i++) {
        if (body.at[i] == '\\') {
            i++;
        } else if (memcmp(body.at + i, quote, 3) == 0) {
            *inside = (Str){body.at, i};
            return i + 3 == body.len;
        }
    }
    return false;
}

Str docs_plain_lines(Arena *arena, Str text) {
    char *copy = arena_alloc(arena, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool pair = text.at[i] == '\r' && i + 1 < text.len && text.at[i + 1] == '\n';
        if (!pair) copy[n++] = text.at[i] == '\r' ? '\n' : text.at[i];
    }
    return (Str){copy, n};
}

static uint32_t count_lines(Str text) {
    uint32_t n = 0;
    for (size_t i = 0; i < text.len; i++) n += text.at[i] == '\n';
    return n;
}

static bool is_blank(Str line) {
    for (size_t i = 0; i < line.len; i++) {
        if (!strchr(" \t", line.at[i])) return false;
    }
    return true;
}

// Drops the empty lines at both ends of the body; its lines are counted anew.
static void trim_body(DocEntry *entry) {
    Str rest = entry->body;
    while (rest.len) {
        Str after = rest, line = str_take(&after, '\n');
        if (!is_blank(line) || !after.len) break;
        rest = after;
        entry->body_line++;
    }
    while (rest.len && strchr(" \t\n", rest.at[rest.len - 1])) rest.len--;
    entry->body = rest;
    entry->end_line = entry->body_line + count_lines(rest);
}

static void add_call(const Reader *reader, const Node *call, Str name, const Node *text) {
    const SourceText *source = reader->source;
    Str literal = source_span(source, text->start, text->end), inside;
    bool raw = between_quotes(literal, &inside);
    uint32_t start = raw ? (uint32_t)(inside.at - source->text.at) : text->start;
    DocEntry entry = {
        .name = name,
        .body = docs_plain_lines(reader->arena, raw ? inside : text->u.constant.text),
        .path = str_of(source->path),
        .line = source_line(source, call->start),
        .body_line = source_line(source, start),
    };
    trim_body(&entry);
    entry.name = arena_str(reader->arena, name);
    vec_push(reader->arena, &reader->out->at, entry);
}

static void read_statement(const Reader *reader, const Node *stmt) {
    if (stmt->kind != N_EXPR || !stmt->u.return_.value) return;
    const Node *call = stmt->u.return_.value;
    if (call->kind != N_CALL || call->u.call.args.len != 2) return;
    if (!is_string(call->u.call.args.at[1])) return;
    Str name = entry_name(call->u.call.args.at[0]);
    if (name.len) add_call(reader, call, name, call->u.call.args.at[1]);
}

void docs_mark_superseded(Docs *docs) {
    SymTable seen;
    sym_table_init(&seen);
    for (uint32_t i = docs->at.len; i > 0; i--) {
        DocEntry *entry = &docs->at.at[i - 1];
        entry->superseded = sym_find(&seen, entry->name) != NULL;
        sym_intern(&seen, entry->name);
    }
    sym_table_free(&seen);
}

static void note_fault(const Reader *reader, const ParseResult *parsed) {
    if (!parsed->fault_count) return;
    const SyntaxFault *fault = &parsed->faults[0];
    reader->out->note = arena_printf(
        reader->arena, "'%s' line %u: %s; what stands there is left out, the %u other texts were "
        "read",
        reader->source->path, source_line(reader->source, fault->offset), fault->message,
        (unsigned)reader->out->at.len);
}

// The text without the beginning of a character at its end, where a file was cut.
static Str whole_characters(Arena *arena, Str text) {
    size_t behind = 0; // bytes behind the first of the last character
    while (behind < 3 && behind < text.len && (text.at[text.len - 1 - behind] & 0xC0) == 0x80) {
        behind++;
    }
    if (behind >= text.len) return text;
    unsigned char first = (unsigned char)text.at[text.len - 1 - behind];
    size_t needed = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : first >= 0xC2 ? 1 : 0;
    if (behind >= needed) return text;
    return arena_str(arena, (Str){text.at, text.len - 1 - behind});
}

bool docs_parse(Docs *out, Arena *arena, const char *path, Str text, Err *err) {
    *out = (Docs){0};
    SourceText source;
    Err why;
    text = whole_characters(arena, text);
    if (!source_init(&source, arena, path, text, &why)) {
        return err_set(err, "'%s': %s", path, why.text);
    }
    SymTable symbols;
    sym_table_init(&symbols);
    parser_init_symbols(&symbols);
    ParseResult parsed = parser_parse(&source, arena, &symbols);
    Reader reader = {out, arena, &source};
    NodeList body = parsed.module->u.module.body;
    for (uint32_t i = 0; i < body.len; i++) read_statement(&reader, body.at[i]);
    note_fault(&reader, &parsed);
    sym_table_free(&symbols);
    docs_mark_superseded(out);
    if (out->at.len) return true;
    return err_set(err, "'%s' has no texts of operators (calls like "
                   "_add_torch_npu_docstr(\"npu_x\", \"\"\"...\"\"\"))", path);
}

const DocEntry *docs_find(const Docs *docs, Str name) {
    for (uint32_t i = docs->at.len; i > 0; i--) {
        if (str_eq(docs->at.at[i - 1].name, name)) return &docs->at.at[i - 1];
    }
    return NULL;
}
