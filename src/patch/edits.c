// edits.c - candidates to changes of a file, and changes to its text.
#include "base/base.h"

#include "patch/edits.h"

#include "base/buf.h"
#include "py/decode.h"

#include <stdlib.h>

static bool fail(Err *err, const Finding *f, const char *what) {
    return err_set(err, "'%.*s' line %u: %s", STR_FMT(f->file), (unsigned)f->start_line,
                   what);
}

// ---- lines ------------------------------------------------------------------

typedef struct Lines {
    Str text;
    const size_t *starts; // of each line, and the end of the text behind them
    uint32_t count;
} Lines;

// Behind the line that begins at `at`: "\n", "\r\n" and "\r" end one.
static size_t line_end(Str text, size_t at) {
    while (at < text.len && text.at[at] != '\n' && text.at[at] != '\r') at++;
    if (at + 1 < text.len && text.at[at] == '\r' && text.at[at + 1] == '\n') at++;
    return at < text.len ? at + 1 : at;
}

static uint32_t count_lines(Str text) {
    uint32_t count = 0;
    for (size_t at = 0; at < text.len; at = line_end(text, at)) count++;
    return count;
}

// A mark before the text belongs to no line.
static Lines split_lines(Arena *arena, Str text) {
    size_t at = str_starts(text, "\xEF\xBB\xBF") ? 3 : 0;
    Lines lines = {.text = text};
    VEC(size_t) starts = {0};
    for (; at < text.len; at = line_end(text, at)) vec_push(arena, &starts, at);
    lines.count = starts.len;
    vec_push(arena, &starts, at);
    lines.starts = starts.at;
    return lines;
}

static Str lines_between(const Lines *lines, uint32_t from, uint32_t to) {
    size_t start = lines->starts[from - 1];
    return (Str){lines->text.at + start, lines->starts[to] - start};
}

// ---- what a candidate may change --------------------------------------------

static bool check_candidate(const Lines *lines, const Finding *f, Err *err) {
    if (!f->replacement.len) return fail(err, f, "the candidate has no replacement");
    if (f->start_line < 1 || f->end_line < f->start_line || f->end_line > lines->count ||
        !str_eq(lines_between(lines, f->start_line, f->end_line), f->original)) {
        return fail(err, f, "the lines are not those of the candidate; scan again");
    }
    for (uint32_t i = 0; i < f->inserts.len; i++) {
        if (f->inserts.at[i].line < 1 || f->inserts.at[i].line > lines->count + 1) {
            return fail(err, f, "an addition outside of the file; scan again");
        }
    }
    return true;
}

static int compare_spans(const void *a, const void *b) {
    const Finding *x = *(const Finding *const *)a, *y = *(const Finding *const *)b;
    if (x->start_line != y->start_line) return x->start_line < y->start_line ? -1 : 1;
    if (x->end_line != y->end_line) return x->end_line < y->end_line ? -1 : 1;
    return str_cmp(x->id, y->id);
}

static bool fail_overlap(Err *err, const Finding *a, const Finding *b) {
    return err_set(err, "'%.*s': lines %u-%u ('%.*s') and %u-%u ('%.*s') overlap; "
                        "apply one of the two", STR_FMT(a->file), (unsigned)a->start_line,
                   (unsigned)a->end_line, STR_FMT(a->id), (unsigned)b->start_line,
                   (unsigned)b->end_line, STR_FMT(b->id));
}

// `sorted` by lines: neighbours are enough.
static bool check_overlaps(const Finding *const *sorted, uint32_t count, Err *err) {
    for (uint32_t i = 1; i < count; i++) {
        if (sorted[i]->start_line > sorted[i - 1]->end_line) continue;
        return fail_overlap(err, sorted[i - 1], sorted[i]);
    }
    return true;
}

// ---- additions --------------------------------------------------------------

static int compare_inserts(const void *a, const void *b) {
    const Insert *x = a, *y = b;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    if (x->order != y->order) return x->order < y->order ? -1 : 1;
    return str_cmp(x->text, y->text);
}

static Inserts sorted_inserts(Arena *arena, EditList list) {
    Inserts all = {0};
    for (uint32_t i = 0; i < list.len; i++) {
        const Inserts *own = &list.at[i]->inserts;
        for (uint32_t k = 0; k < own->len; k++) vec_push(arena, &all, own->at[k]);
    }
    if (all.len) qsort(all.at, all.len, sizeof(*all.at), compare_inserts);
    return all;
}

static bool ends_line(Str text) {
    return !text.len || text.at[text.len - 1] == '\n' || text.at[text.len - 1] == '\r';
}

// The line end that the text of an addition uses.
static Str newline_of(Str text) {
    const char *n = memchr(text.at, '\n', text.len);
    if (!n) return STR("\r");
    return n > text.at && n[-1] == '\r' ? STR("\r\n") : STR("\n");
}

// The pieces from `i` on that go before the same line, equal ones once; *i is
// moved behind them.
static Change join_pieces(Arena *arena, const Lines *lines, const Inserts *all, uint32_t *i) {
    uint32_t first = *i, line = all->at[first].line;
    Buf text = {0};
    size_t at = lines->starts[line - 1];
    bool open = at == lines->text.len && at && !ends_line(lines->text);
    if (open) buf_add(&text, newline_of(all->at[first].text));
    for (; *i < all->len && all->at[*i].line == line; ++*i) {
        const Insert *piece = &all->at[*i];
        bool again = *i > first && compare_inserts(piece - 1, piece) == 0;
        if (!again) buf_add(&text, piece->text);
    }
    Change change = {.start = at, .end = at, .text = arena_str(arena, buf_str(&text))};
    buf_free(&text);
    return change;
}

// ---- the changes of a file --------------------------------------------------

