// source.c - the text of a file with its lines, and positions in it.
//
// Columns are counted in bytes of UTF-8, as CPython does. The table of line
// starts is made once; a position is found in it by bisection.
#include "base/base.h"

#include "py/decode.h"
#include "py/source.h"

typedef VEC(uint32_t) Lines;

static void add_line(Arena *arena, Lines *lines, Str text, const char *start) {
    // The end of the text starts no line of its own.
    if (start == text.at + text.len && lines->len) return;
    vec_push(arena, lines, (uint32_t)(start - text.at));
}

// The usual case: no carriage return anywhere.
static void find_lines(Arena *arena, Lines *lines, Str text) {
    const char *end = text.at + text.len;
    const char *s = text.at;
    while (s < end && (s = memchr(s, '\n', (size_t)(end - s)))) {
        add_line(arena, lines, text, ++s);
    }
}

static void find_lines_with_cr(Arena *arena, Lines *lines, Str text) {
    const char *end = text.at + text.len;
    for (const char *s = text.at; s < end; s++) {
        if (*s != '\n' && *s != '\r') continue;
        if (*s == '\r' && s + 1 < end && s[1] == '\n') s++;
        add_line(arena, lines, text, s + 1);
    }
}

static void make_lines(SourceText *out, Arena *arena) {
    Lines lines = {0};
    uint32_t guess = (uint32_t)(out->text.len / 24 + 16);
    lines.at = NEW_N(arena, uint32_t, guess);
    lines.cap = guess;
    add_line(arena, &lines, out->text, out->text.at);
    if (out->text.len && memchr(out->text.at, '\r', out->text.len)) {
        find_lines_with_cr(arena, &lines, out->text);
    } else {
        find_lines(arena, &lines, out->text);
    }
    out->lines = lines.at;
    out->line_count = lines.len;
}

bool source_init(SourceText *out, Arena *arena, const char *path, Str bytes,
                 Err *err) {
    *out = (SourceText){.path = path, .bytes = bytes};
    if (bytes.len > UINT32_MAX / 4) return err_set(err, "the file is too large");
    if (!decode_source(&out->text, &out->bom_bytes, arena, bytes, err)) {
        return false;
    }
    make_lines(out, arena);
    return true;
}

uint32_t source_line(const SourceText *source, uint32_t offset) {
    uint32_t low = 0;
    uint32_t high = source->line_count;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (source->lines[mid] <= offset) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return low + 1;
}

uint32_t source_col(const SourceText *source, uint32_t offset) {
    return offset - source->lines[source_line(source, offset) - 1];
}

Str source_line_text(const SourceText *source, uint32_t line) {
    if (line == 0 || line > source->line_count) return STR("");
    uint32_t start = source->lines[line - 1];
    uint32_t end = line < source->line_count ? source->lines[line]
                                             : (uint32_t)source->text.len;
    const char *at = source->text.at;
    if (end > start && at[end - 1] == '\n') end--;
    if (end > start && at[end - 1] == '\r') end--;
    return source_span(source, start, end);
}

Str source_span(const SourceText *source, uint32_t start, uint32_t end) {
    return (Str){source->text.at + start, end - start};
}
