// moe.c - what routers and expert loops share, and their findings.
#include "base/base.h"

#include "match/moe.h"

#include "base/sha256.h"
#include "match/evidence.h"

enum { HOLDS_MAX = 3000, HOLDS_DEPTH = 60 };

static bool holds(Val *v, const Val *part, uint32_t *steps, int depth) {
    if (v == part) return true;
    if (depth > HOLDS_DEPTH || ++*steps > HOLDS_MAX) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (holds(v->args[i], part, steps, depth + 1)) return true;
    }
    return false;
}

bool moe_holds(Val *v, const Val *part) {
    uint32_t steps = 0;
    return v && holds(v, part, &steps, 0);
}

const Node *moe_stmt(const EvalRecord *record) {
    return record->stmt ? record->stmt : record->node;
}

void moe_add_fact(MoeSite *site, const char *name, FactState state, Str claim) {
    if (site->fact_count == MOE_FACTS_MAX) return;
    site->facts[site->fact_count++] = (MoeFact){.name = name, .state = state, .claim = claim};
}

static void set_lines(Finding *out, Arena *run, const Module *m, const MoeSite *site) {
    const SourceText *source = &m->source;
    out->start_line = source_line(source, site->first->start);
    out->end_line = source_line(source, site->last->end ? site->last->end - 1 : 0);
    uint32_t start = source->lines[out->start_line - 1];
    uint32_t end = out->end_line < source->line_count ? source->lines[out->end_line]
                                                      : (uint32_t)source->text.len;
    out->original = arena_str(run, source_span(source, start, end));
}

static void copy_facts(Finding *out, Arena *run, const MoeSite *site) {
    for (uint32_t i = 0; i < site->fact_count; i++) {
        const MoeFact *from = &site->facts[i];
        Fact fact = {.name = str_of(from->name), .state = from->state,
                     .claim = arena_str(run, from->claim)};
        if (from->from && from->from->node && from->from->module) {
            Span span = make_span(run, from->from->module, from->from->node);
            vec_push(run, &fact.chain, span);
        }
        vec_push(run, &out->facts, fact);
    }
}

// There is no rule file: the version is that of the program.
static Str version_of(Arena *run, const char *id) {
    char hex[SHA256_HEX + 1];
    Str text = arena_printf(run, "%s of npufuse %s", id, NPUFUSE_VERSION);
    sha256_hex(hex, text);
    return arena_str(run, (Str){hex, 12});
}

void moe_finding(Finding *out, Arena *run, const MoeSite *site, const Frame *frame,
                 Str qualname) {
    const Module *m = frame->module;
    *out = (Finding){.family = STR("moe"), .rule = str_of(site->id), .api = str_of(site->api),
                     .verdict = VERDICT_CAUTION, .priority = PRIORITY_MEDIUM};
    out->rule_version = version_of(run, site->id);
    out->variant = arena_str(run, site->variant);
    out->file = arena_str(run, m->shown);
    out->qualname = arena_str(run, qualname);
    out->gain = arena_str(run, site->gain);
    out->gain_ground = STR("operators counted in the source; no time was measured");
    set_lines(out, run, m, site);
    copy_facts(out, run, site);
    Str reason = arena_str(run, site->reason);
    vec_push(run, &out->reasons, reason);
    set_finding_id(out, run);
}
