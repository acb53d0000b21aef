// page.c - headings and signatures in the text of one operator.
//
// The texts were written by many hands: a heading may have a colon of either
// width or none, Markdown's '#' or '*', an anchor behind it; some texts have
// no heading at all. What all share is that a heading fills its line.
#include "base/base.h"

#include "apidoc/page.h"

// More than any text has: what goes beyond is part of the last one.
enum { SIGNATURE_MAX_BYTES = 16384, SIGNATURES_MAX = 64, OPEN_MAX = 256, SECTIONS_MAX = 1000 };

typedef struct Heading {
    const char *title;
    DocRole role;
} Heading;

static const Heading headings[] = {
    {"功能描述", ROLE_DESCRIPTION}, {"功能说明", ROLE_DESCRIPTION},
    {"算子功能", ROLE_DESCRIPTION}, {"功能描述实现", ROLE_DESCRIPTION},
    {"功能实现描述", ROLE_DESCRIPTION}, {"接口说明", ROLE_DESCRIPTION},
    {"接口原型", ROLE_PROTOTYPE}, {"函数原型", ROLE_PROTOTYPE},
    {"参数说明", ROLE_PARAMETERS}, {"参数解释", ROLE_PARAMETERS},
    {"输入说明", ROLE_PARAMETERS}, {"参数", ROLE_PARAMETERS},
    {"关键字参数", ROLE_PARAMETERS}, {"输入", ROLE_PARAMETERS},
    {"输出", ROLE_OUTPUTS}, {"输出说明", ROLE_OUTPUTS},
    {"返回值说明", ROLE_OUTPUTS}, {"返回值", ROLE_OUTPUTS},
    {"约束说明", ROLE_CONSTRAINTS}, {"约束条件", ROLE_CONSTRAINTS},
    {"输入约束", ROLE_CONSTRAINTS}, {"场景限制", ROLE_CONSTRAINTS},
    {"计算公式", ROLE_FORMULA}, {"计算公式为", ROLE_FORMULA},
    {"支持的型号", ROLE_PRODUCTS}, {"支持的芯片型号", ROLE_PRODUCTS},
    {"产品支持情况", ROLE_PRODUCTS},
    {"支持的PyTorch版本", ROLE_VERSIONS}, {"支持版本", ROLE_VERSIONS},
    {"调用示例", ROLE_EXAMPLES}, {"示例", ROLE_EXAMPLES},
    {"单算子模式调用", ROLE_EXAMPLES}, {"单算子调用", ROLE_EXAMPLES},
    {"图模式调用", ROLE_EXAMPLES},
};

const char *page_role_name(DocRole role) {
    static const char *const names[ROLE_COUNT] = {
        "description", "prototype", "parameters", "outputs", "constraints",
        "formula", "products", "versions", "examples", "other",
    };
    return names[role];
}

static Str trim(Str s) {
    while (s.len && strchr(" \t\r\n", s.at[0])) s = (Str){s.at + 1, s.len - 1};
    while (s.len && strchr(" \t\r\n", s.at[s.len - 1])) s.len--;
    return s;
}

static bool drop_end(Str *s, const char *end) {
    if (!str_ends(*s, end)) return false;
    s->len -= strlen(end);
    return true;
}

// The line without Markdown's marks, an anchor and the colon at its end.
static Str heading_text(Str line) {
    line = trim(line);
    while (line.len && (line.at[0] == '#' || line.at[0] == '*' || line.at[0] == ' ')) {
        line = (Str){line.at + 1, line.len - 1};
    }
    const char *anchor = line.len ? memchr(line.at, '<', line.len) : NULL;
    if (anchor) line.len = (size_t)(anchor - line.at);
    line = trim(line);
    while (drop_end(&line, "*")) {}
    if (!drop_end(&line, ":")) (void)drop_end(&line, "：");
    while (drop_end(&line, "*")) {}
    return trim(line);
}

static const Heading *heading_titled(Str text) {
    for (size_t i = 0; i < COUNT(headings); i++) {
        if (str_is(text, headings[i].title)) return &headings[i];
    }
    return NULL;
}

// "示例1" -> "示例", "示例二" -> "示例".
static Str without_number(Str text) {
    static const char *const digits[] = {"一", "二", "三", "四", "五", "六", "七", "八", "九"};
    size_t before;
    do {
        before = text.len;
        while (text.len && text.at[text.len - 1] >= '0' && text.at[text.len - 1] <= '9') text.len--;
        for (size_t i = 0; i < COUNT(digits); i++) (void)drop_end(&text, digits[i]);
    } while (text.len < before);
    return text;
}

