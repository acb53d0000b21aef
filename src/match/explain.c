// explain.c - the matcher's furthest attempt, in words.
#include "base/base.h"

#include "match/explain.h"

#include "base/buf.h"
#include "match/frame_index.h"
#include "match/near.h"
#include "match/prove.h"

static void tell(const ScanOptions *options, Buf *line) {
    options->explain(options->explain_data, buf_str(line));
    buf_clear(line);
}

// Where the finding of the record shows the value.
static void tell_line(Buf *out, Frame *f, const EvalRecord *e, const Val *v) {
    if (!v) return;
    const Node *around = e->stmt && e->stmt->end - e->stmt->start <= 2000 ? e->stmt : e->node;
    const Node *node = val_written(f, around, v);
    if (!node) return;
    const Module *m = node == v->node ? v->module : f->module;
    buf_addf(out, " (line %u)", source_line(&m->source, node->start));
}

// In words where there are some, and as graphs, which is what a rule's author needs.
static void tell_difference(const ScanOptions *options, Frame *f, const EvalRecord *e,
                            const Match *m, Buf *out) {
    bool attends = m->attend && m->attend->reason;
    Str why = difference_sentence(m->flow->arena, m);
    bool worded = attends || !str_starts(why, "expected ");
    if (worded) {
        buf_addf(out, "    stopped: %.*s", STR_FMT(why));
        tell_line(out, f, e, attends ? m->attend->at : m->got);
        tell(options, out);
        if (attends) return;
    }
    buf_add(out, worded ? STR("    expected ") : STR("    stopped: expected "));
    if (m->want) val_print(out, m->want, 3);
    buf_add(out, STR(", found "));
    if (m->got) val_print(out, m->got, 3);
    else buf_add(out, STR("nothing"));
    if (!worded) tell_line(out, f, e, m->got);
    tell(options, out);
}

static void tell_requirements(const ScanOptions *options, const Place *place, Buf *out) {
    Requirements all;
    prove_requirements(&all, place);
    for (uint32_t i = 0; i < all.len; i++) {
        const Requirement *r = &all.at[i];
        buf_addf(out, "    %s: %.*s", fact_state_name(r->state), STR_FMT(r->message));
        if (r->why.len) buf_addf(out, " (%.*s)", STR_FMT(r->why));
        tell(options, out);
    }
}

static void tell_match(const ScanOptions *options, Frame *f, const Match *m,
                       const EvalRecord *e, Buf *out) {
    Place place;
    place_match(&place, f, m, e);
    buf_addf(out, "    matched%s%s", place.fault ? ", but has no place: " : "",
             place.fault ? place.fault : "");
    tell(options, out);
    tell_requirements(options, &place, out);
}

// A norm with another denominator: why, in the near miss's words.
static bool tell_norm(const ScanOptions *options, Frame *f, const Spec *spec,
                      const EvalRecord *e, Buf *out) {
    const Val *at = NULL;
    if (!str_is(spec->rule->family, "rms_norm")) return false;
    const char *why = norm_difference(f->flow, val_strip(e->val), &at);
    if (!why) return false;
    buf_addf(out, "    stopped: %s", why);
    tell_line(out, f, e, at);
    tell(options, out);
    return true;
}

static void explain_spec(const ScanOptions *options, Frame *f, const EvalRecord *e,
                         const Spec *spec, Buf *out) {
    Val *root = val_strip(e->val);
    bool attends = spec->pattern->op == OP_ATTEND && attend_of(f->flow, root);
    if (!attends && spec->pattern->op != root->op) return;
    Match m;
    bool ok = match_value(&m, f->flow, spec, root);
    buf_addf(out, "  rule %.*s (%.*s): %u of %u operators",
             STR_FMT(spec->rule->id), STR_FMT(spec->variant),
             ok ? spec->size : m.best_seen < spec->size ? m.best_seen : spec->size,
             spec->size);
    tell(options, out);
    if (ok) tell_match(options, f, &m, e, out);
    else if (!tell_norm(options, f, spec, e, out)) tell_difference(options, f, e, &m, out);
}

void explain_function(const ScanOptions *options, Frame *f, const RuleSet *rules) {
    Buf out = {0};
    Candidates found = {0};
    find_candidates(&found, f, rules, options->only_rule);
    for (uint32_t i = 0; i < found.list.len; i++) {
        const Candidate *c = &found.list.at[i];
        buf_addf(&out, "  line %u: rule %.*s (%.*s)%s",
                 source_line(&f->module->source, c->record->node->start),
                 STR_FMT(c->match.spec->rule->id), STR_FMT(c->match.spec->variant),
                 c->near ? ": a near miss" : "");
        tell(options, &out);
        if (c->near) tell_difference(options, f, c->record, &c->match, &out);
        else tell_match(options, f, &c->match, c->record, &out);
    }
    buf_free(&out);
}

void explain_filtered(const ScanOptions *options, Str qualname) {
    Buf out = {0};
    buf_addf(&out, "%.*s: not read: it has no product, or no operator that any rule "
                   "is anchored at (--no-filter reads it all the same)", STR_FMT(qualname));
    tell(options, &out);
    buf_free(&out);
}

void explain_line(const ScanOptions *options, Frame *f, const RuleSet *rules) {
    uint32_t line = options->explain_line;
    Buf out = {0};
    const SourceText *source = &f->module->source;
    uint32_t told = 0;
    for (uint32_t i = 0; i < f->evals.len; i++) {
        const EvalRecord *e = &f->evals.at[i];
        uint32_t from = source_line(source, e->node->start);
        uint32_t to = source_line(source, e->node->end ? e->node->end - 1 : 0);
        if (line < from || line > to || val_strip(e->val)->op <= V_CAST) continue;
        buf_addf(&out, "line %u: ", from);
        val_print(&out, e->val, 4);
        tell(options, &out);
        told++;
        for (uint32_t r = 0; r < rules->rules.len; r++) {
            const Rule *rule = rules->rules.at[r];
            Str only = options->only_rule;
            if (only.len && !str_eq(only, rule->id)) continue;
            for (uint32_t s = 0; s < rule->spec_count; s++) {
                explain_spec(options, f, e, &rule->specs[s], &out);
            }
        }
    }
    if (!told) {
        buf_addf(&out, "line %u computes no tensor value that a rule could start at", line);
        tell(options, &out);
    }
    buf_free(&out);
}
