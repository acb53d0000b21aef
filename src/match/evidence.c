// evidence.c - what is known about a candidate, in words.
#include "base/base.h"

#include "match/evidence.h"

#include "base/buf.h"
#include "match/compiled.h"
#include "flow/dtype.h"
#include "match/frame_index.h"
#include "match/inputs.h"
#include "match/near.h"
#include "match/reached.h"
#include "match/result_dtype.h"
#include "match/scripted.h"
#include "match/surround.h"
#include "match/variant.h"

static Str trimmed(Str s) {
    while (s.len && (s.at[0] == ' ' || s.at[0] == '\t')) {
        s.at++;
        s.len--;
    }
    while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\r')) s.len--;
    return s;
}

Span make_span(Arena *run, const Module *module, const Node *node) {
    Span span = {.file = arena_str(run, module->shown)};
    span.start_line = source_line(&module->source, node->start);
    span.end_line = source_line(&module->source, node->end > node->start
                                                     ? node->end - 1 : node->start);
    span.text = arena_str(run, trimmed(source_line_text(&module->source,
                                                        span.start_line)));
    return span;
}

static void add_chain(Fact *fact, Arena *run, const ChainLink *chain) {
    for (const ChainLink *c = chain; c; c = c->next) {
        Span span = make_span(run, c->module, c->node);
        vec_push(run, &fact->chain, span);
    }
    // The links were noted latest first.
    for (uint32_t i = 0; i < fact->chain.len / 2; i++) {
        Span swap = fact->chain.at[i];
        fact->chain.at[i] = fact->chain.at[fact->chain.len - 1 - i];
        fact->chain.at[fact->chain.len - 1 - i] = swap;
    }
}

static void add_fact(Finding *out, Arena *run, Fact fact) {
    vec_push(run, &out->facts, fact);
}

static void add_reason(Finding *out, Arena *run, Str text) {
    vec_push(run, &out->reasons, text);
}

// ---- facts ------------------------------------------------------------------

static void add_form_fact(Finding *out, Arena *run, const Candidate *c) {
    Fact fact = {.name = STR("form"), .state = FACT_PROVEN};
    fact.claim = arena_printf(run, "computes %.*s (%.*s): every operator, constant "
                                   "and axis is that of the rule",
                              STR_FMT(out->rule), STR_FMT(out->variant));
    for (uint32_t i = 0; i < c->match.seen.len; i++) {
        const Val *v = c->match.seen.at[i];
        if (!v->node || !v->module || v->op < V_PART) continue;
        Span span = make_span(run, v->module, v->node);
        bool again = false;
        for (uint32_t k = 0; k < fact.chain.len; k++) {
            again |= fact.chain.at[k].start_line == span.start_line &&
                     str_eq(fact.chain.at[k].file, span.file);
        }
        if (!again && fact.chain.len < 12) vec_push(run, &fact.chain, span);
    }
    add_fact(out, run, fact);
}

static void add_open_reason(Finding *out, Arena *run, const char *subject, Str name) {
    add_reason(out, run, arena_printf(run, "unproven: %s may be %.*s, but nothing in "
                                           "sight decides it", subject, STR_FMT(name)));
}

// The callee as the user wrote it.
static void print_subject(Buf *out, const Val *v) {
    const Node *n = v->node;
    if (n && v->module && n->end - n->start <= 60 && v->op != V_ATTR) {
        buf_add(out, source_span(&v->module->source, n->start, n->end));
    } else {
        val_print(out, v, 4);
    }
}

static Fact activation_fact(const Candidate *c, Arena *run, const Assumption *a,
                            const char *subject) {
    Fact fact = {.name = a->by_annotation ? STR("annotation") : STR("activation"),
                 .state = a->likely || a->by_annotation ? FACT_UNKNOWN : FACT_PROVEN};
    fact.claim = arena_printf(run, a->by_annotation
                                  ? "%s is of class %.*s by its annotation: tested at run time"
                              : a->open
                                  ? "%s may be %.*s: nothing in sight decides it"
                              : a->likely
                                  ? "%s is %.*s by the default of every configuration in sight"
                              : a->from_config
                                  ? "%s is %.*s by default"
                                  : "%s is %.*s",
                              subject, STR_FMT(a->claim));
    if (a->from_config && c->place) fact.guard = arena_str(run, assumption_text(c->place, a));
    add_chain(&fact, run, a->chain);
    return fact;
}

