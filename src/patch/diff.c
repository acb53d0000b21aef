// diff.c - a unified diff from the edits themselves: nothing is searched.
//
// Lines are those of the formats that read a diff: "\n" ends one. A file with
// a lone "\r" may be one line for them, and is shown as a whole.
#include "base/base.h"

#include "patch/diff.h"

enum { CONTEXT = 3 };

// ---- where the texts differ -------------------------------------------------

typedef struct Range {
    size_t from, to;
} Range;

typedef struct Region { // bytes, later lines, of both texts
    Range old, new;
} Region;

typedef VEC(Region) Regions;

static int compare_keys(const Change *a, const Change *b) {
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

typedef struct Walk { // over the changes of both sides, in the file's order
    const Edits *side[2];
    uint32_t next[2];
    size_t shift[2]; // what the changes so far moved the text by (modulo 2^n)
} Walk;

// The range that a change covers in one side's text: its own, or the pristine
// bytes where that side does not have it.
static Range take(Walk *walk, int side, const Change *key, bool has) {
    size_t from = key->start + walk->shift[side];
    if (!has) return (Range){from, from + (key->end - key->start)};
    const Change *c = &walk->side[side]->changes[walk->next[side]++];
    walk->shift[side] += c->text.len - (c->end - c->start);
    return (Range){from, from + c->text.len};
}

static Str range_text(const Edits *edits, Range range) {
    return (Str){edits->text.at + range.from, range.to - range.from};
}

static void find_regions(Regions *out, Arena *arena, const Edits *before, const Edits *after) {
    Walk walk = {.side = {before, after}};
    for (;;) {
        const Change *a = walk.next[0] < before->change_count
                              ? &before->changes[walk.next[0]] : NULL;
        const Change *b = walk.next[1] < after->change_count
                              ? &after->changes[walk.next[1]] : NULL;
        if (!a && !b) return;
        int order = !a ? 1 : !b ? -1 : compare_keys(a, b);
        const Change *key = order <= 0 ? a : b;
        Region region = {take(&walk, 0, key, order <= 0), take(&walk, 1, key, order >= 0)};
        if (!str_eq(range_text(before, region.old), range_text(after, region.new))) {
            vec_push(arena, out, region);
        }
    }
}

// ---- lines ------------------------------------------------------------------

typedef struct TextLines {
    Str text;
    VEC(size_t) starts; // of each line, and the end of the text
    uint32_t count;
} TextLines;

static void split(TextLines *out, Arena *arena, Str text) {
    *out = (TextLines){.text = text};
    for (size_t at = 0; at < text.len;) {
        vec_push(arena, &out->starts, at);
        const char *n = memchr(text.at + at, '\n', text.len - at);
        at = n ? (size_t)(n - text.at) + 1 : text.len;
    }
    out->count = out->starts.len;
    vec_push(arena, &out->starts, text.len);
}

static Str line_at(const TextLines *lines, size_t i) {
    size_t start = lines->starts.at[i];
    return (Str){lines->text.at + start, lines->starts.at[i + 1] - start};
}

// How many lines begin before `offset`.
static size_t lines_before(const TextLines *lines, size_t offset) {
    uint32_t low = 0, high = lines->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (lines->starts.at[mid] < offset) low = mid + 1;
        else high = mid;
    }
    return low;
}

// The lines that a range of bytes touches; where it begins inside of one, that
// line too.
static Range line_range(const TextLines *lines, Range bytes) {
    size_t from = lines_before(lines, bytes.from);
    bool inside = bytes.from > 0 && lines->text.at[bytes.from - 1] != '\n';
    return (Range){inside ? from - 1 : from, lines_before(lines, bytes.to)};
}

typedef struct Sides {
    TextLines old, new;
} Sides;

// Leaves out the lines that are equal at both ends.
static void trim(Region *region, const Sides *sides) {
    Range *a = &region->old, *b = &region->new;
    while (a->from < a->to && b->from < b->to &&
           str_eq(line_at(&sides->old, a->from), line_at(&sides->new, b->from))) {
        a->from++;
        b->from++;
    }
    while (a->from < a->to && b->from < b->to &&
           str_eq(line_at(&sides->old, a->to - 1), line_at(&sides->new, b->to - 1))) {
        a->to--;
        b->to--;
    }
}

