// schema.c - takes a schema apart. The grammar is small and fixed (torch
// prints it), so anything that does not fit is no schema.
#include "base/base.h"

#include "apidoc/schema.h"

typedef struct Reader {
    Str rest;
    Arena *arena;
    Err *err;
} Reader;

static void skip_blanks(Reader *r) {
    while (r->rest.len && r->rest.at[0] == ' ') r->rest = (Str){r->rest.at + 1, r->rest.len - 1};
}

static bool take(Reader *r, const char *text) {
    skip_blanks(r);
    if (!str_starts(r->rest, text)) return false;
    size_t n = strlen(text);
    r->rest = (Str){r->rest.at + n, r->rest.len - n};
    return true;
}

static bool expect(Reader *r, const char *text) {
    if (take(r, text)) return true;
    return err_set(r->err, "a schema has '%s' where this has '%.*s'", text,
                   (int)(r->rest.len < 20 ? r->rest.len : 20), r->rest.at);
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static Str take_name(Reader *r) {
    skip_blanks(r);
    size_t n = 0;
    while (n < r->rest.len) {
        char c = r->rest.at[n];
        if (!is_letter(c) && !(n && c >= '0' && c <= '9')) break;
        n++;
    }
    Str name = {r->rest.at, n};
    r->rest = (Str){r->rest.at + n, r->rest.len - n};
    return name;
}

// "npu::npu_x.out" up to the bracket.
static bool read_head(Schema *out, Reader *r) {
    out->name = take_name(r);
    if (take(r, "::")) {
        out->space = out->name;
        out->name = take_name(r);
    }
    if (take(r, ".")) out->overload = take_name(r);
    if (!out->name.len) return err_set(r->err, "a schema begins with the operator's name");
    return expect(r, "(");
}

// The bytes of what `open` begins and its `close` ends, both included; 0 if
// nothing ends it.
static size_t nested(Str text, char open, char close) {
    uint32_t depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == open) depth++;
        if (text.at[i] == close && --depth == 0) return i + 1;
    }
    return 0;
}

// A type with what belongs to it: an alias set, a size, '?'. "Tensor(a!)[]?",
// "int[2]", "Dict(str, Tensor)", "__torch__.torch.classes.c10d.ProcessGroup".
static bool read_type(Str *out, bool *mutated, Reader *r) {
    skip_blanks(r);
    const char *start = r->rest.at;
    do {
        if (!take_name(r).len) return err_set(r->err, "a type is expected in a schema");
    } while (r->rest.len && r->rest.at[0] == '.' && take(r, "."));
    for (;;) {
        char c = r->rest.len ? r->rest.at[0] : '\0';
        char close = c == '(' ? ')' : c == '[' ? ']' : '\0';
        if (c == '?') {
            take(r, "?");
        } else if (close) {
            size_t n = nested(r->rest, c, close);
            if (!n) return err_set(r->err, "'%c' is not closed in a schema", c);
            if (c == '(' && memchr(r->rest.at, '!', n)) *mutated = true;
            r->rest = (Str){r->rest.at + n, r->rest.len - n};
        } else {
            break;
        }
    }
    *out = (Str){start, (size_t)(r->rest.at - start)};
    return true;
}

// A default up to the comma or bracket that ends it; quotes and lists hold both.
static bool read_fallback(Str *out, Reader *r) {
    skip_blanks(r);
    const char *start = r->rest.at;
    int depth = 0;
    char quote = 0;
    size_t n = 0;
    for (; n < r->rest.len; n++) {
        char c = r->rest.at[n];
        if (quote) {
            if (c == '\\' && n + 1 < r->rest.len) n++;
            else if (c == quote) quote = 0;
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (c == '[') {
            depth++;
        } else if (c == ']') {
            depth--;
        } else if (!depth && (c == ',' || c == ')')) {
            break;
        }
    }
    r->rest = (Str){r->rest.at + n, r->rest.len - n};
    while (n && start[n - 1] == ' ') n--;
    *out = (Str){start, n};
    return n > 0 || err_set(r->err, "a default is missing behind '=' in a schema");
}

static bool read_arg(Schema *out, Reader *r, bool keyword_only) {
    SchemaArg arg = {.keyword_only = keyword_only};
    if (!read_type(&arg.type, &arg.mutated, r)) return false;
    arg.name = take_name(r);
    if (!arg.name.len) return err_set(r->err, "an argument of a schema has no name");
    arg.has_fallback = take(r, "=");
    if (arg.has_fallback && !read_fallback(&arg.fallback, r)) return false;
    if (out->args.len >= SCHEMA_MAX_ARGS) {
        return err_set(r->err, "a schema has at most %d arguments", SCHEMA_MAX_ARGS);
    }
    vec_push(r->arena, &out->args, arg);
    return true;
}

static bool read_args(Schema *out, Reader *r) {
    bool keyword_only = false;
    if (take(r, ")")) return true;
    do {
        if (!keyword_only && take(r, "*")) {
            keyword_only = true;
        } else if (!read_arg(out, r, keyword_only)) {
            return false;
        }
    } while (take(r, ","));
    return expect(r, ")");
}

// "Tensor", "(Tensor, Tensor)", "(Tensor out, int n)", "()".
static bool read_returns(Schema *out, Reader *r) {
    bool many = take(r, "(");
    if (many && take(r, ")")) return true;
    do {
        Str type;
        bool mutated = false;
        if (!read_type(&type, &mutated, r)) return false;
        (void)take_name(r); // results may be named
        if (out->returns.len >= SCHEMA_MAX_ARGS) {
            return err_set(r->err, "a schema has at most %d results", SCHEMA_MAX_ARGS);
        }
        vec_push(r->arena, &out->returns, type);
    } while (many && take(r, ","));
    return !many || expect(r, ")");
}

static Str trim(Str s) {
    while (s.len && strchr(" \t\r\n", s.at[0])) s = (Str){s.at + 1, s.len - 1};
    while (s.len && strchr(" \t\r\n", s.at[s.len - 1])) s.len--;
    return s;
}

bool schema_parse(Schema *out, Arena *arena, Str text, Err *err) {
    *out = (Schema){.text = trim(text)};
    if (text.len > SCHEMA_MAX_BYTES) {
        return err_set(err, "a schema has at most %d bytes", SCHEMA_MAX_BYTES);
    }
    Reader r = {out->text, arena, err};
    if (!read_head(out, &r) || !read_args(out, &r)) return false;
    if (!expect(&r, "->") || !read_returns(out, &r)) return false;
    skip_blanks(&r);
    return !r.rest.len || err_set(err, "text behind the schema of '%.*s'", STR_FMT(out->name));
}

const SchemaArg *schema_arg(const Schema *schema, Str name) {
    for (uint32_t i = 0; i < schema->args.len; i++) {
        if (str_eq(schema->args.at[i].name, name)) return &schema->args.at[i];
    }
    return NULL;
}