static bool add_activation_facts(Finding *out, Arena *run, const Candidate *c) {
    bool guarded = false;
    const Assumption *made[ASSUMPTIONS_MAX];
    uint32_t count = match_assumptions(c->frame, &c->match, made);
    for (uint32_t i = 0; i < count; i++) {
        const Assumption *a = made[i];
        Buf subject = {0};
        if (a->by_annotation) buf_add(&subject, sym_str(a->subject->name));
        else print_subject(&subject, a->subject);
        if (a->open) add_open_reason(out, run, subject.at, a->claim);
        guarded |= a->from_config && !a->by_annotation;
        add_fact(out, run, activation_fact(c, run, a, subject.at));
        buf_free(&subject);
    }
    return guarded;
}

static void add_default_facts(Finding *out, Arena *run, const Candidate *c) {
    for (uint32_t i = 0; i < c->match.default_count; i++) {
        const DefaultNumber *number = &c->match.defaults[i];
        Buf subject = {0};
        print_subject(&subject, number->subject);
        Fact fact = {.name = STR("default"), .state = FACT_UNKNOWN};
        fact.claim = arena_printf(run, number->axes
                                           ? "%s is axis %g alone: tested at run time"
                                           : "%s is %g by default: tested at run time",
                                  subject.at, number->num);
        fact.guard = arena_str(run, default_text(c->place, number));
        add_fact(out, run, fact);
        buf_free(&subject);
    }
}

static void add_last_axis_fact(Finding *out, Arena *run, const Candidate *c) {
    if (!c->match.last_axis) return;
    Fact fact = {.name = STR("last_axis"), .state = FACT_UNKNOWN};
    fact.claim = arena_printf(run, "axis %u, as it is written, is the last one: tested at run time",
                              (unsigned)c->match.last_axis);
    Str text = last_axis_text(c->place, true);
    fact.guard = arena_str(run, text.len ? text : last_axis_text(c->place, false));
    add_fact(out, run, fact);
}

static void add_choice_facts(Finding *out, Arena *run, const Candidate *c) {
    for (uint32_t i = 0; i < c->match.choice_count; i++) {
        Fact fact = {.name = STR("choice"), .state = FACT_UNKNOWN};
        fact.claim = STR("one arm of a choice is the operator's formula: which one is taken is "
                         "tested at run time");
        if (!c->place->fault) {
            fact.guard = arena_str(run, branch_text(c->place, &c->match.choices[i]));
        }
        add_fact(out, run, fact);
    }
}

static Str requirement_name(Arena *run, const Requirement *r) {
    // The first attribute the predicate looks at: dtype, shape, numel ...
    Str text = source_span(&r->module->source, r->test->start, r->test->end);
    static const char *const names[] = {"dtype", "shape", "numel", "dim", "contiguous",
                                        "unclamped", "uncentred"};
    for (size_t i = 0; i < COUNT(names); i++) {
        for (size_t k = 0; k + strlen(names[i]) <= text.len; k++) {
            if (memcmp(text.at + k, names[i], strlen(names[i])) == 0) {
                return arena_printf(run, "requires_%s", names[i]);
            }
        }
    }
    return STR("requires");
}

static void add_requirement_facts(Finding *out, Arena *run, const Candidate *c,
                                  const Requirements *all) {
    for (uint32_t i = 0; i < all->len; i++) {
        const Requirement *r = &all->at[i];
        Fact fact = {.name = requirement_name(run, r), .state = r->state};
        // The message of unclamped() and its like says what is wrong if it fails.
        bool absence = str_starts(fact.name, "requires_un") && r->state == FACT_PROVEN;
        fact.claim = absence      ? arena_str(run, r->why)
                     : r->why.len ? arena_printf(run, "%.*s: %.*s", STR_FMT(r->message),
                                                 STR_FMT(r->why))
                                  : arena_str(run, r->message);
        if (r->state == FACT_UNKNOWN && c->place && !c->place->fault) {
            Str guard = requirement_text(c->place, r, true);
            if (!guard.len) guard = requirement_text(c->place, r, false);
            fact.guard = arena_str(run, guard);
        }
        add_chain(&fact, run, r->chain);
        add_fact(out, run, fact);
    }
}

