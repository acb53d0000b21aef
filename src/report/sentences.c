// sentences.c - translations of what the engine and the rules say (claims,
// reasons, risks, gains). A pattern is an English sentence in which `*`
// stands for any text; the n-th `*` of it is `{n}` of the translation. A
// sentence without a pattern stays English: correct, only less convenient.
#include "base/base.h"

#include "report/sentences.h"

enum { MAX_HOLES = 6 };

typedef struct Translation {
    const char *english, *chinese;
} Translation;

// The order matters only where two patterns fit one sentence: first wins.
static const Translation table[] = {
    {"the form is proven; every requirement is settled",
     "形式已证实，各项要求均已确认"},
};

// Matches `text` against `pattern` and notes what each `*` stands for. Each
// `*` takes as little as it can, which is what our sentences need.
static bool match(const char *pattern, Str text, Str holes[MAX_HOLES]) {
    const char *star = NULL;
    size_t at = 0, hole_start = 0, count = 0;
    for (;;) {
        if (*pattern == '*') {
            if (count == MAX_HOLES) BUG("too many holes in '%s'", pattern);
            star = pattern++;
            hole_start = at;
            holes[count++] = (Str){text.at + at, 0};
        } else if (*pattern && at < text.len && *pattern == text.at[at]) {
            pattern++;
            at++;
        } else if (!*pattern && at == text.len) {
            return true;
        } else if (star && hole_start + holes[count - 1].len < text.len) {
            at = hole_start + ++holes[count - 1].len;
            pattern = star + 1;
        } else {
            return false;
        }
    }
}

static Str fill(Arena *arena, const char *chinese, const Str *holes) {
    Buf buf = {0};
    for (const char *p = chinese; *p;) {
        if (p[0] == '{' && p[1] >= '0' && p[1] <= '5' && p[2] == '}') {
            buf_add(&buf, holes[p[1] - '0']);
            p += 3;
        } else {
            buf_add_char(&buf, *p++);
        }
    }
    Str filled = arena_str(arena, buf_str(&buf));
    buf_free(&buf);
    return filled;
}

Str sentence(Arena *arena, Lang lang, Str english) {
    if (lang == LANG_EN) return english;
    for (size_t i = 0; i < COUNT(table); i++) {
        Str holes[MAX_HOLES] = {{0}};
        if (match(table[i].english, english, holes)) {
            return fill(arena, table[i].chinese, holes);
        }
    }
    return english;
}