static int compare_changes(const void *a, const void *b) {
    const Change *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static bool check_changes(const Edits *edits, const Finding *f, Err *err) {
    for (uint32_t i = 1; i < edits->change_count; i++) {
        if (edits->changes[i].start >= edits->changes[i - 1].end) continue;
        return err_set(err, "'%.*s': an addition would stand inside replaced lines; "
                            "scan again", STR_FMT(f->file));
    }
    return true;
}

static bool make_changes(Edits *out, Arena *arena, const Lines *lines, EditList list,
                         Err *err) {
    const Finding **sorted = NEW_N(arena, const Finding *, list.len);
    for (uint32_t i = 0; i < list.len; i++) {
        if (!check_candidate(lines, list.at[i], err)) return false;
        sorted[i] = list.at[i];
    }
    qsort(sorted, list.len, sizeof(*sorted), compare_spans);
    if (!check_overlaps(sorted, list.len, err)) return false;
    VEC(Change) changes = {0};
    for (uint32_t i = 0; i < list.len; i++) {
        const Finding *f = sorted[i];
        Change change = {.start = lines->starts[f->start_line - 1],
                         .end = lines->starts[f->end_line], .text = f->replacement};
        vec_push(arena, &changes, change);
    }
    Inserts all = sorted_inserts(arena, list);
    for (uint32_t i = 0; i < all.len;) {
        vec_push(arena, &changes, join_pieces(arena, lines, &all, &i));
    }
    qsort(changes.at, changes.len, sizeof(*changes.at), compare_changes);
    out->changes = changes.at;
    out->change_count = changes.len;
    return check_changes(out, list.at[0], err);
}

// ---- the text ---------------------------------------------------------------

static Str render(Edits *out, Arena *arena) {
    Buf text = {0};
    size_t at = 0;
    for (uint32_t i = 0; i < out->change_count; i++) {
        Change *c = &out->changes[i];
        buf_add(&text, (Str){out->pristine.at + at, c->start - at});
        c->at = text.len;
        buf_add(&text, c->text);
        at = c->end;
    }
    buf_add(&text, (Str){out->pristine.at + at, out->pristine.len - at});
    Str rendered = {arena_cstr(arena, buf_str(&text)), text.len};
    buf_free(&text);
    return rendered;
}

// The candidate whose lines the hunk replaces stands where the hunk does.
static void place(Edits *out, EditList list, const Hunk *hunk) {
    uint32_t count = count_lines(hunk->new_code);
    for (uint32_t i = 0; hunk->old_code.len && i < list.len; i++) {
        if (list.at[i]->start_line != hunk->old_line) continue;
        out->places[i] = (EditPlace){hunk->new_line, hunk->new_line + count - 1};
    }
}

static void make_hunks(Edits *out, Arena *arena, const Lines *lines, EditList list) {
    out->hunks = NEW_N(arena, Hunk, out->change_count);
    out->places = NEW_N(arena, EditPlace, list.len);
    uint32_t old_line = 1, new_line = 1;
    size_t at = out->change_count ? lines->starts[0] : 0;
    for (uint32_t i = 0; i < out->change_count; i++) {
        const Change *c = &out->changes[i];
        uint32_t between = count_lines((Str){out->pristine.at + at, c->start - at});
        old_line += between;
        new_line += between;
        Str old_code = {out->pristine.at + c->start, c->end - c->start};
        out->hunks[i] = (Hunk){old_line, new_line, old_code, c->text};
        place(out, list, &out->hunks[i]);
        old_line += count_lines(old_code);
        new_line += count_lines(c->text);
        at = c->end;
    }
}

// ---- encodings --------------------------------------------------------------

static bool is_ascii(Str text) {
    for (size_t i = 0; i < text.len; i++) {
        if ((unsigned char)text.at[i] >= 0x80) return false;
    }
    return true;
}

static bool check_ascii(const Finding *f, Err *err) {
    bool ascii = is_ascii(f->original) && is_ascii(f->replacement);
    for (uint32_t i = 0; i < f->inserts.len; i++) ascii &= is_ascii(f->inserts.at[i].text);
    return ascii || fail(err, f, "the file is not UTF-8, and the edit has characters beyond "
                                 "ASCII; save the file as UTF-8, then scan again");
}

// The rendered bytes, read as Python reads them, must be the edit of what the
// pristine bytes read as.
static bool check_decoded(const Edits *edits, Arena *arena, EditList list, Err *err) {
    Edits decoded = {0};
    Str got;
    uint32_t mark;
    if (!decode_source(&decoded.pristine, &mark, arena, edits->pristine, err) ||
        !decode_source(&got, &mark, arena, edits->text, err)) {
        return false;
    }
    Lines lines = split_lines(arena, decoded.pristine);
    if (!make_changes(&decoded, arena, &lines, list, err)) return false;
    return str_eq(render(&decoded, arena), got) ||
           fail(err, list.at[0], "the file's encoding cannot take the edit; save the file "
                                 "as UTF-8, then scan again");
}

bool edits_render(Edits *out, Arena *arena, Str pristine, EditList list, Err *err) {
    *out = (Edits){.pristine = {arena_cstr(arena, pristine), pristine.len}};
    out->text = out->pristine;
    if (!list.len) return true;
    bool utf8 = decode_is_utf8(out->pristine);
    for (uint32_t i = 0; !utf8 && i < list.len; i++) {
        if (!check_ascii(list.at[i], err)) return false;
    }
    Lines lines = split_lines(arena, out->pristine);
    if (!make_changes(out, arena, &lines, list, err)) return false;
    out->text = render(out, arena);
    make_hunks(out, arena, &lines, list);
    return utf8 || check_decoded(out, arena, list, err);
}
