// measured_md.h - what a profile measured, in the Markdown report.
#ifndef NPUFUSE_MEASURED_MD_H
#define NPUFUSE_MEASURED_MD_H

#include "report/page.h"

// The section with all candidates that were measured and the hot runs that no
// candidate explains; nothing where no profile was given.
void measured_md(const Page *page, const FindingSet *set);
// List items of one candidate.
void measured_md_lines(const Page *page, const Finding *finding);

#endif
