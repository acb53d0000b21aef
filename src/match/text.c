// text.c - patches on source text and indented lines.
#include "base/base.h"

#include "match/text.h"

// ---- substitution -----------------------------------------------------------

void patch_add(Arena *arena, Patches *list, Patch patch) {
    vec_push(arena, list, patch);
    for (uint32_t i = list->len - 1; i > 0; i--) { // keep them in order
        if (list->at[i - 1].start <= list->at[i].start) break;
        Patch swap = list->at[i];
        list->at[i] = list->at[i - 1];
        list->at[i - 1] = swap;
    }
}

Str patched(Arena *arena, const SourceText *source, uint32_t start, uint32_t end,
            const Patches *list) {
    Buf buf = {0};
    uint32_t at = start;
    for (uint32_t i = 0; i < list->len; i++) {
        const Patch *p = &list->at[i];
        if (p->start < at || p->end > end) continue;
        buf_add(&buf, source_span(source, at, p->start));
        buf_add(&buf, p->text);
        at = p->end;
    }
    buf_add(&buf, source_span(source, at, end));
    Str text = arena_str(arena, buf_str(&buf));
    buf_free(&buf);
    return text;
}

static bool is_atom(Str text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                     (c >= '0' && c <= '9') || c == '_' || c == '.';
        if (!plain) return false;
    }
    return text.len > 0;
}

// 1e-6
static bool is_literal(Str text) {
    if (!text.len || text.at[0] < '0' || text.at[0] > '9') return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!strchr("0123456789.eE_+-", text.at[i])) return false;
    }
    return true;
}

Str text_atom(Arena *arena, Str text) {
    return is_atom(text) || is_literal(text) ? text : arena_printf(arena, "(%.*s)", STR_FMT(text));
}

// An expression over several lines as one line.
Str text_squeeze(Arena *arena, Str text) {
    if (!memchr(text.at, '\n', text.len) && !memchr(text.at, '\r', text.len)) return text;
    Buf buf = {0};
    char quote = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool space = !quote && (c == ' ' || c == '\n' || c == '\r');
        char last = buf.len ? buf.at[buf.len - 1] : '(';
        if (quote ? c == quote : c == '"' || c == '\'') quote = quote ? 0 : c;
        if (space && (last == ' ' || last == '(' || last == '[')) continue;
        bool closes = !quote && (c == ')' || c == ']');
        bool spaced = last == ' '; // (x,) stays a tuple
        while (closes && spaced && buf.len && (last == ' ' || last == ',')) {
            buf.len--;
            last = buf.at[buf.len - 1];
        }
        buf_add_char(&buf, space ? ' ' : c);
    }
    Str line = arena_str(arena, buf_str(&buf));
    buf_free(&buf);
    return line;
}

// ---- lines ------------------------------------------------------------------

void put_line(Lines *out, uint32_t level, Str text) {
    buf_add(&out->buf, out->indent);
    for (uint32_t i = 0; i < level; i++) buf_add(&out->buf, out->unit);
    buf_add(&out->buf, text);
    buf_add(&out->buf, out->newline);
}

// Source lines from..to (1-based) with their own indentation moved right.
void put_source_lines(Lines *out, const SourceText *source, uint32_t from,
                             uint32_t to, uint32_t level) {
    for (uint32_t line = from; line <= to; line++) {
        Str text = source_line_text(source, line);
        for (uint32_t i = 0; text.len && i < level; i++) buf_add(&out->buf, out->unit);
        buf_add(&out->buf, text);
        buf_add(&out->buf, out->newline);
    }
}

// A statement's text after substitution; its further lines move right too.
void put_statement(Lines *out, uint32_t level, Str text) {
    size_t at = 0;
    bool first = true;
    while (at <= text.len) {
        size_t end = at;
        while (end < text.len && text.at[end] != '\n' && text.at[end] != '\r') end++;
        Str line = {text.at + at, end - at};
        if (end + 1 < text.len && text.at[end] == '\r' && text.at[end + 1] == '\n') end++;
        if (first) buf_add(&out->buf, out->indent);
        for (uint32_t i = 0; line.len && i < level; i++) buf_add(&out->buf, out->unit);
        buf_add(&out->buf, line);
        buf_add(&out->buf, out->newline);
        first = false;
        at = end + 1;
    }
}

// Where the term that begins at `at` ends: before the next top-level " and ".
static size_t next_term(Str cond, size_t at) {
    int depth = 0;
    char quote = 0;
    for (size_t i = at; i < cond.len; i++) {
        char c = cond.at[i];
        if (quote) {
            if (c == quote) quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (strchr("([{", c)) {
            depth++;
        } else if (strchr(")]}", c)) {
            depth--;
        } else if (depth == 0 && i > at && c == ' ' && cond.len - i > 5 &&
                   memcmp(cond.at + i, " and ", 5) == 0) {
            return i;
        }
    }
    return cond.len;
}

// The condition, one term a line where it is long.
void put_condition(Lines *out, uint32_t level, Str cond) {
    Buf line = {0};
    size_t width = out->indent.len + level * out->unit.len + cond.len + 4;
    if (width <= 88) {
        buf_addf(&line, "if %.*s:", STR_FMT(cond));
        put_line(out, level, buf_str(&line));
        buf_free(&line);
        return;
    }
    put_line(out, level, STR("if ("));
    size_t at = 0;
    while (at < cond.len) {
        size_t end = next_term(cond, at);
        Str term = {cond.at + at, end - at};
        put_line(out, level + 1, term);
        at = end + 1;
    }
    put_line(out, level, STR("):"));
    buf_free(&line);
}

// ---- files -------------------------------------------------------------------

Str file_newline(const SourceText *source) {
    Str first = source->text;
    const char *n = first.len ? memchr(first.at, '\n', first.len) : NULL;
    if (!n) return first.len && memchr(first.at, '\r', first.len) ? STR("\r") : STR("\n");
    return n > first.at && n[-1] == '\r' ? STR("\r\n") : STR("\n");
}

Str indent_unit(const SourceText *source) {
    for (uint32_t i = 0; i < source->line_count; i++) {
        char c = source->text.at[source->lines[i]];
        if (c == '\t') return STR("\t");
        if (c == ' ') return STR("    ");
    }
    return STR("    ");
}

Str source_lines(Arena *run, const SourceText *source, uint32_t from,
                        uint32_t to) {
    uint32_t start = source->lines[from - 1];
    uint32_t end = to < source->line_count ? source->lines[to]
                                           : (uint32_t)source->text.len;
    return arena_str(run, source_span(source, start, end));
}