static void print_dtype(Buf *out, Arena *run, const Val *dtype) {
    if (dtype->op == V_GLOBAL) {
        buf_add(out, dtype->text);
    } else if (dtype->op == V_DTYPE) {
        buf_add(out, STR("the dtype of "));
        buf_add(out, quoted_value(run, dtype->args[0]));
    } else {
        buf_add(out, STR("a dtype that run time decides"));
    }
}

// Explicit casts to half precision inside the computation round more than the
// operator does; where a cast stands decides the last bits.
static void add_cast_facts(Finding *out, Arena *run, const Candidate *c) {
    uint32_t casts = 0;
    Buf text = {0};
    Fact fact = {.name = STR("casts"), .state = FACT_PROVEN};
    for (uint32_t i = 0; i < c->match.seen.len; i++) {
        const Val *v = c->match.seen.at[i];
        if (v->op != V_CAST) continue;
        bool again = false;
        for (uint32_t k = 0; k < i; k++) again |= c->match.seen.at[k] == v;
        if (again) continue;
        if (casts++) buf_add(&text, STR("; "));
        buf_add(&text, quoted_value(run, v->args[0]));
        buf_add(&text, STR(" to "));
        print_dtype(&text, run, v->args[1]);
        if (v->node && v->module && !val_is_placeless(v)) {
            Span span = make_span(run, v->module, v->node);
            vec_push(run, &fact.chain, span);
        }
        if (casts == 6) break;
    }
    fact.claim = casts ? arena_printf(run, "the original casts %s", text.at)
                       : STR("no cast in the original: it computes in its inputs' dtype");
    add_fact(out, run, fact);
    buf_free(&text);
}

// attn_weights = None: the caller who reads the report may need what no scanned one does.
static void add_released_facts(Finding *out, Arena *run, const Place *place) {
    for (uint32_t i = 0; i < place->released_count; i++) {
        Fact fact = {.name = STR("released"), .state = FACT_PROVEN};
        fact.claim = arena_printf(run, "`%s` is None in the fused branch: of what was read, "
                                  "nothing needs it there", place->released[i]->text);
        add_fact(out, run, fact);
    }
}

static bool is_half(const Val *dtype) {
    return val_is_global(dtype, "torch.float16") || val_is_global(dtype, "torch.bfloat16");
}

// A cast to a fixed half precision inside the computation rounds what the
// operator keeps: the result differs by more than its own rounding.
static bool rounds_inside(const Candidate *c) {
    for (uint32_t i = 0; i < c->match.seen.len; i++) {
        const Val *v = c->match.seen.at[i];
        if (v->op == V_CAST && is_half(v->args[1]) && v != c->record->val) return true;
    }
    return false;
}

static bool holds_double(const Val *dtype, int depth) {
    if (val_is_global(dtype, "torch.float64")) return true;
    if (dtype->op != V_PHI && dtype->op != V_PROMOTE && dtype->op != V_AUTOCAST) return false;
    for (uint32_t i = dtype->op == V_PHI; i < dtype->nargs && depth < 8; i++) {
        if (holds_double(dtype->args[i], depth + 1)) return true;
    }
    return false;
}

// x.double() before or inside the computation: no operator here computes in
// float64.
static bool computes_double(const Candidate *c) {
    for (uint32_t i = 0; i < c->match.seen.len; i++) {
        const Val *v = c->match.seen.at[i];
        if (v->op == V_CAST && val_is_global(v->args[1], "torch.float64")) return true;
    }
    return holds_double(dtype_of(c->frame->flow, c->root, (Scalars){0}), 0);
}

