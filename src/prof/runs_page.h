// runs_page.h - a mined profile as the data of its page: what is drawn and listed.
#ifndef NPUFUSE_RUNS_PAGE_H
#define NPUFUSE_RUNS_PAGE_H

#include "base/buf.h"
#include "prof/runs.h"

typedef struct RunsPage {
    Str source; // what to call the file
    bool is_chinese;
    const char *version; // of this program
} RunsPage;

// JSON; the 200 kernels with the longest time, of each run its first occurrence.
void runs_page_write(Buf *out, const ProfReport *report, const RunsPage *page);

#endif
