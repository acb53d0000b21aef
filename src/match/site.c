// site.c - the findings of sites.
#include "base/base.h"

#include "match/site.h"

#include "base/sha256.h"
#include "match/evidence.h"
#include "match/surround.h"

void site_add_fact_at(Site *site, SiteFact fact) {
    if (site->fact_count < SITE_FACTS_MAX) site->facts[site->fact_count++] = fact;
}

void site_add_fact(Site *site, const char *name, FactState state, Str claim) {
    site_add_fact_at(site, (SiteFact){.name = name, .state = state, .claim = claim});
}

static void set_lines(Finding *out, Arena *run, const Module *m, const Site *site) {
    const SourceText *source = &m->source;
    out->start_line = source_line(source, site->first->start);
    out->end_line = source_line(source, site->last->end ? site->last->end - 1 : 0);
    uint32_t start = source->lines[out->start_line - 1];
    uint32_t end = out->end_line < source->line_count ? source->lines[out->end_line]
                                                      : (uint32_t)source->text.len;
    out->original = arena_str(run, source_span(source, start, end));
}

static void copy_facts(Finding *out, Arena *run, const Site *site, const Module *m) {
    for (uint32_t i = 0; i < site->fact_count; i++) {
        const SiteFact *from = &site->facts[i];
        Fact fact = {.name = str_of(from->name), .state = from->state,
                     .claim = arena_str(run, from->claim)};
        bool of_val = from->from && from->from->node && from->from->module &&
                      !val_is_placeless(from->from);
        const Node *at = of_val ? from->from->node : from->at;
        if (at) {
            Span span = make_span(run, of_val ? from->from->module : m, at);
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

void site_finding(Finding *out, Arena *run, const Site *site, const Module *module,
                  Str qualname) {
    *out = (Finding){.family = str_of(site->family), .rule = str_of(site->id),
                     .api = str_of(site->api), .priority = site->priority,
                     .verdict = site->refused ? VERDICT_REJECT : VERDICT_CAUTION};
    out->rule_version = version_of(run, site->id);
    out->variant = arena_str(run, site->variant);
    out->file = arena_str(run, module->shown);
    out->qualname = arena_str(run, qualname);
    out->gain = arena_str(run, site->gain);
    out->gain_ground = STR("operators counted in the source; no time was measured");
    set_lines(out, run, module, site);
    copy_facts(out, run, site, module);
    if (site->frame) {
        add_surround_facts(out, run, site->frame, site->first, str_of(site->autograd));
    }
    Str reason = arena_str(run, site->reason);
    vec_push(run, &out->reasons, reason);
    set_finding_id(out, run);
}
