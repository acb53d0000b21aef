// html.h - the page of one verification: a template, made when npufuse was
// built, with the candidate's report.json inside.
#ifndef NPUFUSE_HTML_H
#define NPUFUSE_HTML_H

#include "base/buf.h"

// `page` is the text of pages/report.html. `report` is JSON in ASCII or UTF-8;
// whatever is in it, it stays data. False if the template has no place for it.
bool html_write(Buf *out, Str page, Str report);

#endif
