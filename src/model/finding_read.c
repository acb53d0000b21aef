// finding_read.c - every field of docs/formats.md, in the order in which
// report/findings_json.c writes them. What the counts say is not read: they
// follow from the rest.
#include "base/base.h"

#include "model/finding_read.h"

#include "base/file.h"
#include "model/json_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Reader {
    Arena *arena;
    const char *path;
    char where[200]; // findings[3].facts[0], the value that is being read
    size_t where_len;
    Err *err;
} Reader;

// `where` with `fmt` behind it; returns what leave() needs.
static size_t enter(Reader *reader, const char *fmt, ...) PRINTF_LIKE(2, 3);
static size_t enter(Reader *reader, const char *fmt, ...) {
    size_t before = reader->where_len, room = sizeof(reader->where) - before;
    va_list args;
    va_start(args, fmt);
    int put = vsnprintf(reader->where + before, room, fmt, args);
    va_end(args);
    if (put < 0 || (size_t)put >= room) BUG("a place of %d more bytes", put);
    reader->where_len += (size_t)put;
    return before;
}

static void leave(Reader *reader, size_t before) {
    reader->where_len = before;
    reader->where[before] = 0;
}

static bool fail_at(Reader *reader, const char *name, const char *what) {
    const char *dot = reader->where_len && *name ? "." : "";
    return err_set(reader->err, "'%s': %s%s%s: %s; scan again", reader->path,
                   reader->where, dot, name, what);
}

// A member of the wrong type, or none.
static bool fail_type(Reader *reader, const JsonVal *value, const char *name,
                      const char *what) {
    if (!value) return fail_at(reader, name, "is missing");
    return fail_at(reader, name, arena_printf(reader->arena, "is not %s", what).at);
}

static bool read_text(Reader *reader, const JsonVal *object, const char *name, Str *out) {
    const JsonVal *value = json_member(object, name);
    if (!json_is_text(value)) return fail_type(reader, value, name, "a string");
    *out = json_text(value);
    return true;
}

// A text that is handed to the system or compared: it holds no NUL.
static bool read_plain(Reader *reader, const JsonVal *object, const char *name, Str *out) {
    if (!read_text(reader, object, name, out)) return false;
    if (memchr(out->at, 0, out->len)) return fail_at(reader, name, "holds a NUL");
    return true;
}

static bool read_filled(Reader *reader, const JsonVal *object, const char *name,
                        Str *out) {
    if (!read_plain(reader, object, name, out)) return false;
    return out->len ? true : fail_at(reader, name, "is empty");
}

static bool read_number(Reader *reader, const JsonVal *object, const char *name,
                        uint32_t *out) {
    const JsonVal *value = json_member(object, name);
    int64_t number = json_int(value, -1);
    if (number < 0 || number > UINT32_MAX) {
        return fail_type(reader, value, name, "a number from 0 to 4294967295");
    }
    *out = (uint32_t)number;
    return true;
}

static bool read_line(Reader *reader, const JsonVal *object, const char *name,
                      uint32_t *out) {
    const JsonVal *value = json_member(object, name);
    int64_t number = json_int(value, 0);
    if (number < 1 || number > UINT32_MAX) {
        return fail_type(reader, value, name, "a line number");
    }
    *out = (uint32_t)number;
    return true;
}

typedef const char *(*WordName)(int value);

static const char *verdict_word(int value) { return verdict_name((Verdict)value); }
static const char *state_word(int value) { return fact_state_name((FactState)value); }
static const char *priority_word(int value) { return priority_name((Priority)value); }
static const char *kind_word(int value) { return switch_kind_name((SwitchKind)value); }

typedef struct Words {
    WordName name;
    int last;
    const char *what;
} Words;

static const Words verdicts = {verdict_word, VERDICT_REJECT, "a verdict"};
static const Words states = {state_word, FACT_UNKNOWN, "the state of a fact"};
static const Words priorities = {priority_word, PRIORITY_LOW, "a priority"};
static const Words kinds = {kind_word, SWITCH_DEVICE_ONLY, "a kind of switch"};

static bool read_word(Reader *reader, const JsonVal *object, const char *name,
                      const Words *words, int *out) {
    const JsonVal *value = json_member(object, name);
    for (*out = 0; json_is_text(value) && *out <= words->last; ++*out) {
        if (str_is(json_text(value), words->name(*out))) return true;
    }
    return fail_type(reader, value, name, words->what);
}

static bool is_hex(Str text, size_t len) {
    if (text.len != len) return false;
    for (size_t i = 0; i < len; i++) {
        char c = text.at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    }
    return true;
}

static bool read_hash(Reader *reader, const JsonVal *object, const char *name, size_t len,
                      Str *out) {
    if (!read_text(reader, object, name, out)) return false;
    if (is_hex(*out, len)) return true;
    return fail_at(reader, name, arena_printf(reader->arena, "is not %zu hexadecimal "
                                              "digits", len).at);
}

