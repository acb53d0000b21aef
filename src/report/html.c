// html.c - puts data into a page. Our JSON writer escapes `<` already; a report
// that somebody else wrote is escaped here, so that no text can end the script.
#include "base/base.h"

#include "report/html.h"

#define PLACE "<!-- npufuse:data -->"

// Where `part` begins in `text`; text.len if it does not.
static size_t find(Str text, Str part) {
    for (size_t i = 0; i + part.len <= text.len; i++) {
        if (text.at[i] == part.at[0] && memcmp(text.at + i, part.at, part.len) == 0) return i;
    }
    return text.len;
}

static void add_data(Buf *out, Str json) {
    size_t from = 0;
    for (size_t i = 0; i < json.len; i++) {
        bool separator = json.len - i >= 3 && memcmp(json.at + i, "\xe2\x80", 2) == 0 &&
                         (json.at[i + 2] == '\xa8' || json.at[i + 2] == '\xa9');
        if (json.at[i] != '<' && !separator) continue;
        buf_add(out, (Str){json.at + from, i - from});
        if (separator) {
            buf_add(out, json.at[i + 2] == '\xa8' ? STR("\\u2028") : STR("\\u2029"));
            i += 2;
        } else {
            buf_add(out, STR("\\u003c"));
        }
        from = i + 1;
    }
    buf_add(out, (Str){json.at + from, json.len - from});
}

bool html_write(Buf *out, Str page, Str report) {
    size_t at = find(page, STR(PLACE));
    if (at == page.len) return false;
    size_t end = at + strlen(PLACE);
    buf_add(out, (Str){page.at, at});
    buf_add(out, STR("<script type=\"application/json\" id=\"data\">\n"));
    add_data(out, report);
    buf_add(out, STR("</script>"));
    buf_add(out, (Str){page.at + end, page.len - end});
    return true;
}
