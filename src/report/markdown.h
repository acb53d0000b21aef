// markdown.h - the identification report that a user reads before choosing.
#ifndef NPUFUSE_MARKDOWN_H
#define NPUFUSE_MARKDOWN_H

#include "base/buf.h"
#include "model/finding.h"
#include "report/phrases.h"

// Appends the report. Equal sets give equal bytes.
void markdown_write(Buf *out, const FindingSet *set, Lang lang);

#endif