bool finding_file_is_safe(Str file) {
    if (file.len == 0 || memchr(file.at, 0, file.len)) return false;
    for (size_t at = 0; at <= file.len;) {
        const char *slash = memchr(file.at + at, '/', file.len - at);
        size_t end = slash ? (size_t)(slash - file.at) : file.len;
        Str part = {file.at + at, end - at};
        if (part.len == 0 || str_is(part, ".") || str_is(part, "..")) return false;
        at = end + 1;
    }
    return true;
}

static bool read_file_name(Reader *reader, const JsonVal *object, Str *out) {
    if (!read_text(reader, object, "file", out)) return false;
    if (finding_file_is_safe(*out)) return true;
    return fail_at(reader, "file", "is not a path below the root");
}

// ---- Lists.

typedef bool (*ReadElement)(Reader *reader, const JsonVal *value, void *into);

typedef struct ListKind {
    const char *name;
    size_t size; // of an element
    ReadElement read;
} ListKind;

// The elements of a list; NULL after a fault. Memory is taken for what was
// read: a list of a million zeros must not ask for a million findings.
static void *read_elements(Reader *reader, const JsonVal *object, ListKind kind,
                           uint32_t *count) {
    const char *name = kind.name;
    const JsonVal *list = json_member(object, name);
    if (!json_is_array(list)) {
        fail_type(reader, list, name, "a list");
        return NULL;
    }
    uint32_t i = 0;
    size_t cap = 4;
    char *at = arena_alloc(reader->arena, cap * kind.size);
    for (JsonIter it = json_first(list); it.value; json_next(&it), i++) {
        if (i == cap) {
            at = arena_grow(reader->arena, at, cap * kind.size, 2 * cap * kind.size);
            cap *= 2;
        }
        size_t before = enter(reader, "%s%s[%u]", reader->where_len ? "." : "", name,
                              (unsigned)i);
        if (!kind.read(reader, it.value, at + i * kind.size)) return NULL;
        leave(reader, before);
    }
    *count = i;
    return at;
}

#define READ_LIST(reader, object, name, list, read)                                \
    ((list)->at = read_elements((reader), (object),                                \
                                (ListKind){(name), sizeof(*(list)->at), (read)},   \
                                &(list)->len),                                     \
     (list)->cap = (list)->len, (list)->at != NULL)

static bool read_string(Reader *reader, const JsonVal *value, void *into) {
    if (!json_is_text(value)) return fail_at(reader, "", "is not a string");
    *(Str *)into = json_text(value);
    return true;
}

static bool read_argument(Reader *reader, const JsonVal *value, void *into) {
    Str *text = into;
    if (!read_string(reader, value, into)) return false;
    if (memchr(text->at, 0, text->len)) return fail_at(reader, "", "holds a NUL");
    return true;
}

static bool read_span(Reader *reader, const JsonVal *value, void *into) {
    Span *span = into;
    return read_text(reader, value, "file", &span->file) &&
           read_number(reader, value, "start_line", &span->start_line) &&
           read_number(reader, value, "end_line", &span->end_line) &&
           read_text(reader, value, "text", &span->text);
}

static bool read_fact(Reader *reader, const JsonVal *value, void *into) {
    Fact *fact = into;
    int state;
    if (!read_text(reader, value, "name", &fact->name) ||
        !read_text(reader, value, "claim", &fact->claim) ||
        !read_word(reader, value, "state", &states, &state)) {
        return false;
    }
    fact->state = (FactState)state;
    return read_text(reader, value, "guard", &fact->guard) &&
           READ_LIST(reader, value, "chain", &fact->chain, read_span);
}

static bool read_insert(Reader *reader, const JsonVal *value, void *into) {
    Insert *insert = into;
    if (!read_line(reader, value, "line", &insert->line) ||
        !read_number(reader, value, "order", &insert->order)) {
        return false;
    }
    if (insert->order > INSERT_TAIL) return fail_at(reader, "order", "is not known");
    return read_text(reader, value, "text", &insert->text);
}

static bool read_port(Reader *reader, const JsonVal *value, void *into) {
    Port *port = into;
    return read_text(reader, value, "name", &port->name) &&
           read_text(reader, value, "expr", &port->expr) &&
           read_text(reader, value, "dtype", &port->dtype) &&
           read_text(reader, value, "shape", &port->shape);
}

// ---- A finding.

// The member itself, with its name entered; NULL after a fault.
static const JsonVal *enter_object(Reader *reader, const JsonVal *object,
                                   const char *name, size_t *before) {
    const JsonVal *value = json_member(object, name);
    if (!json_is_object(value)) {
        fail_type(reader, value, name, "an object");
        return NULL;
    }
    *before = enter(reader, "%s%s", reader->where_len ? "." : "", name);
    return value;
}