// What the replacement is written for against what is installed.
static void add_operator_fact(Finding *out, Arena *run, const Rule *rule) {
    if (!rule->installed.len) return;
    Fact fact = {.name = STR("operator")};
    fact.state = rule->drift.len ? FACT_REFUTED : FACT_PROVEN;
    fact.claim = rule->drift.len
        ? arena_str(run, rule->drift)
        : arena_printf(run, "%.*s registers %.*s as the replacement calls it",
                       STR_FMT(rule->installed), STR_FMT(rule->operator_));
    add_fact(out, run, fact);
}

static void add_rounding_fact(Finding *out, Arena *run, const Candidate *c) {
    if (!rounds_inside(c)) return;
    Fact fact = {.name = STR("rounding"), .state = FACT_UNKNOWN};
    fact.claim = STR("the original rounds an inner value to half precision, the operator does not");
    add_fact(out, run, fact);
}

// ---- ports ------------------------------------------------------------------

// What the source makes it: "float32". Others are known at run time.
static Str proven_dtype(const Candidate *c, Val *v) {
    Val *dtype = v ? placed_dtype(c->place, v) : NULL;
    if (!dtype || dtype->op != V_GLOBAL || !str_starts(dtype->text, "torch.")) {
        return STR("unknown");
    }
    return (Str){dtype->text.at + strlen("torch."), dtype->text.len - strlen("torch.")};
}

static void add_ports(Finding *out, Arena *run, const Candidate *c,
                      const Rewrite *rewrite) {
    const Rule *rule = c->match.spec->rule;
    for (uint32_t i = 0; i < rule->param_count; i++) {
        if (!c->match.bound[i]) continue;
        Port port = {.name = arena_str(run, sym_str(rule->params[i].name)),
                     .dtype = STR("unknown"), .shape = STR("unknown")};
        if (rule->params[i].scalar) {
            port.dtype = rule->params[i].text ? STR("string") : STR("number");
            port.shape = STR("scalar");
        }
        const PlacedInput *in = &c->place->inputs[i];
        if (c->match.attend && (in->composed || val_is_number(c->match.bound[i]))) continue;
        if (!rule->params[i].scalar) port.dtype = arena_str(run, proven_dtype(c, in->val));
        Str expr = in->text;
        if (in->made.len) {
            expr = in->made;
        } else if (in->node) {
            expr = source_span(&c->place->frame->module->source, in->node->start,
                               in->node->end);
        }
        port.expr = arena_str(run, expr);
        vec_push(run, &out->inputs, port);
    }
    Port result = {.name = STR("result"), .shape = STR("unknown")};
    const Node *node = c->record->node;
    if (c->record->stmt != node) {
        result.expr = arena_str(run, source_span(&c->place->frame->module->source,
                                                 node->start, node->end));
    }
    result.dtype = rewrite->dtype_out.len ? rewrite->dtype_out : STR("unknown");
    vec_push(run, &out->outputs, result);
}

// ---- verdict ----------------------------------------------------------------

// Where the arm that is left to the original is another formula.
static void add_branch_reasons(Finding *out, Arena *run, const Candidate *c) {
    const Attend *attend = c->match.attend;
    for (uint32_t i = 0; attend && i < attend->branches.len; i++) {
        const Branch *branch = &attend->branches.at[i];
        if (!branch->changes) continue;
        out->verdict = VERDICT_CAUTION;
        add_reason(out, run, arena_printf(run, "only one branch is the operator's formula; in the "
                                               "other %s", branch->why ? branch->why
                                                   : "it differs"));
    }
}

// An operator that no graph takes, in code that is compiled.
static void add_compiled_reason(Finding *out, Arena *run, const Candidate *c) {
    const Rule *rule = c->match.spec->rule;
    Node *at = rule->eager_only.len ? compiled_at(c->frame) : NULL;
    if (!at) return;
    Span span = make_span(run, c->frame->module, at);
    out->verdict = VERDICT_CAUTION;
    add_reason(out, run, arena_printf(run, "the code is compiled (line %u): %.*s, and the test of "
                                           "the device breaks a full graph; compare the compiled "
                                           "original with both", span.start_line,
                                      STR_FMT(rule->eager_only)));
}

