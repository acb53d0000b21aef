// shell.c - quoting for a shell.
#include "base/base.h"

#include "model/shell.h"

static bool is_plain(char c) {
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
    return c && strchr("_./:@%+=,-", c);
}

static bool needs_quotes(Str word) {
    for (size_t i = 0; i < word.len; i++) {
        if (!is_plain(word.at[i])) return true;
    }
    return word.len == 0;
}

void shell_add_word(Buf *out, Str word) {
    if (!needs_quotes(word)) {
        buf_add(out, word);
        return;
    }
    buf_add_char(out, '\'');
    for (size_t i = 0; i < word.len; i++) {
        if (word.at[i] == '\'') buf_add(out, STR("'\\''"));
        else buf_add_char(out, word.at[i]);
    }
    buf_add_char(out, '\'');
}