static bool read_switch_where(Reader *reader, const JsonVal *object, Span *out) {
    const JsonVal *where = json_member(object, "where");
    if (json_is_null(where)) return true;
    size_t before;
    where = enter_object(reader, object, "where", &before);
    if (!where || !read_span(reader, where, out)) return false;
    leave(reader, before);
    return true;
}

static bool read_switch(Reader *reader, const JsonVal *object, Finding *out) {
    out->switch_.kind = SWITCH_DEVICE_ONLY;
    if (out->verdict == VERDICT_REJECT) return true; // null: nothing to switch
    size_t before;
    int kind;
    const JsonVal *value = enter_object(reader, object, "switch", &before);
    if (!value || !read_word(reader, value, "kind", &kinds, &kind) ||
        !read_text(reader, value, "expr", &out->switch_.expr) ||
        !read_text(reader, value, "name", &out->switch_.name) ||
        !read_switch_where(reader, value, &out->switch_.where)) {
        return false;
    }
    out->switch_.kind = (SwitchKind)kind;
    leave(reader, before);
    return true;
}

static bool read_gain(Reader *reader, const JsonVal *object, Finding *out) {
    size_t before;
    const JsonVal *gain = enter_object(reader, object, "gain", &before);
    if (!gain || !read_text(reader, gain, "text", &out->gain) ||
        !read_text(reader, gain, "ground", &out->gain_ground)) {
        return false;
    }
    leave(reader, before);
    return true;
}

static bool read_op(Reader *reader, const JsonVal *object, Finding *out) {
    size_t before;
    const JsonVal *op = enter_object(reader, object, "op", &before);
    if (!op || !read_text(reader, op, "signature", &out->op_signature) ||
        !read_text(reader, op, "summary", &out->op_summary) ||
        !read_text(reader, op, "source", &out->op_source)) {
        return false;
    }
    leave(reader, before);
    return true;
}

static bool read_names(Reader *reader, const JsonVal *value, Finding *out) {
    return read_filled(reader, value, "id", &out->id) &&
           read_text(reader, value, "family", &out->family) &&
           read_text(reader, value, "api", &out->api) &&
           read_text(reader, value, "rule", &out->rule) &&
           read_hash(reader, value, "rule_version", 12, &out->rule_version) &&
           read_text(reader, value, "variant", &out->variant);
}

static bool read_judgement(Reader *reader, const JsonVal *value, Finding *out) {
    int verdict, priority;
    if (!read_word(reader, value, "verdict", &verdicts, &verdict) ||
        !read_word(reader, value, "priority", &priorities, &priority)) {
        return false;
    }
    out->verdict = (Verdict)verdict;
    out->priority = (Priority)priority;
    return true;
}

static bool read_place(Reader *reader, const JsonVal *value, Finding *out) {
    if (!read_file_name(reader, value, &out->file) ||
        !read_hash(reader, value, "file_sha256", 64, &out->file_sha256) ||
        !read_line(reader, value, "start_line", &out->start_line) ||
        !read_line(reader, value, "end_line", &out->end_line)) {
        return false;
    }
    if (out->end_line < out->start_line) {
        return fail_at(reader, "end_line", "is before the first line");
    }
    return read_plain(reader, value, "qualname", &out->qualname);
}

static bool read_change(Reader *reader, const JsonVal *value, Finding *out) {
    return read_text(reader, value, "original", &out->original) &&
           read_text(reader, value, "replacement", &out->replacement) &&
           READ_LIST(reader, value, "inserts", &out->inserts, read_insert) &&
           READ_LIST(reader, value, "inputs", &out->inputs, read_port) &&
           READ_LIST(reader, value, "outputs", &out->outputs, read_port);
}

static bool read_finding(Reader *reader, const JsonVal *value, void *into) {
    Finding *out = into;
    if (!json_is_object(value)) return fail_at(reader, "", "is not an object");
    return read_names(reader, value, out) && read_judgement(reader, value, out) &&
           read_place(reader, value, out) &&
           READ_LIST(reader, value, "facts", &out->facts, read_fact) &&
           READ_LIST(reader, value, "reasons", &out->reasons, read_string) &&
           read_change(reader, value, out) && read_switch(reader, value, out) &&
           READ_LIST(reader, value, "risks", &out->risks, read_string) &&
           read_gain(reader, value, out) &&
           READ_LIST(reader, value, "references", &out->references, read_span) &&
           READ_LIST(reader, value, "sites", &out->sites, read_span) &&
           READ_LIST(reader, value, "helpers", &out->helpers, read_span) &&
           read_op(reader, value, out);
}

// ---- The file.

