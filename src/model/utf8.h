// utf8.h - reading text that claims to be UTF-8 and may not be.
#ifndef NPUFUSE_UTF8_H
#define NPUFUSE_UTF8_H

#include "base/arena.h"
#include "base/buf.h"

enum { UTF8_BAD = 0xFFFD }; // what an invalid sequence reads as

// Takes one code point off the front of `*rest`, which must not be empty.
// An invalid byte (also overlong forms, surrogates, beyond U+10FFFF) gives
// UTF8_BAD and takes one byte.
uint32_t utf8_take(Str *rest);
// Takes the printable ASCII off the front: there is nothing to judge in it.
Str utf8_take_plain(Str *rest);
void utf8_add(Buf *out, uint32_t code);
// Code points that a viewer may not show, or that reorder what it shows:
// control characters other than tab and newline, line and paragraph
// separators, bidirectional controls, the byte order mark.
bool utf8_is_unsafe(uint32_t code);
// The text with `?` for what could steer a terminal; lines and tabs stay.
void utf8_add_safe(Buf *out, Str text);
// The text on one line, with `?` for what could steer a terminal.
Str utf8_one_line(Arena *arena, Str text);
// Columns on a terminal: 2 for wide characters, 0 for combining ones.
uint32_t utf8_columns(Str text);

#endif