// Code for another device: what is written there never runs.
static void add_device_reason(Finding *out, Arena *run, const Candidate *c) {
    Node *test = reached_elsewhere(c->frame, c->record->stmt);
    if (!test) return;
    Span span = make_span(run, c->frame->module, test);
    out->verdict = VERDICT_CAUTION;
    add_reason(out, run, arena_printf(run, "it is code for another device: on an NPU the test of "
                                           "the device in line %u leaves it out", span.start_line));
}

// What is wrong with the operator that the rule names.
static void add_operator_reasons(Finding *out, Arena *run, const Rule *rule) {
    bool unknown = rule->op_schema.len == 0 && !rule->plain_torch;
    if (rule->drift.len || unknown) out->verdict = VERDICT_CAUTION;
    if (rule->drift.len) add_reason(out, run, arena_str(run, rule->drift));
    if (unknown) add_reason(out, run, STR("nothing is known about the operator's limits"));
}

// What the form rests on.
static Str unread_reason(Arena *run, const Attend *attend) {
    return arena_printf(run, "unproven: %s: %.*s", attend->unread,
                        STR_FMT(quoted_value(run, attend->unread_at)));
}

static void judge(Finding *out, Arena *run, const Candidate *c,
                  const Requirements *all, const char *fault) {
    // A reason that is there already is an activation that nothing decides.
    out->verdict = out->reasons.len ? VERDICT_CAUTION : VERDICT_RECOMMEND;
    for (uint32_t i = 0; i < all->len; i++) {
        const Requirement *r = &all->at[i];
        if (r->state == FACT_REFUTED) {
            out->verdict = VERDICT_REJECT;
            add_reason(out, run, r->why.len
                ? arena_printf(run, "does not hold: %.*s (%.*s)", STR_FMT(r->message),
                               STR_FMT(r->why))
                : arena_str(run, r->message));
        }
    }
    if (computes_double(c)) {
        out->verdict = VERDICT_REJECT;
        add_reason(out, run, STR("the original computes in float64, the operator does not"));
    }
    const char *misuse = c->match.attend ? attend_misuse(c->frame, c->match.attend, c->root) : NULL;
    if (misuse) {
        out->verdict = VERDICT_REJECT;
        add_reason(out, run, str_of(misuse));
    }
    if (out->verdict == VERDICT_REJECT) return;
    Str caution = c->match.spec->rule->caution;
    if (caution.len) {
        out->verdict = VERDICT_CAUTION;
        add_reason(out, run, arena_str(run, caution));
    }
    for (uint32_t i = 0; i < all->len; i++) {
        const Requirement *r = &all->at[i];
        if (r->state != FACT_UNKNOWN || !r->soft) continue;
        out->verdict = VERDICT_CAUTION;
        add_reason(out, run, arena_printf(run, "unproven: %.*s (%.*s)", STR_FMT(r->message),
                                          STR_FMT(r->why)));
    }
    if (fault) {
        out->verdict = VERDICT_CAUTION;
        bool unread = c->match.attend && fault == c->match.attend->unread;
        add_reason(out, run, unread ? unread_reason(run, c->match.attend)
                                    : arena_printf(run, "no place to write it: %s", fault));
    }
    add_branch_reasons(out, run, c);
    add_device_reason(out, run, c);
    if (c->place->wasted) {
        Str reused = c->match.spec->rule->reused;
        out->verdict = VERDICT_CAUTION;
        add_reason(out, run, reused.len ? arena_str(run, reused)
                                        : STR("an inner value is used elsewhere and stays "
                                              "computed: the gain is smaller"));
    }
    if (rounds_inside(c)) {
        out->verdict = VERDICT_CAUTION;
        add_reason(out, run, STR("the original rounds an inner value to half precision, "
                                 "the operator does not"));
    }
    add_compiled_reason(out, run, c);
    add_operator_reasons(out, run, c->match.spec->rule);
}