static bool read_existing(Reader *reader, const JsonVal *value, void *into) {
    Existing *existing = into;
    return read_text(reader, value, "file", &existing->file) &&
           read_number(reader, value, "start_line", &existing->start_line) &&
           read_number(reader, value, "end_line", &existing->end_line) &&
           read_text(reader, value, "api", &existing->api) &&
           read_text(reader, value, "qualname", &existing->qualname);
}

static bool read_skipped(Reader *reader, const JsonVal *value, void *into) {
    Skipped *skipped = into;
    return read_text(reader, value, "file", &skipped->file) &&
           read_number(reader, value, "line", &skipped->line) &&
           read_text(reader, value, "reason", &skipped->reason);
}

static bool read_scan(Reader *reader, const JsonVal *root, ScanRecord *out) {
    size_t before;
    const JsonVal *scan = enter_object(reader, root, "scan", &before);
    if (!scan || !READ_LIST(reader, scan, "paths", &out->paths, read_argument) ||
        !READ_LIST(reader, scan, "rules", &out->rules, read_argument) ||
        !read_plain(reader, scan, "rule", &out->rule) ||
        !read_plain(reader, scan, "python", &out->python)) {
        return false;
    }
    leave(reader, before);
    return true;
}

static bool check_schema(Reader *reader, const JsonVal *root) {
    const JsonVal *value = json_member(root, "schema");
    int64_t schema = json_int(value, 0);
    if (schema > FINDINGS_SCHEMA) {
        return err_set(reader->err, "'%s': has schema %lld, this npufuse reads %d; use "
                       "the npufuse that wrote it, or scan again", reader->path,
                       (long long)schema, FINDINGS_SCHEMA);
    }
    if (schema == FINDINGS_SCHEMA) return true;
    return fail_type(reader, value, "schema", "the number 1");
}

static bool read_head(Reader *reader, const JsonVal *root, FindingSet *out) {
    size_t before;
    const JsonVal *tool = enter_object(reader, root, "tool", &before);
    if (!tool || !read_plain(reader, tool, "version", &out->tool_version)) return false;
    leave(reader, before);
    return read_filled(reader, root, "root", &out->root) &&
           read_plain(reader, root, "torch_npu", &out->torch_npu) &&
           read_scan(reader, root, &out->scan) &&
           READ_LIST(reader, root, "families", &out->families, read_string);
}

static bool read_counts(Reader *reader, const JsonVal *root, FindingSet *out) {
    size_t before;
    const JsonVal *counts = enter_object(reader, root, "counts", &before);
    if (!counts || !read_number(reader, counts, "files", &out->file_count) ||
        !read_number(reader, counts, "functions", &out->function_count) ||
        !read_number(reader, counts, "lines", &out->line_count)) {
        return false;
    }
    leave(reader, before);
    return true;
}

static int compare_ids(const void *a, const void *b) {
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

// An id names one candidate.
static bool check_ids(Reader *reader, const FindingSet *set) {
    uint32_t count = set->findings.len;
    Str *ids = NEW_N(reader->arena, Str, (size_t)count + 1);
    for (uint32_t i = 0; i < count; i++) ids[i] = set->findings.at[i].id;
    qsort(ids, count, sizeof(*ids), compare_ids);
    for (uint32_t i = 1; i < count; i++) {
        if (!str_eq(ids[i - 1], ids[i])) continue;
        return err_set(reader->err, "'%s': two findings have the id '%.*s'; scan again",
                       reader->path, STR_FMT(ids[i]));
    }
    return true;
}

bool findings_parse(FindingSet *out, Arena *arena, Str text, const char *path, Err *err) {
    Reader reader = {.arena = arena, .path = path, .err = err};
    const JsonVal *root;
    *out = (FindingSet){.file_count = 0};
    Err cause;
    if (!json_read(&root, arena, text, path, &cause)) {
        return err_set(err, "%.400s; scan again", cause.text);
    }
    if (!json_is_object(root)) {
        return err_set(err, "'%s': is not an object; scan again", path);
    }
    return check_schema(&reader, root) && read_head(&reader, root, out) &&
           read_counts(&reader, root, out) &&
           READ_LIST(&reader, root, "skipped", &out->skipped, read_skipped) &&
           READ_LIST(&reader, root, "existing", &out->existing, read_existing) &&
           READ_LIST(&reader, root, "findings", &out->findings, read_finding) &&
           check_ids(&reader, out);
}

bool findings_read(FindingSet *out, Arena *arena, const char *path, Err *err) {
    Str text;
    Err cause;
    if (!file_read(&text, arena, path, FINDINGS_MAX_BYTES, &cause)) {
        return err_set(err, "%.400s; scan again", cause.text);
    }
    return findings_parse(out, arena, text, path, err);
}