static bool has_lone_cr(Str text) {
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '\r' && (i + 1 == text.len || text.at[i + 1] != '\n')) return true;
    }
    return false;
}

// ---- the text ---------------------------------------------------------------

static void add_line(Buf *out, char mark, Str line) {
    buf_add_char(out, mark);
    buf_add(out, line);
    bool whole = line.len && line.at[line.len - 1] == '\n';
    if (!whole) buf_add(out, STR("\n\\ No newline at end of file\n"));
}

static void add_range(Buf *out, char letter, size_t from, size_t count) {
    buf_addf(out, " %c%zu", letter, count ? from + 1 : from);
    if (count != 1) buf_addf(out, ",%zu", count);
}

static size_t less(size_t a, size_t b) {
    return a < b ? a : b;
}

// One hunk for regions first..last, which share their context.
static void add_hunk(Buf *out, const Sides *sides, const Region *first, const Region *last) {
    size_t lead = less(CONTEXT, first->old.from);
    size_t tail = less(CONTEXT, sides->old.count - last->old.to);
    size_t at = first->old.from - lead;
    buf_add(out, STR("@@"));
    add_range(out, '-', at, last->old.to + tail - at);
    size_t new_at = first->new.from - lead;
    add_range(out, '+', new_at, last->new.to + tail - new_at);
    buf_add(out, STR(" @@\n"));
    for (const Region *r = first; r <= last; r++) {
        for (; at < r->old.from; at++) add_line(out, ' ', line_at(&sides->old, at));
        for (; at < r->old.to; at++) add_line(out, '-', line_at(&sides->old, at));
        for (size_t i = r->new.from; i < r->new.to; i++) {
            add_line(out, '+', line_at(&sides->new, i));
        }
    }
    for (; at < last->old.to + tail; at++) add_line(out, ' ', line_at(&sides->old, at));
}

// A path with bytes that would end it is quoted, as git does.
static void add_path(Buf *out, const char *mark, Str prefix, Str file) {
    buf_addf(out, "%s ", mark);
    bool quoted = false, blank = false;
    for (size_t i = 0; i < file.len; i++) {
        unsigned char c = (unsigned char)file.at[i];
        quoted |= c < 0x20 || c == 0x7f || c == '"' || c == '\\';
        blank |= c == ' ';
    }
    if (quoted) buf_add_char(out, '"');
    buf_add(out, prefix);
    for (size_t i = 0; i < file.len; i++) {
        unsigned char c = (unsigned char)file.at[i];
        if (c < 0x20 || c == 0x7f) buf_addf(out, "\\%03o", c);
        else if (c == '"' || c == '\\') buf_addf(out, "\\%c", c);
        else buf_add_char(out, (char)c);
    }
    buf_add(out, quoted ? STR("\"\n") : blank ? STR("\t\n") : STR("\n"));
}

static void add_hunks(Buf *out, const Sides *sides, const Regions *regions) {
    for (uint32_t i = 0, end; i < regions->len; i = end) {
        end = i + 1;
        while (end < regions->len && regions->at[end].old.from -
                   regions->at[end - 1].old.to <= 2 * CONTEXT) {
            end++;
        }
        add_hunk(out, sides, &regions->at[i], &regions->at[end - 1]);
    }
}

void diff_write(Buf *out, Str file, const Edits *before, const Edits *after) {
    if (str_eq(before->text, after->text)) return;
    Arena arena;
    arena_init(&arena);
    Regions regions = {0};
    if (has_lone_cr(before->text)) {
        Region whole = {{0, before->text.len}, {0, after->text.len}};
        vec_push(&arena, &regions, whole);
    } else {
        find_regions(&regions, &arena, before, after);
    }
    Sides sides;
    split(&sides.old, &arena, before->text);
    split(&sides.new, &arena, after->text);
    for (uint32_t i = 0; i < regions.len; i++) {
        Region *r = &regions.at[i];
        *r = (Region){line_range(&sides.old, r->old), line_range(&sides.new, r->new)};
        trim(r, &sides);
    }
    add_path(out, "---", STR("a/"), file);
    add_path(out, "+++", STR("b/"), file);
    add_hunks(out, &sides, &regions);
    arena_free(&arena);
}
