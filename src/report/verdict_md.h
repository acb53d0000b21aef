// verdict_md.h - the verdict of one verification in a few lines of Markdown.
#ifndef NPUFUSE_VERDICT_MD_H
#define NPUFUSE_VERDICT_MD_H

#include "model/json_read.h"
#include "report/phrases.h"

// `report` is a report.json; what it lacks is said to be missing.
void verdict_md_write(Buf *out, const JsonVal *report, Lang lang);

#endif
