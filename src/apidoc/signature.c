// signature.c - the arguments of a documented signature. They are written as
// Python ("self, dim=-1"), as a schema ("Tensor self, int dim=-1") or with
// annotations ("x: Tensor"); the name is what all three have.
#include "base/base.h"

#include "apidoc/page.h"

static Str trim(Str s) {
    while (s.len && strchr(" \t\\`", s.at[0])) s = (Str){s.at + 1, s.len - 1};
    while (s.len && strchr(" \t\\`", s.at[s.len - 1])) s.len--;
    return s;
}

// The offset of `c` outside of brackets and quotes, or text.len.
static size_t find_outside(Str text, char c) {
    int depth = 0;
    char quote = 0;
    for (size_t i = 0; i < text.len; i++) {
        char at = text.at[i];
        if (quote) {
            if (at == quote) quote = 0;
        } else if (at == '\'' || at == '"') {
            quote = at;
        } else if (!depth && at == c) {
            return i;
        } else if (strchr("([{", at)) {
            depth++;
        } else if (strchr(")]}", at)) {
            depth--;
        }
    }
    return text.len;
}

static Str take_outside(Str *rest, char c) {
    size_t at = find_outside(*rest, c);
    Str part = {rest->at, at};
    size_t used = at < rest->len ? at + 1 : at;
    *rest = (Str){rest->at + used, rest->len - used};
    return trim(part);
}

static bool is_name(Str s) {
    if (!s.len || (s.at[0] >= '0' && s.at[0] <= '9')) return false;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.at[i];
        bool part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                    (c >= '0' && c <= '9');
        if (!part) return false;
    }
    return true;
}

// "int dim=-1", "dim: int = -1" or "dim=-1".
static bool read_arg(DocArg *out, Str text) {
    Str rest = text;
    size_t equals = find_outside(text, '=');
    *out = (DocArg){.has_fallback = equals < text.len};
    Str left = take_outside(&rest, '=');
    if (out->has_fallback) out->fallback = trim(rest);
    Str after = left;
    Str before = take_outside(&after, ':');
    if (before.len < left.len) left = before;
    const char *blank = NULL;
    for (size_t i = 0; i < left.len; i++) {
        if (left.at[i] == ' ') blank = left.at + i;
    }
    out->name = blank ? (Str){blank + 1, (size_t)(left.at + left.len - blank - 1)} : left;
    return is_name(out->name);
}

static uint32_t count_returns(Str text) {
    size_t at = find_outside(text, '>');
    if (at == text.len || !at || text.at[at - 1] != '-') return 0;
    Str rest = trim((Str){text.at + at + 1, text.len - at - 1});
    if (!rest.len) return 0;
    if (rest.at[0] != '(') return 1;
    Str inside = {rest.at + 1, rest.len - 2};
    uint32_t n = 0;
    while (inside.len) n += take_outside(&inside, ',').len > 0;
    return n;
}

bool page_signature(DocSignature *out, Arena *arena, Str signature) {
    *out = (DocSignature){0};
    const char *open = signature.len ? memchr(signature.at, '(', signature.len) : NULL;
    if (!open) return false;
    Str rest = {open + 1, (size_t)(signature.at + signature.len - open - 1)};
    size_t end = find_outside(rest, ')');
    if (end == rest.len) return false;
    Str args = {rest.at, end};
    out->returns = count_returns((Str){rest.at + end + 1, rest.len - end - 1});
    bool keyword_only = false;
    while (args.len) {
        Str part = take_outside(&args, ',');
        if (!part.len) continue;
        if (str_is(part, "*")) {
            keyword_only = true;
            continue;
        }
        DocArg arg;
        if (!read_arg(&arg, part)) return false;
        arg.keyword_only = keyword_only;
        vec_push(arena, &out->args, arg);
    }
    return true;
}
