// finding.c - the words of the record's enums, as findings.json spells them.
#include "base/base.h"

#include "model/finding.h"

static const char *pick(const char *const *names, size_t count, size_t at) {
    if (at >= count) BUG("no name for value %zu", at);
    return names[at];
}

const char *verdict_name(Verdict verdict) {
    static const char *const names[] = {
        [VERDICT_RECOMMEND] = "recommend",
        [VERDICT_CAUTION] = "caution",
        [VERDICT_REJECT] = "reject",
    };
    return pick(names, COUNT(names), verdict);
}

bool family_is_main(Str family) {
    static const char *const names[] = {"rms_norm", "swiglu", "geglu", "rope", "attention", "moe"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(family, names[i])) return true;
    }
    return false;
}

const char *fact_state_name(FactState state) {
    static const char *const names[] = {
        [FACT_PROVEN] = "proven",
        [FACT_REFUTED] = "refuted",
        [FACT_UNKNOWN] = "unknown",
    };
    return pick(names, COUNT(names), state);
}

const char *priority_name(Priority priority) {
    static const char *const names[] = {
        [PRIORITY_HIGH] = "high",
        [PRIORITY_MEDIUM] = "medium",
        [PRIORITY_LOW] = "low",
    };
    return pick(names, COUNT(names), priority);
}

const char *switch_kind_name(SwitchKind kind) {
    static const char *const names[] = {
        [SWITCH_EXISTING] = "existing",
        [SWITCH_PARAMETER] = "parameter",
        [SWITCH_ENVIRONMENT] = "environment",
        [SWITCH_DEVICE_ONLY] = "device_only",
    };
    return pick(names, COUNT(names), kind);
}

const char *joined_by_name(JoinedBy by) {
    static const char *const names[] = {
        [JOINED_LINE] = "line", [JOINED_MODULE] = "module", [JOINED_API] = "api",
    };
    return names[by];
}

bool fact_is_context(const Fact *fact) {
    static const char *const names[] = {
        "graph_mode", "autocast", "gradient", "dynamic_shape", "layout", "contiguity",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(fact->name, names[i])) return true;
    }
    return false;
}
