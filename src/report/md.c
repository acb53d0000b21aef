// md.c - escaping for CommonMark with GitHub's tables. Its one idea: code
// goes into a fence longer than any run of backticks inside, prose gets a
// backslash before each character that Markdown could take for its own.
#include "base/base.h"

#include "report/md.h"

#include "model/utf8.h"

static bool is_space(uint32_t code) {
    return code == ' ' || code == '\t' || code == '\n' || code == '\r';
}

static bool is_word(uint32_t code) {
    return (code >= '0' && code <= '9') || (code >= 'a' && code <= 'z') ||
           (code >= 'A' && code <= 'Z') || code >= 0x80;
}

static void add_visible(Buf *out, uint32_t code) {
    if (!utf8_is_unsafe(code)) {
        utf8_add(out, code);
    } else if (code > 0xFFFF) {
        buf_addf(out, "\\U%08x", (unsigned)code);
    } else {
        buf_addf(out, "\\u%04x", (unsigned)code);
    }
}

// The longest run of backticks in `text`.
static size_t longest_ticks(Str text) {
    size_t longest = 0, run = 0;
    for (size_t i = 0; i < text.len; i++) {
        run = text.at[i] == '`' ? run + 1 : 0;
        if (run > longest) longest = run;
    }
    return longest;
}

static void add_ticks(Buf *out, size_t count) {
    while (count--) buf_add_char(out, '`');
}

// Code in HTML, every punctuation mark an entity: the one form in which a
// pipe survives in a table cell of each viewer.
static void add_html_code(Buf *out, Str text) {
    buf_add(out, STR("<code>"));
    while (text.len) {
        uint32_t code = utf8_take(&text);
        if (is_space(code)) {
            buf_add_char(out, ' ');
        } else if (code > 0x20 && code < 0x7F && !is_word(code)) {
            buf_addf(out, "&#%u;", (unsigned)code);
        } else {
            add_visible(out, code);
        }
    }
    buf_add(out, STR("</code>"));
}

static Str without_leading_space(Str text) {
    while (text.len && is_space((unsigned char)*text.at)) {
        text = (Str){text.at + 1, text.len - 1};
    }
    return text;
}

void md_code(Buf *out, MdPlace place, Str text) {
    text = without_leading_space(text);
    if (text.len == 0) return;
    if (place == MD_CELL && memchr(text.at, '|', text.len)) {
        add_html_code(out, text);
        return;
    }
    size_t ticks = longest_ticks(text) + 1;
    bool pad = text.at[0] == '`' || text.at[text.len - 1] == '`';
    add_ticks(out, ticks);
    if (pad) buf_add_char(out, ' ');
    while (text.len) {
        uint32_t code = utf8_take(&text);
        if (code == '\r' && text.len && *text.at == '\n') continue;
        add_visible(out, is_space(code) ? ' ' : code);
    }
    if (pad) buf_add_char(out, ' ');
    add_ticks(out, ticks);
}

// Whether prose must not show `code` bare. What has no meaning where it
// stands (`a * b`, `x_y`, `shape[-1:]`) stays as it is, for those who read
// the source of the report.
static bool needs_backslash(uint32_t code, uint32_t before, uint32_t after) {
    bool starts = before == 0, ends = after == 0;
    switch (code) {
    case '_': return !is_word(before) || !is_word(after);
    case '*':
    case '~': return !(before == ' ' && after == ' ');
    case '<': return !(after == ' ' || after == '=');
    case '&': return after != ' ';
    case '[': return starts || before == '!';
    case ']': return ends || (after && strchr("([:`", (int)after));
    case '#':
    case '+':
    case '-':
    case '=':
    case '>': return starts;
    case '\\':
    case '`':
    case '|':
    case '$': return true;
    default: return false;
    }
}

static void add_prose(Buf *out, Str text, uint32_t before) {
    while (text.len) {
        uint32_t code = utf8_take(&text);
        uint32_t after = text.len ? (unsigned char)text.at[0] : 0;
        if (needs_backslash(code, before, after)) buf_add_char(out, '\\');
        add_visible(out, is_space(code) ? ' ' : code);
        before = code;
    }
}

static size_t find_tick(Str text, size_t from) {
    while (from < text.len && text.at[from] != '`') from++;
    return from;
}

// Takes `12.` or `12)` off the front of *text, where it would begin a list.
static uint32_t add_number(Buf *out, Str *text) {
    size_t len = 0;
    while (len < text->len && text->at[len] >= '0' && text->at[len] <= '9') {
        len++;
    }
    bool begins_list = len && len < text->len &&
                       (text->at[len] == '.' || text->at[len] == ')') &&
                       (len + 1 == text->len ||
                        is_space((unsigned char)text->at[len + 1]));
    if (!begins_list) return 0;
    buf_addf(out, "%.*s\\%c", (int)len, text->at, text->at[len]);
    *text = (Str){text->at + len + 1, text->len - len - 1};
    return '.';
}

void md_text(Buf *out, MdPlace place, Str text) {
    text = without_leading_space(text);
    uint32_t before = add_number(out, &text);
    while (text.len) {
        size_t open = find_tick(text, 0);
        size_t close = find_tick(text, open + 1);
        if (open >= text.len || close >= text.len || close == open + 1) {
            add_prose(out, text, before);
            return;
        }
        add_prose(out, (Str){text.at, open}, before);
        md_code(out, place, (Str){text.at + open + 1, close - open - 1});
        before = '`';
        text = (Str){text.at + close + 1, text.len - close - 1};
    }
}

void md_plain(Buf *out, Str code) {
    while (code.len && is_space((unsigned char)code.at[code.len - 1])) {
        code.len--;
    }
    while (code.len) {
        uint32_t c = utf8_take(&code);
        if (c == '\r' && code.len && *code.at == '\n') continue;
        add_visible(out, c);
    }
    buf_add_char(out, '\n');
}

void md_fence(Buf *out, const char *language, Str code) {
    size_t ticks = longest_ticks(code) + 1;
    if (ticks < 3) ticks = 3;
    add_ticks(out, ticks);
    buf_addf(out, "%s\n", language);
    md_plain(out, code);
    add_ticks(out, ticks);
    buf_add_char(out, '\n');
}