// The heading that the line is, as written in `title`; NULL if it is none.
// Examples may be numbered.
static const Heading *heading_of(Str line, Str *title) {
    *title = heading_text(line);
    const Heading *heading = heading_titled(*title);
    if (heading) return heading;
    heading = heading_titled(without_number(*title));
    return heading && heading->role == ROLE_EXAMPLES ? heading : NULL;
}

// "功能描述: text" on one line: the text behind the colon; else empty. Only for
// what is written so, or every "输入: x" would be a heading.
static Str inline_text(Str line, const Heading **heading) {
    Str text = trim(line);
    for (size_t i = 0; i < COUNT(headings); i++) {
        if (headings[i].role != ROLE_DESCRIPTION && headings[i].role != ROLE_FORMULA) continue;
        if (!str_starts(text, headings[i].title)) continue;
        Str rest = {text.at + strlen(headings[i].title), text.len - strlen(headings[i].title)};
        size_t colon = str_starts(rest, ":") ? 1 : str_starts(rest, "：") ? strlen("：") : 0;
        if (!colon) continue;
        *heading = &headings[i];
        return trim((Str){rest.at + colon, rest.len - colon});
    }
    return STR("");
}

// ---- signatures -------------------------------------------------------------------

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

typedef struct Signatures {
    Arena *arena;
    DocPage *page;
    Str name; // without what follows a dot: "npu_x" of "npu_x.out"
    uint32_t open; // calls that nothing closes
} Signatures;

// The length of "torch_npu.npu_x(", with a prefix or without, at the start of
// the line; 0 where there is none.
static size_t call_head(const Signatures *s, Str line) {
    static const char *const prefixes[] = {"torch_npu.npu.", "torch_npu.", ""};
    Str text = line;
    size_t skipped = 0;
    for (const char *mark = "func: "; str_starts(text, mark);) {
        text = (Str){text.at + strlen(mark), text.len - strlen(mark)};
        skipped += strlen(mark);
    }
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        if (!str_starts(text, prefixes[i])) continue;
        size_t at = strlen(prefixes[i]);
        while (at < text.len && text.at[at] == ' ') at++;
        Str rest = {text.at + at, text.len - at};
        if (rest.len <= s->name.len || memcmp(rest.at, s->name.at, s->name.len) != 0) continue;
        at += s->name.len;
        while (at < text.len && (text.at[at] == ' ' || text.at[at] == '\\')) at++;
        if (str_starts((Str){text.at + at, text.len - at}, ".out")) at += strlen(".out");
        if (at < text.len && text.at[at] == '(') return skipped + at + 1;
    }
    return 0;
}

// Behind the bracket that closes the one before `at`; 0 if none does.
static size_t closing(Str text, size_t at) {
    int depth = 1;
    if (text.len > at + SIGNATURE_MAX_BYTES) text.len = at + SIGNATURE_MAX_BYTES;
    for (; at < text.len; at++) {
        if (strchr("([{", text.at[at])) depth++;
        if (strchr(")]}", text.at[at]) && --depth == 0) return at + 1;
    }
    return 0;
}

static Str on_one_line(Arena *arena, Str text) {
    char *copy = arena_alloc(arena, text.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++) {
        bool blank = strchr(" \t\n", text.at[i]) != NULL;
        if (!blank || (n && copy[n - 1] != ' ')) copy[n++] = blank ? ' ' : text.at[i];
    }
    while (n && copy[n - 1] == ' ') n--;
    return (Str){copy, n};
}

// Where the signature ends that begins at `text`: behind "-> (Tensor, Tensor)"
// if that follows the arguments, else behind them; 0: brackets stay open.
static size_t signature_end(Str text, size_t arguments) {
    size_t end = closing(text, arguments);
    if (!end) return 0;
    size_t at = end;
    while (at < text.len && strchr(" \t\n\\", text.at[at])) at++;
    if (!str_starts((Str){text.at + at, text.len - at}, "->")) return end;
    at += 2;
    while (at < text.len && strchr(" \t", text.at[at])) at++;
    if (at < text.len && strchr("([", text.at[at])) {
        size_t shut = closing(text, at + 1);
        return shut ? shut : end;
    }
    while (at < text.len && text.at[at] != '\n') at++;
    return at;
}