static void add_summary_reason(Finding *out, Arena *run, bool guarded) {
    uint32_t held = 0;
    for (uint32_t i = 0; i < out->facts.len; i++) held += out->facts.at[i].guard.len > 0;
    if (out->verdict != VERDICT_RECOMMEND) return;
    Str text = guarded
        ? STR("the form is proven; a default decides what is computed, and is tested at run time")
        : held == 1 ? STR("the form is proven; 1 condition is tested at run time")
        : held ? arena_printf(run, "the form is proven; %u conditions are tested at run time", held)
               : STR("the form and every requirement are proven");
    add_reason(out, run, text);
}

static Priority priority_of(const Rule *rule) {
    if (str_is(rule->priority, "high")) return PRIORITY_HIGH;
    return str_is(rule->priority, "medium") ? PRIORITY_MEDIUM : PRIORITY_LOW;
}

// 8 hex digits of the code without its white space, so that it may move.
static Str short_hash(Arena *run, Str code) {
    uint64_t h = HASH_SEED;
    for (size_t i = 0; i < code.len; i++) {
        char ch = code.at[i];
        if (ch == ' ' || ch == '\t' || ch == '\n' || ch == '\r') continue;
        h = hash_bytes(h, &ch, 1);
    }
    return arena_printf(run, "%08x", (unsigned)(h ^ h >> 32));
}

static void copy_operator(Finding *out, Arena *run, const Rule *rule) {
    out->op_signature = arena_str(run, rule->op_schema);
    out->op_summary = arena_str(run, rule->op_summary);
    out->op_source = arena_str(run, rule->op_source);
}

static Switch make_switch(Arena *run, const Rule *rule, const RepoSwitch *existing,
                          Str *definition) {
    Switch s = {0};
    if (existing) {
        s = (Switch){SWITCH_EXISTING, existing->expr, existing->name, existing->where};
        return s;
    }
    char name[64];
    size_t n = 0;
    for (; n < rule->family.len && n < sizeof(name) - 1; n++) {
        char ch = rule->family.at[n];
        bool lower = ch >= 'a' && ch <= 'z';
        bool plain = lower || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9');
        name[n] = lower ? (char)(ch - 'a' + 'A') : plain ? ch : '_';
    }
    name[n] = 0;
    s.kind = SWITCH_ENVIRONMENT;
    s.name = arena_printf(run, "NPUFUSE_%s", name);
    s.expr = s.name;
    *definition = arena_printf(run, "NPUFUSE_%s = os.environ.get(\"NPUFUSE_%s\", \"1\") != \"0\"",
                               name, name);
    return s;
}

static void name_finding(Finding *out, Arena *run, const Candidate *c,
                         const Module *m, Str qualname) {
    const Rule *rule = c->match.spec->rule;
    out->family = arena_str(run, rule->family);
    out->rule = arena_str(run, rule->id);
    out->rule_version = arena_str(run, rule->version);
    out->api = arena_str(run, rule->api);
    out->variant = variant_of(run, c);
    out->priority = priority_of(rule);
    out->file = arena_str(run, m->shown);
    out->qualname = arena_str(run, qualname);
    out->gain = arena_str(run, rule->gain);
    out->gain_ground = STR("operators counted in the source; no time was measured");
    copy_operator(out, run, rule);
}

static void set_lines(Finding *out, Arena *run, const Module *m, const Node *first,
                      const Node *last) {
    out->start_line = source_line(&m->source, first->start);
    out->end_line = source_line(&m->source, last->end > last->start ? last->end - 1 : last->start);
    uint32_t start = m->source.lines[out->start_line - 1];
    uint32_t end = out->end_line < m->source.line_count ? m->source.lines[out->end_line]
                                                        : (uint32_t)m->source.text.len;
    out->original = arena_str(run, source_span(&m->source, start, end));
}

void set_finding_id(Finding *out, Arena *run) {
    Str hash = short_hash(run, out->original);
    out->id = arena_printf(run, "%.*s:%.*s:%.*s:%.*s", STR_FMT(out->family),
                           STR_FMT(out->file), STR_FMT(out->qualname), STR_FMT(hash));
}

