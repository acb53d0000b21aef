// lint_fix.c - puts fixes into the text of a file: bytes of it for others, from the
// last to the first, none over another.
#include "base/base.h"

#include "cli/lint_fix.h"

#include "base/file.h"
#include "patch/diff.h"

typedef VEC(Change) Changes;

// Whether the file still has what the fix was made for.
static bool stands(Str text, const LintFinding *f) {
    if (f->fix_end > text.len || f->fix_start > f->fix_end) return false;
    return str_eq((Str){text.at + f->fix_start, f->fix_end - f->fix_start}, f->fix_old);
}

static void add_change(Changes *out, Arena *run, const LintFinding *f) {
    Change change = {.start = f->fix_start, .end = f->fix_end, .text = f->fix};
    for (uint32_t i = 0; i < out->len; i++) {
        const Change *c = &out->at[i];
        bool same = c->start == change.start && c->end == change.end;
        if (same || (change.start < c->end && c->start < change.end)) return;
    }
    vec_push(run, out, change);
    for (uint32_t i = out->len - 1; i > 0 && out->at[i - 1].start > out->at[i].start; i--) {
        Change swap = out->at[i];
        out->at[i] = out->at[i - 1];
        out->at[i - 1] = swap;
    }
}

static Str changed(Arena *run, Str text, Changes *changes) {
    Buf buf = {0};
    size_t from = 0;
    for (uint32_t i = 0; i < changes->len; i++) {
        Change *c = &changes->at[i];
        buf_add(&buf, (Str){text.at + from, c->start - from});
        c->at = buf.len;
        buf_add(&buf, c->text);
        from = c->end;
    }
    buf_add(&buf, (Str){text.at + from, text.len - from});
    Str out = arena_str(run, buf_str(&buf));
    buf_free(&buf);
    return out;
}

static void note_left_alone(LintFixes *fixes, const LintFinding *f) {
    vec_push(fixes->run, &fixes->notes,
             arena_printf(fixes->run, "%.*s:%u: not fixed: the file is encoded otherwise, or "
                          "changed meanwhile", STR_FMT(f->file), f->line));
}

static bool fix_file(LintFixes *fixes, const LintFinding *findings, uint32_t count, Err *err) {
    Str text;
    Changes changes = {0};
    if (!file_read(&text, fixes->run, findings->path, FILE_MAX_BYTES, err)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const LintFinding *f = &findings[i];
        if (!f->fix.len) continue;
        if (stands(text, f)) add_change(&changes, fixes->run, f);
        else note_left_alone(fixes, f);
    }
    if (!changes.len) return true;
    Edits before = {.pristine = text, .text = text};
    Edits after = {.pristine = text, .text = changed(fixes->run, text, &changes),
                   .changes = changes.at, .change_count = changes.len};
    diff_write(&fixes->diff, findings->file, &before, &after);
    fixes->fixed += changes.len;
    fixes->files++;
    return fixes->mode == FIX_SHOWN || file_write(findings->path, after.text, err);
}

bool lint_fix(LintFixes *fixes, const LintSet *set, Err *err) {
    for (uint32_t i = 0, count; i < set->at.len; i += count) {
        const LintFinding *first = &set->at.at[i];
        bool any = false;
        for (count = 0; i + count < set->at.len; count++) {
            if (strcmp(set->at.at[i + count].path, first->path) != 0) break;
            any |= set->at.at[i + count].fix.len != 0;
        }
        if (any && !fix_file(fixes, first, count, err)) return false;
    }
    return true;
}
