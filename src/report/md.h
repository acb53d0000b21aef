// md.h - text from outside, made safe inside Markdown.
//
// Nothing that these write can end a table cell, open a tag or a link, or
// hide what it says: whatever a viewer would not show is written as \uXXXX.
#ifndef NPUFUSE_MD_H
#define NPUFUSE_MD_H

#include "base/buf.h"

typedef enum MdPlace {
    MD_LINE, // a paragraph, heading or list item
    MD_CELL, // a table cell, where `|` ends the cell even inside code
} MdPlace;

// A sentence on one line. A pair of backticks in it becomes code.
void md_text(Buf *out, MdPlace place, Str text);
// Inline code on one line; nothing for empty text.
void md_code(Buf *out, MdPlace place, Str text);
// A fenced block with the lines of `code`, as they are.
void md_fence(Buf *out, const char *language, Str code);
// The lines of `code` without trailing blank ones, unsafe characters shown.
void md_plain(Buf *out, Str code);

#endif
