// report_page.h - writing the page of a verification.
#ifndef NPUFUSE_REPORT_PAGE_H
#define NPUFUSE_REPORT_PAGE_H

#include "base/arena.h"
#include "base/err.h"

// `folder`/`slug`.html out of a report.json.
MUST_CHECK bool page_put(Arena *run, const char *folder, Str slug, Str report, Err *err);
// The page alone, to `path`.
MUST_CHECK bool page_write(Arena *run, const char *path, Str report, Err *err);
// Another template of this installation ("profile.html") with `data`, to `path`.
MUST_CHECK bool page_fill(Arena *run, const char *path, const char *name, Str data, Err *err);

#endif
