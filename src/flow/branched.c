// branched.c - the activation of a gated unit, where a branch chooses it:
//   if self.kind == "silu": y = F.silu(gate)
//   elif self.kind == "gelu": y = F.gelu(gate)
//   y = y * up
// The test that chooses it is a guard of the replacement, as it is written.
#include "base/base.h"

#include "flow/branched.h"

#include "flow/gated.h"
#include "flow/resolve_impl.h"

enum { BRANCHES_MAX = 8 };

// How a branch is chosen.
typedef struct Chosen {
    Val *subject;      // self.kind, self.use_silu
    const Val *others; // of `subject == others`, `subject in others`; NULL: by its truth
    bool holds;        // the test, or its opposite
} Chosen;

static bool is_text(const Val *v) {
    return v->op == V_CONST && v->ck == CONST_STR;
}

static bool are_texts(const Val *v) {
    if (is_text(v)) return true;
    if (v->op != V_TUPLE && v->op != V_LIST) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (!is_text(v->args[i])) return false;
    }
    return v->nargs > 0;
}

static bool is_setting(const Val *v) {
    return v->op == V_ATTR || v->op == V_PARAM;
}

static bool read_test(Chosen *out, Val *cond) {
    *out = (Chosen){.holds = true};
    if (cond->op == V_PYOP && cond->ck == A_NOT) {
        out->holds = false;
        cond = cond->args[0];
    }
    if (is_setting(cond)) {
        out->subject = cond;
        return true;
    }
    if (cond->op != V_PYOP || cond->nargs != 2) return false;
    bool equals = cond->ck == A_EQ || cond->ck == A_NOT_EQ;
    bool among = cond->ck == A_IN || cond->ck == A_NOT_IN;
    if (cond->ck == A_NOT_EQ || cond->ck == A_NOT_IN) out->holds = !out->holds;
    out->subject = cond->args[0];
    out->others = cond->args[1];
    bool fits = equals ? is_text(out->others) : among && are_texts(out->others);
    return fits && is_setting(out->subject);
}

// Whether the texts decide the test: 1, 0, or -1 where the setting is not known.
static int outcome(Flow *flow, const Chosen *c) {
    Resolved r = flow_resolve(flow, c->subject);
    if (!r.val || r.val->op != V_CONST) return -1;
    int holds = c->others ? 0 : val_truth(r.val);
    if (c->others && c->others->op == V_CONST) holds = c->others == r.val;
    for (uint32_t i = 0; c->others && i < c->others->nargs; i++) {
        holds |= c->others->args[i] == r.val;
    }
    return holds < 0 ? -1 : holds == c->holds;
}

static Str claim_of(Flow *flow, const Chosen *c) {
    if (!c->others) return c->holds ? STR("true") : STR("false");
    const Val *first = c->others->nargs ? c->others->args[0] : c->others;
    return arena_printf(flow->arena, "%s%s\"%.*s\"", c->holds ? "" : "not ",
                        c->others->nargs > 1 ? "one of " : "", STR_FMT(first->text));
}

static Val *assumed(Flow *flow, Val *choice, const Val *activation, const Chosen *c) {
    Resolved r = flow_resolve(flow, c->subject);
    Assumption *a = NEW(flow->arena, Assumption);
    int known = outcome(flow, c);
    *a = (Assumption){.subject = c->subject, .claim = claim_of(flow, c), .is_test = true,
                      .test = c->others, .test_holds = c->holds, .choice = choice,
                      .open = known != 1, .likely = known != 1 || r.likely, .from_config = true,
                      .chain = known == 1 ? r.chain : NULL, .inner = activation->assume};
    Val copy = *activation;
    copy.assume = a;
    copy.chain = NULL;
    return val_intern(&flow->graph, &copy);
}

static bool activates(const Val *v, Op want, Val *b) {
    return v->op == want && gate_and_value(v->args[0], b);
}

// The branch with the activation. Tests in front of it have to be of the same setting, so
// that its own implies how they come out.
static Val *search(Flow *flow, Val *choice, Val *b, Op want) {
    Val *at = val_strip(choice), *subject = NULL;
    for (int depth = 0; depth < BRANCHES_MAX && at->op == V_PHI; depth++) {
        Chosen c;
        if (!read_test(&c, at->args[0]) || (subject && (c.subject != subject || !c.others))) {
            return NULL;
        }
        subject = c.subject;
        Val *yes = val_strip(at->args[1]), *no = val_strip(at->args[2]);
        if (!c.holds) { // the test itself chooses the second
            Val *swap = yes;
            yes = no;
            no = swap;
        }
        Chosen direct = {c.subject, c.others, true};
        if (activates(yes, want, b)) return assumed(flow, choice, yes, &direct);
        if (activates(no, want, b)) {
            Chosen opposite = {c.subject, c.others, false};
            return depth == 0 ? assumed(flow, choice, no, &opposite) : NULL;
        }
        at = no;
    }
    return NULL;
}

Val *branched_activation(Flow *flow, Val *a, Val *b) {
    if (val_strip(a)->op != V_PHI || flow->only_certain) return NULL;
    static const Op wanted[] = {OP_SILU, OP_GELU};
    Val *first = NULL;
    for (size_t i = 0; i < COUNT(wanted); i++) {
        Val *found = search(flow, a, b, wanted[i]);
        if (found && !found->assume->open) return found;
        if (!first) first = found;
    }
    return first;
}