static void near_finding(Finding *out, Arena *run, const Candidate *c,
                         const Module *m) {
    const Node *at = c->record->stmt ? c->record->stmt : c->record->node;
    if (!c->record->stmt || at->end - at->start > 2000) at = c->record->node;
    set_lines(out, run, m, at, at);
    out->verdict = VERDICT_REJECT;
    Str why = c->near_why ? str_of(c->near_why) : difference_sentence(run, &c->match);
    // Whatever else it is, that alone would rule it out.
    bool wide = str_starts(why, "expected ") &&
                holds_double(dtype_of(c->frame->flow, c->root, (Scalars){0}), 0);
    bool alone = c->match.attend && c->match.attend->fused_already;
    add_reason(out, run, wide
        ? STR("the original computes in float64, the operator does not")
        : alone ? why : arena_printf(run, "not the operator's formula: %.*s", STR_FMT(why)));
    Fact fact = {.name = STR("form"), .state = FACT_REFUTED,
                 .claim = out->reasons.at[0]};
    const Val *got = c->match.attend ? c->match.attend->at : c->match.got;
    const Node *node = got ? val_written(c->frame, at, got) : NULL;
    if (node) {
        Span span = make_span(run, node == got->node ? got->module : m, node);
        vec_push(run, &fact.chain, span);
    }
    add_fact(out, run, fact);
}

static void add_helpers(Finding *out, Arena *run, const Candidate *c, const Node *fn) {
    for (uint32_t i = 0; i < c->match.seen.len; i++) {
        const Val *v = c->match.seen.at[i];
        if (!v->node || !v->module) continue;
        bool inside = v->module == c->place->frame->module &&
                      v->node->start >= fn->start && v->node->end <= fn->end;
        if (inside || v->op <= V_CAST) continue;
        Span span = make_span(run, v->module, v->node);
        bool again = false;
        for (uint32_t k = 0; k < out->helpers.len; k++) {
            again |= out->helpers.at[k].start_line == span.start_line &&
                     str_eq(out->helpers.at[k].file, span.file);
        }
        if (!again && out->helpers.len < 8) vec_push(run, &out->helpers, span);
    }
}

static void add_result_fact(Finding *out, Arena *run, const Rewrite *rewrite) {
    Fact fact = {.name = STR("dtype_out"), .state = FACT_PROVEN};
    Str dtype = rewrite->dtype_out, own = rewrite->dtype_operator;
    if (!rewrite->dtype_cast) {
        fact.claim = arena_printf(run, "original and operator both give %.*s", STR_FMT(dtype));
    } else if (!own.len) {
        fact.claim = arena_printf(run, "the original gives %.*s; a cast to it is written",
                                  STR_FMT(dtype));
    } else {
        fact.claim = arena_printf(run, "the original gives %.*s, the operator alone %.*s: its %s "
                                       "is cast", STR_FMT(dtype), STR_FMT(own),
                                  rewrite->casts_input ? "input" : "result");
    }
    add_fact(out, run, fact);
}

// The project's own opinion of whether an NPU is usable.
static void add_availability_fact(Finding *out, Arena *run, const Available *available) {
    if (!available->test.len) return;
    Fact fact = {.name = STR("availability"), .state = FACT_PROVEN};
    fact.claim = arena_printf(run, "%.*s of the project tells whether an NPU is usable: the import "
                                   "of torch_npu asks it", STR_FMT(available->test));
    vec_push(run, &fact.chain, available->where);
    add_fact(out, run, fact);
}

// What a reader of a candidate wants to know besides.
static void add_context_facts(Finding *out, Arena *run, const Candidate *c,
                              const Requirements *all) {
    if (out->verdict == VERDICT_REJECT) return;
    add_input_facts(out, run, c, all);
    Str autograd = c->match.spec->rule->op_autograd;
    add_surround_facts(out, run, c->frame, c->record->node, autograd);
}

