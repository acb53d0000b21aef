// summary.h - what `scan` shows on a terminal: one row a candidate.
#ifndef NPUFUSE_SUMMARY_H
#define NPUFUSE_SUMMARY_H

#include "base/buf.h"
#include "model/finding.h"
#include "report/phrases.h"

typedef struct SummaryStyle {
    Lang lang;
    bool colour;
} SummaryStyle;

// Appends the table and the line of totals.
void summary_write(Buf *out, const FindingSet *set, const SummaryStyle *style);

#endif