// "func: torch_npu. npu_x (a)" -> "torch_npu.npu_x(a)".
static Str plain_call(Arena *arena, Str found) {
    Str text = on_one_line(arena, found);
    while (str_starts(text, "func: ")) text = (Str){text.at + 6, text.len - 6};
    char *copy = arena_alloc(arena, text.len + 1);
    size_t n = 0, at = 0;
    for (; at < text.len && text.at[at] != '('; at++) {
        if (text.at[at] != ' ' && text.at[at] != '\\') copy[n++] = text.at[at];
    }
    memcpy(copy + n, text.at + at, text.len - at);
    return (Str){copy, n + text.len - at};
}

static bool has_signature(const DocPage *page, Str text) {
    for (uint32_t i = 0; i < page->signatures.len; i++) {
        if (str_eq(page->signatures.at[i], text)) return true;
    }
    return false;
}

// Adds the signature at the start of `text` and returns the bytes it took.
static size_t take_signature(Signatures *s, Str text) {
    size_t blanks = 0;
    while (blanks < text.len && strchr(" \t", text.at[blanks])) blanks++;
    Str rest = {text.at + blanks, text.len - blanks};
    size_t arguments = call_head(s, rest);
    if (!arguments || s->open >= OPEN_MAX) return 0;
    size_t end = signature_end(rest, arguments);
    if (!end) {
        s->open++;
        return 0;
    }
    Str found = plain_call(s->arena, (Str){rest.at, end});
    if (!has_signature(s->page, found)) vec_push(s->arena, &s->page->signatures, found);
    return blanks + end;
}

// The bytes of "torch_npu.npu_y(...)" at the start of `text`, whatever the name.
static size_t other_signature(Str text, Str *name) {
    static const char prefix[] = "torch_npu.";
    size_t at = strlen(prefix), start;
    if (!str_starts(text, prefix)) return 0;
    while (at < text.len && text.at[at] == ' ') at++;
    for (start = at; at < text.len && is_name_char(text.at[at]); at++) {}
    *name = (Str){text.at + start, at - start};
    bool call = at > start && at < text.len && text.at[at] == '(';
    return call ? signature_end(text, at + 1) : 0;
}

// The bytes of the signatures that `text` begins with; of them those of other
// functions are kept apart: a few texts describe two, or one that is not theirs.
static size_t first_signatures(Signatures *s, Str text) {
    size_t used = 0;
    while (s->page->signatures.len < SIGNATURES_MAX) {
        size_t at = used;
        while (at < text.len && strchr(" \t\n", text.at[at])) at++;
        Str rest = {text.at + at, text.len - at}, name = STR("");
        size_t took = take_signature(s, rest);
        if (!took) {
            took = other_signature(rest, &name);
            if (took && !s->page->other.len) s->page->other = name;
        }
        if (!took) break;
        used = at + took;
    }
    return used;
}

static void find_signatures(Signatures *s, Str text) {
    while (text.len && s->page->signatures.len < SIGNATURES_MAX) {
        size_t took = take_signature(s, text);
        text = (Str){text.at + took, text.len - took};
        (void)str_take(&text, '\n');
    }
}

// ---- sections ---------------------------------------------------------------------

typedef struct Sections {
    Arena *arena;
    DocPage *page;
    const DocEntry *entry;
    const char *from; // first byte below the open section's heading
    uint32_t line;    // of the line that is read
    bool fenced;      // inside ``` of Markdown
} Sections;

static void end_section(Sections *s, const char *end) {
    DocSection *open = &s->page->sections.at[s->page->sections.len - 1];
    open->text = (Str){s->from, (size_t)(end - s->from)};
    while (open->text.len && strchr(" \t\n", open->text.at[open->text.len - 1])) open->text.len--;
    uint32_t lines = 0, skipped = 0;
    while (open->text.len && strchr(" \t\n", open->text.at[0])) {
        // The indentation of the first line stays.
        const char *line_end = memchr(open->text.at, '\n', open->text.len);
        if (!line_end || trim((Str){open->text.at, (size_t)(line_end - open->text.at)}).len) break;
        open->text.len -= (size_t)(line_end + 1 - open->text.at);
        open->text.at = line_end + 1;
        skipped++;
    }
    for (size_t i = 0; i < open->text.len; i++) lines += open->text.at[i] == '\n';
    uint32_t below = open->title.len && !open->end_line ? 1 : 0;
    open->end_line = open->text.len ? open->start_line + below + skipped + lines
                                    : open->start_line;
}

static void begin_section(Sections *s, DocRole role, Str title, const char *from) {
    DocSection section = {.role = role, .title = title, .start_line = s->line};
    vec_push(s->arena, &s->page->sections, section);
    s->from = from;
}