// A parameter that stands for something, or a flag that the alternative's name has.
static bool is_present(const Match *match, Str name) {
    const Rule *rule = match->spec->rule;
    Str words = match->spec->variant;
    for (size_t from = 0, at = 0; at <= words.len; at++) {
        if (at < words.len && words.at[at] != '+') continue;
        if (str_eq((Str){words.at + from, at - from}, name)) return true;
        from = at + 1;
    }
    for (uint32_t i = 0; i < rule->param_count; i++) {
        if (match->bound[i] && str_eq(sym_str(rule->params[i].name), name)) return true;
    }
    return false;
}

// The rule's risks; those of "bias, drop: ..." where one of the two is there.
static void add_risks(Finding *out, Arena *run, const Match *match) {
    const Rule *rule = match->spec->rule;
    for (uint32_t i = 0; i < rule->risks_of.len; i++) {
        Str text = rule->risks_of.at[i];
        bool applies = false;
        for (size_t from = 0, at = 0; at < text.len; at++) {
            if (text.at[at] != ',' && text.at[at] != ':') continue;
            applies |= is_present(match, (Str){text.at + from, at - from});
            from = at + 2;
            if (text.at[at] == ',') continue;
            Str risk = {text.at + from, text.len > from ? text.len - from : 0};
            if (applies) vec_push(run, &out->risks, arena_str(run, risk));
            break;
        }
    }
    for (uint32_t i = 0; i < rule->risks.len; i++) {
        vec_push(run, &out->risks, arena_str(run, rule->risks.at[i]));
    }
}

void make_finding(Finding *out, Arena *run, const Candidate *c, Str qualname,
                  const RepoSwitch *existing) {
    *out = (Finding){0};
    const Rule *rule = c->match.spec->rule;
    const Module *m = c->frame->module;
    name_finding(out, run, c, m, qualname);
    if (c->near) {
        near_finding(out, run, c, m);
        set_finding_id(out, run);
        return;
    }
    Requirements all;
    prove_requirements(&all, c->place);
    Str definition = {0};
    out->switch_ = make_switch(run, rule, existing, &definition);
    Rewrite rewrite = {0};
    const char *fault = c->place->fault;
    if (!fault && is_scripted(c->place->frame)) {
        fault = "TorchScript compiles the function, and takes no test of a switch or device";
    }
    if (!fault) {
        RewriteInput in = {c->place, &all, out->switch_.expr, definition};
        rewrite_match(&rewrite, run, &in);
        fault = rewrite.fault;
    }
    const Node *stmt = c->record->stmt ? c->record->stmt : c->record->node;
    bool simple = stmt->kind != N_IF && stmt->kind != N_FOR && stmt->kind != N_WITH &&
                  stmt->kind != N_WHILE;
    set_lines(out, run, m, simple ? stmt : c->record->node, simple ? stmt : c->record->node);
    if (!fault) {
        out->start_line = rewrite.start_line;
        out->end_line = rewrite.end_line;
        out->original = rewrite.original;
    }
    add_form_fact(out, run, c);
    bool guarded = add_activation_facts(out, run, c);
    add_default_facts(out, run, c);
    add_last_axis_fact(out, run, c);
    add_choice_facts(out, run, c);
    add_requirement_facts(out, run, c, &all);
    add_cast_facts(out, run, c);
    add_rounding_fact(out, run, c);
    add_operator_fact(out, run, rule);
    judge(out, run, c, &all, fault);
    if (!fault && out->verdict != VERDICT_REJECT) {
        out->replacement = rewrite.replacement;
        for (uint32_t i = 0; i < rewrite.inserts.len; i++) {
            vec_push(run, &out->inserts, rewrite.inserts.at[i]);
        }
        add_result_fact(out, run, &rewrite);
        add_availability_fact(out, run, &rewrite.available);
        add_ports(out, run, c, &rewrite);
        add_released_facts(out, run, c->place);
    }
    add_context_facts(out, run, c, &all);
    add_summary_reason(out, run, guarded);
    add_risks(out, run, &c->match);
    add_helpers(out, run, c, c->place->frame->fn);
    set_finding_id(out, run);
}
