// inside.c - matches that lie inside other matches.
#include "base/base.h"

#include "match/inside.h"

static bool holds(const Match *match, const Val *v) {
    for (uint32_t i = 0; i < match->seen.len; i++) {
        if (match->seen.at[i] == v) return true;
    }
    return false;
}

// Both are to be written, and the statements of one are statements of the other.
static bool is_inside(const Found *inner, const Found *outer) {
    const Finding *in = inner->finding, *out = outer->finding;
    if (inner == outer || inner->candidate->frame != outer->candidate->frame) return false;
    if (in->verdict != VERDICT_RECOMMEND || out->verdict != VERDICT_RECOMMEND) return false;
    if (in->start_line < out->start_line || in->end_line > out->end_line) return false;
    const Match *part = &inner->candidate->match, *whole = &outer->candidate->match;
    if (!holds(whole, inner->candidate->root)) return false;
    // Two rules that compute the same from the same: the later gives way, unless it serves more.
    return part->seen.len != whole->seen.len ? part->seen.len < whole->seen.len : inner > outer;
}

static bool trains(const Found *f) {
    return str_is(f->candidate->match.spec->rule->op_autograd, "differentiable");
}

static Str lines_of(const Finding *f, Arena *run) {
    return f->start_line == f->end_line
        ? arena_printf(run, "line %u", f->start_line)
        : arena_printf(run, "lines %u-%u", f->start_line, f->end_line);
}

// The first reason is the one that the summary shows.
static void demote(Finding *f, Arena *run, Str reason) {
    f->verdict = VERDICT_CAUTION;
    f->reasons.len = 0; // they said that everything is proven
    vec_push(run, &f->reasons, reason);
}

void judge_inside(Found *found, uint32_t count, Arena *run) {
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < count; k++) {
            if (!is_inside(&found[i], &found[k])) continue;
            Finding *inner = found[i].finding, *outer = found[k].finding;
            if (trains(&found[i]) && !trains(&found[k])) {
                demote(outer, run, arena_printf(run, "serves inference only, and the %.*s inside "
                    "it (%.*s) serves training too: replace one of the two",
                    STR_FMT(inner->family), STR_FMT(lines_of(inner, run))));
            } else {
                demote(inner, run, arena_printf(run, "part of the %.*s (%.*s), which computes all "
                    "of it: replace one of the two",
                    STR_FMT(outer->family), STR_FMT(lines_of(outer, run))));
            }
        }
    }
}
