// markdown.h - the identification report that a user reads before choosing.
#ifndef NPUFUSE_MARKDOWN_H
#define NPUFUSE_MARKDOWN_H

#include "base/buf.h"
#include "model/finding.h"
#include "report/phrases.h"

typedef struct MarkdownStyle {
    Lang lang;
    Str folder; // what the commands name with -o; empty: the usual work folder
} MarkdownStyle;

// Appends the report. Equal sets give equal bytes.
void markdown_write(Buf *out, const FindingSet *set, const MarkdownStyle *style);
// `npufuse confirm -o DIR `, as far as it is the same for every candidate.
void markdown_confirm_command(Buf *out, Str folder);

#endif
