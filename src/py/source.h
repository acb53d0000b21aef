// source.h - the text of a file, decoded, with its lines.
#ifndef NPUFUSE_SOURCE_H
#define NPUFUSE_SOURCE_H

#include "base/arena.h"
#include "base/err.h"

typedef struct SourceText {
    const char *path; // as shown to the user
    Str bytes;        // the file as it is on disk
    Str text;         // UTF-8 without BOM, as Python reads it: the same as
                      // `bytes` (after the BOM) unless a coding cookie or the
                      // line ends required a conversion. NUL terminated.
    uint32_t bom_bytes;     // 0 or 3
    const uint32_t *lines;  // offset in `text` of each line's first byte
    uint32_t line_count;
} SourceText;

// Decodes by BOM, PEP 263 cookie or UTF-8. Line ends stay as they are
// ("\n", "\r\n" and "\r" all end a line). Fails with a message that names the line for
// bytes that are no UTF-8, for an unknown encoding and for NUL bytes.
// `bytes` is NUL terminated, as file_read leaves it; the text may lie in it.
MUST_CHECK bool source_init(SourceText *out, Arena *arena, const char *path,
                            Str bytes, Err *err);
// 1-based line of a byte offset.
uint32_t source_line(const SourceText *source, uint32_t offset);
// 0-based UTF-8 byte column, as ast.col_offset.
uint32_t source_col(const SourceText *source, uint32_t offset);
// The line's text without its end.
Str source_line_text(const SourceText *source, uint32_t line);
Str source_span(const SourceText *source, uint32_t start, uint32_t end);

#endif
