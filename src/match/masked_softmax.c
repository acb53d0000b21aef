// masked_softmax.c - see masked_softmax.h.
//
// The operator fills with -10000 whatever the code fills with (op-plugin,
// test/test_base_ops/test_scaled_masked_softmax.py), so it is a caution in any case.
#include "base/base.h"

#include "match/masked_softmax.h"

#include "match/attend.h"
#include "match/number.h"
#include "match/tensor_kind.h"

enum { OPERATOR_FILL = -10000 };

typedef struct Filled {
    Val *scores, *mask, *fill;
} Filled;

// scores.masked_fill(mask, low); torch.where(mask, scores, low) and the other way round.
static bool is_filled(Filled *out, Val *v) {
    if (v->op == OP_MASKED_FILL) *out = (Filled){v->args[0], v->args[1], v->args[2]};
    else if (v->op != OP_WHERE || v->nargs < 3) return false;
    else if (is_very_negative(v->args[2])) *out = (Filled){v->args[1], v->args[0], v->args[2]};
    else *out = (Filled){v->args[2], v->args[0], v->args[1]};
    return is_very_negative(out->fill) && !is_very_negative(out->scores);
}

static bool is_scaled(Flow *flow, const Val *scores) {
    if (scores->op != OP_MUL) return false;
    for (int i = 0; i < 2; i++) {
        Val *factor = val_strip(scores->args[i]);
        if (val_is_number(factor) || is_number(flow, factor)) return true;
    }
    return false;
}

bool masked_softmax_site(Site *out, Flow *flow, Val *v) {
    v = val_strip(v);
    // The operator takes four axes: the third behind the first is the last.
    if (v->op != OP_SOFTMAX || !(val_is_int(v->args[1], -1) || val_is_int(v->args[1], 3))) {
        return false;
    }
    Filled filled;
    if (!is_filled(&filled, val_strip(v->args[0]))) return false;
    bool scaled = is_scaled(flow, val_strip(filled.scores));
    const Val *number = lone_number(filled.fill);
    bool same_fill = val_is_number(number) && number->num == OPERATOR_FILL;
    bool boolean = is_bool_if_tensor(flow, filled.mask);
    *out = (Site){.family = "scaled_masked_softmax", .id = "scaled_masked_softmax",
                  .api = "torch_npu.npu_scaled_masked_softmax", .priority = PRIORITY_LOW,
                  .variant = scaled ? STR("scale") : STR("plain"), .softmax = v};
    out->gain = STR("the scale, the fill and softmax become one kernel; backward becomes one too");
    site_add_fact(out, "form", FACT_PROVEN,
                  STR("softmax along the last axis of scores that a mask fills"));
    SiteFact mask = {.name = "mask", .from = filled.mask, .claim = STR("the mask is boolean")};
    mask.state = boolean ? FACT_PROVEN : FACT_UNKNOWN;
    site_add_fact_at(out, mask);
    site_add_fact(out, "requires_shape", FACT_UNKNOWN,
                  STR("four axes; the last two have from 32 to 4096 elements, a multiple of 32"));
    out->reason = same_fill
        ? STR("nothing here shows the operator's limits: four axes, the last two of 32 to 4096 "
              "elements and multiples of 32")
        : STR("the operator fills with -10000: a row that is masked as a whole comes out uniform, "
              "and a score that is lower is no longer above the masked ones");
    return true;
}
