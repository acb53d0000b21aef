// ignore.c - finds the comments in the text, and leaves out those in strings.
#include "base/base.h"

#include "lint/ignore.h"

static const char mark[] = "npufuse: ignore[";

static Str trimmed(Str s) {
    while (s.len && s.at[0] == ' ') s = (Str){s.at + 1, s.len - 1};
    while (s.len && s.at[s.len - 1] == ' ') s.len--;
    return s;
}

typedef struct StringSearch {
    uint32_t offset;
    bool found;
} StringSearch;

static bool search_string(Node *node, void *data) {
    StringSearch *search = data;
    if (search->offset < node->start || search->offset >= node->end) return true;
    bool text = node->kind == N_JOINED_STR ||
                (node->kind == N_CONSTANT && (node->op == CONST_STR || node->op == CONST_BYTES));
    search->found |= text;
    return !search->found && node_children(node, search_string, data);
}

static bool is_in_string(const Module *m, uint32_t offset) {
    StringSearch search = {.offset = offset};
    node_children(m->parsed.module, search_string, &search);
    return search.found;
}

// The comment behind the '#' at `offset`; false if it is another one.
static bool read_comment(Ignore *out, const Module *m, uint32_t line, uint32_t offset) {
    Str text = source_line_text(&m->source, line);
    uint32_t column = offset - m->source.lines[line - 1];
    Str rest = trimmed((Str){text.at + column + 1, text.len - column - 1});
    if (!str_starts(rest, mark)) return false;
    rest = (Str){rest.at + strlen(mark), rest.len - strlen(mark)};
    *out = (Ignore){.line = line, .offset = offset, .checks = str_take(&rest, ']')};
    rest = trimmed(rest);
    out->has_reason = str_starts(rest, "reason=") && rest.len > strlen("reason=");
    return !is_in_string(m, offset);
}

void ignores_read(Ignores *out, Arena *arena, const Module *m) {
    *out = (Ignores){0};
    if (!str_contains(m->source.text, str_of(mark))) return;
    for (uint32_t line = 1; line <= m->source.line_count; line++) {
        Str text = source_line_text(&m->source, line);
        if (!str_contains(text, str_of(mark))) continue;
        for (uint32_t i = 0; i < text.len; i++) {
            Ignore ignore;
            if (text.at[i] != '#') continue;
            if (!read_comment(&ignore, m, line, m->source.lines[line - 1] + i)) continue;
            vec_push(arena, &out->at, ignore);
            break;
        }
    }
}

static bool names_check(Str list, const char *check) {
    while (list.len) {
        if (str_is(trimmed(str_take(&list, ',')), check)) return true;
    }
    return false;
}

bool ignores_silence(Ignores *ignores, const Module *m, const Node *node, const char *check) {
    uint32_t from = source_line(&m->source, node->start);
    uint32_t to = source_line(&m->source, node->end - 1);
    bool silenced = false;
    for (uint32_t i = 0; i < ignores->at.len; i++) {
        Ignore *ignore = &ignores->at.at[i];
        bool near = ignore->line + 1 >= from && ignore->line <= to;
        if (!near || !names_check(ignore->checks, check)) continue;
        ignore->used = silenced = true;
    }
    return silenced;
}
