// github.c - workflow commands. Paths are relative to the repository there, so
// the scan's root is put before them.
#include "base/base.h"

#include "report/github.h"

#include "report/groups.h"

void github_escape(Buf *out, Str text, bool property) {
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        bool special = c == '%' || c == '\r' || c == '\n' || c < ' ' ||
                       (property && (c == ':' || c == ','));
        if (special) buf_addf(out, "%%%02X", c);
        else buf_add_char(out, (char)c);
    }
}

static void add_path(Buf *out, Str root, Str file) {
    if (!str_is(root, ".") && root.len) {
        github_escape(out, root, true);
        if (root.at[root.len - 1] != '/') buf_add_char(out, '/');
    }
    github_escape(out, file, true);
}

static void add_notice(Buf *out, Str root, const Finding *f) {
    buf_add(out, STR("::notice file="));
    add_path(out, root, f->file);
    buf_addf(out, ",line=%u,endLine=%u,title=", f->start_line, f->end_line);
    github_escape(out, f->api, true);
    buf_addf(out, "::%s: ", verdict_name(f->verdict));
    github_escape(out, finding_reason(f), false);
    buf_add(out, STR(" ("));
    github_escape(out, f->id, false);
    buf_add(out, STR(")\n"));
}

static void add_notices(Buf *out, const FindingSet *set, bool aside) {
    for (uint32_t i = 0; i < set->findings.len; i++) {
        const Finding *f = &set->findings.at[i];
        if (f->verdict == VERDICT_REJECT || finding_is_aside(f) != aside) continue;
        add_notice(out, set->root, f);
    }
}

// What is aside comes last: the host shows the first few only.
void github_write(Buf *out, const FindingSet *set) {
    add_notices(out, set, false);
    add_notices(out, set, true);
}
