// report_page.c - finds the template of this installation and fills it.
#include "base/base.h"

#include "cli/report_page.h"

#include "base/file.h"
#include "base/locate.h"
#include "report/html.h"

bool page_fill(Arena *run, const char *path, const char *name, Str data, Err *err) {
    Str folder, page;
    if (!locate_data(&folder, run, "pages", err)) return false;
    const char *template = path_join(run, folder, str_of(name));
    if (!file_read(&page, run, template, FILE_MAX_BYTES, err)) return false;
    Buf out = {0};
    bool ok = html_write(&out, page, data);
    if (!ok) err_set(err, "'%s' has no place for data; install npufuse again", template);
    ok = ok && file_write(path, buf_str(&out), err);
    buf_free(&out);
    return ok;
}

bool page_write(Arena *run, const char *path, Str report, Err *err) {
    return page_fill(run, path, "report.html", report, err);
}

bool page_put(Arena *run, const char *folder, Str slug, Str report, Err *err) {
    Str name = arena_printf(run, "%.*s.html", STR_FMT(slug));
    return page_write(run, path_join(run, str_of(folder), name), report, err);
}