// A heading of the kind that is open already (a call in graph mode among the
// examples) is part of its section.
static bool goes_on(const Sections *s, const Heading *heading) {
    const DocSection *open = &s->page->sections.at[s->page->sections.len - 1];
    return open->title.len && open->role == heading->role && heading->role == ROLE_EXAMPLES;
}

static void read_line(Sections *s, Str line, const char *next) {
    if (str_starts(trim(line), "```")) {
        s->fenced = !s->fenced;
        return;
    }
    if (s->fenced || s->page->sections.len >= SECTIONS_MAX) return;
    Str title;
    const Heading *heading = heading_of(line, &title);
    Str text = heading ? STR("") : inline_text(line, &heading);
    if (text.len) title = str_of(heading->title);
    if (!heading || goes_on(s, heading)) return;
    end_section(s, line.at);
    begin_section(s, heading->role, title, text.len ? text.at : next);
    // Its text begins on the heading's own line.
    if (text.len) s->page->sections.at[s->page->sections.len - 1].end_line = s->line;
}

static bool is_empty(const DocSection *section) {
    return !section->title.len && !section->text.len;
}

static void drop_first(DocPage *page) {
    page->sections.len--;
    memmove(page->sections.at, page->sections.at + 1, page->sections.len * sizeof(DocSection));
}

// What follows the signature in the part before the first heading describes.
static void split_first(Sections *s, size_t used) {
    DocSection rest = s->page->sections.at[0];
    DocSection *first = &s->page->sections.at[0];
    for (size_t i = 0; i < used; i++) rest.start_line += rest.text.at[i] == '\n';
    rest.text = (Str){rest.text.at + used, rest.text.len - used};
    while (rest.text.len && strchr(" \t\n", rest.text.at[0])) {
        rest.start_line += rest.text.at[0] == '\n';
        rest.text = (Str){rest.text.at + 1, rest.text.len - 1};
    }
    if (!rest.text.len) return;
    first->text.len = used;
    first->end_line = first->start_line;
    for (size_t i = 0; i < used; i++) first->end_line += first->text.at[i] == '\n';
    rest.role = ROLE_DESCRIPTION;
    vec_push(s->arena, &s->page->sections, rest);
    DocSection *at = s->page->sections.at;
    memmove(at + 2, at + 1, (s->page->sections.len - 2) * sizeof(*at));
    at[1] = rest;
}

// "# torch_npu.npu_x" above a Markdown text says nothing.
static void drop_title(DocSection *first, Str name) {
    Str rest = first->text;
    Str line = heading_text(str_take(&rest, '\n'));
    if (first->text.len && first->text.at[0] != '#') return;
    if (line.len < name.len || !str_eq((Str){line.at + line.len - name.len, name.len}, name)) {
        return;
    }
    first->start_line++;
    first->text = rest;
}

// The part before the first heading is a prototype if it begins with the call
// and a description else.
static void name_first(Sections *s, Signatures *signatures) {
    DocSection *first = &s->page->sections.at[0];
    if (!first->title.len) drop_title(first, signatures->name);
    if (is_empty(first)) {
        drop_first(s->page);
        return;
    }
    size_t used = first->title.len ? 0 : first_signatures(signatures, first->text);
    if (!used) return;
    first->role = ROLE_PROTOTYPE;
    split_first(s, used);
}

void page_read(DocPage *out, Arena *arena, const DocEntry *entry) {
    *out = (DocPage){0};
    Sections s = {arena, out, entry, entry->body.at, entry->body_line, false};
    begin_section(&s, ROLE_DESCRIPTION, STR(""), entry->body.at);
    Str rest = entry->body;
    while (rest.len) {
        Str line = str_take(&rest, '\n');
        read_line(&s, line, rest.len ? rest.at : entry->body.at + entry->body.len);
        s.line++;
    }
    end_section(&s, entry->body.at + entry->body.len);
    const char *dot = entry->name.len ? memchr(entry->name.at, '.', entry->name.len) : NULL;
    Str base = entry->name;
    if (dot && !entry->markdown) base.len = (size_t)(dot - base.at);
    Signatures signatures = {.arena = arena, .page = out, .name = base};
    name_first(&s, &signatures);
    for (uint32_t i = 0; i < out->sections.len; i++) {
        const DocSection *section = &out->sections.at[i];
        if (section->role == ROLE_PROTOTYPE) find_signatures(&signatures, section->text);
    }
    // Texts without a prototype write the call down somewhere else.
    if (!out->signatures.len) find_signatures(&signatures, entry->body);
    if (out->signatures.len) out->other = STR("");
}
