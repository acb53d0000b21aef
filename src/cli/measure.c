// measure.c - each call of a run looks for its finding alone: one pattern comes from
// many places. What no finding takes is listed as unexplained.
#include "base/base.h"

#include "cli/measure.h"

#include "prof/bound.h"
#include "prof/runs_json.h"

#include <stdlib.h>

enum { UNEXPLAINED_MAX = 20 };
#define UNEXPLAINED_SHARE 0.005

typedef struct Join {
    FindingSet *set;
    Arena *run;
    const ProfReport *report;
} Join;

// ---- what a call of a run is -----------------------------------------------------------

static Str site_of(const Profile *profile, uint32_t row) {
    return profile->row_site ? profile->sites[profile->row_site[row]] : STR("");
}

static Str module_of(const Profile *profile, uint32_t row) {
    return profile->row_module ? profile->modules[profile->row_module[row]] : STR("");
}

// Whether one path ends with the other, at the border of a name.
static bool same_file(Str a, Str b) {
    if (a.len < b.len) return same_file(b, a);
    if (!b.len || memcmp(a.at + a.len - b.len, b.at, b.len) != 0) return false;
    return a.len == b.len || a.at[a.len - b.len - 1] == '/';
}

static bool is_on_lines(const Finding *finding, Str site) {
    size_t colon = site.len;
    while (colon && site.at[colon - 1] != ':') colon--;
    if (!colon) return false;
    uint32_t line = 0;
    for (size_t i = colon; i < site.len && site.at[i] >= '0' && site.at[i] <= '9'; i++) {
        line = line * 10 + (uint32_t)(site.at[i] - '0');
    }
    return line >= finding->start_line && line <= finding->end_line &&
           same_file((Str){site.at, colon - 1}, finding->file);
}

// Whether the finding's operator replaces the run, or a run inside of it.
static bool is_replaced_by(const Join *join, const Finding *finding, const ProfRun *run) {
    if (run->api && str_is(finding->api, run->api)) return true;
    for (uint32_t i = 0; i < join->report->runs.len; i++) {
        const ProfRun *inner = &join->report->runs.at[i];
        bool is_inside = inner->part_of && strcmp(inner->part_of, run->pattern) == 0;
        if (is_inside && inner->api && str_is(finding->api, inner->api)) return true;
    }
    return false;
}

// Kernels on the finding's lines: one is enough where the operator is the same, else
// more than half have to be.
static bool joins_by_line(const Join *join, const Finding *finding, const ProfRun *run,
                          const RunRange *at) {
    const Profile *profile = join->report->profile;
    uint32_t on = 0, all = at->last - at->first + 1;
    for (uint32_t row = at->first; row <= at->last; row++) {
        on += is_on_lines(finding, site_of(profile, row));
    }
    return is_replaced_by(join, finding, run) ? on > 0 : on * 2 > all;
}

// "Model_0/Layer_3/Norm_7" -> "Norm".
static Str class_of(Str module) {
    while (memchr(module.at, '/', module.len)) str_take(&module, '/');
    size_t len = module.len;
    while (len && module.at[len - 1] >= '0' && module.at[len - 1] <= '9') len--;
    if (len && len < module.len && module.at[len - 1] == '_') module.len = len - 1;
    return module;
}

// "Norm.forward" is of the class "Norm".
static bool is_method_of(const Finding *finding, Str module) {
    Str class = class_of(module), name = finding->qualname;
    return class.len && name.len > class.len && memcmp(name.at, class.at, class.len) == 0 &&
           name.at[class.len] == '.';
}

// A sum and its norm begin in one module and end in another: either counts.
static bool joins_by_module(const Join *join, const Finding *finding, const ProfRun *run,
                            const RunRange *at) {
    const Profile *profile = join->report->profile;
    return is_replaced_by(join, finding, run) &&
           (is_method_of(finding, module_of(profile, at->first)) ||
            is_method_of(finding, module_of(profile, at->last)));
}

typedef bool (*Joins)(const Join *join, const Finding *finding, const ProfRun *run,
                      const RunRange *at);

static uint32_t find_with(const Join *join, const ProfRun *run, const RunRange *at, Joins joins) {
    for (uint32_t i = 0; i < join->set->findings.len; i++) {
        const Finding *finding = &join->set->findings.at[i];
        if (finding->verdict != VERDICT_REJECT && joins(join, finding, run, at)) return i;
    }
    return UINT32_MAX;
}

// The finding of a call; UINT32_MAX if the profile does not say.
static uint32_t find_finding(JoinedBy *by, const Join *join, const ProfRun *run,
                             const RunRange *at) {
    uint32_t found = find_with(join, run, at, joins_by_line);
    *by = JOINED_LINE;
    if (found == UINT32_MAX) {
        found = find_with(join, run, at, joins_by_module);
        *by = JOINED_MODULE;
    }
    return found;
}

// ---- adding up ---------------------------------------------------------------------------

// The kernels' time between two rows of the file; of a run that is not contiguous
// other kernels stand between, so that its mean is taken.
static double time_of(const Join *join, const ProfRun *run, const RunRange *at) {
    const Profile *profile = join->report->profile;
    if (!run->contiguous) return (double)run->device_ns / 1e3 / run->count;
    double us = 0;
    for (uint32_t row = at->first; row <= at->last; row++) {
        uint32_t kind = profile->rows[row].kind;
        bool counts = kind != PROF_NO_KIND && profile->kinds[kind].core != CORE_COMM;
        if (counts) us += (double)profile->rows[row].duration_ns / 1e3;
    }
    return us;
}

static Measured start_measured(const Join *join, const ProfRun *run, const RunRange *at) {
    const Profile *profile = join->report->profile;
    return (Measured){
        .pattern = str_of(run->pattern), .api = str_of(run->api), .shared = 1,
        .direction = str_of(runs_direction_name(run->direction)),
        .cap = run->has_cap ? run->cap : 0, .cap_is_relative = run->is_relative,
        .bound = str_of(bound_name(run->bound)), .place = site_of(profile, at->first),
        .module = module_of(profile, at->first), .first_row = at->first, .last_row = at->last,
    };
}

static void add_call(Measured *measured, const Join *join, const ProfRun *run,
                     const RunRange *at) {
    double step = (double)join->report->span_ns / 1e3;
    double device = time_of(join, run, at), gap = (double)run->gap_ns / 1e3 / run->count;
    measured->calls++;
    measured->device_us += device;
    measured->gap_us += gap;
    if (step > 0) measured->share += (device + gap) / step;
}

// The entry of a run at a finding, made on its first call.
static Measured *entry_of(Join *join, MeasuredList *list, const Measured *made) {
    for (uint32_t i = 0; i < list->len; i++) {
        Measured *old = &list->at[i];
        if (str_eq(old->pattern, made->pattern) && old->joined_by == made->joined_by &&
            str_eq(old->direction, made->direction)) {
            return old;
        }
    }
    vec_push(join->run, list, *made);
    return &list->at[list->len - 1];
}

// Calls that no line and no module places are those of the findings that the same
// operator would replace, all together.
static bool add_by_api(Join *join, const ProfRun *run, const Measured *rest) {
    uint32_t shared = 0;
    Measured measured = *rest;
    if (run->kind != RUN_FUSION) return false;
    for (uint32_t i = 0; i < join->set->findings.len; i++) {
        const Finding *finding = &join->set->findings.at[i];
        shared += finding->verdict != VERDICT_REJECT && is_replaced_by(join, finding, run);
    }
    measured.joined_by = JOINED_API;
    measured.shared = shared;
    for (uint32_t i = 0; i < join->set->findings.len; i++) {
        Finding *finding = &join->set->findings.at[i];
        if (finding->verdict == VERDICT_REJECT || !is_replaced_by(join, finding, run)) continue;
        vec_push(join->run, &finding->measured, measured);
    }
    return shared > 0;
}

// Whether the profile says of this call where it comes from: then it is not another's.
static bool is_placed(const Join *join, const RunRange *at) {
    return site_of(join->report->profile, at->first).len > 0;
}

static void join_run(Join *join, const ProfRun *run) {
    Measured rest = {0}, elsewhere = {0};
    for (uint32_t i = 0; i < run->count; i++) {
        const RunRange *at = &run->at[i];
        JoinedBy by;
        uint32_t found = find_finding(&by, join, run, at);
        Measured *into = is_placed(join, at) ? &elsewhere : &rest;
        Measured made = start_measured(join, run, at);
        made.joined_by = by;
        if (found != UINT32_MAX) {
            into = entry_of(join, &join->set->findings.at[found].measured, &made);
        } else if (!into->calls) {
            *into = made;
        }
        add_call(into, join, run, at);
    }
    if (elsewhere.calls) vec_push(join->run, &join->set->unexplained, elsewhere);
    if (rest.calls && !add_by_api(join, run, &rest)) {
        vec_push(join->run, &join->set->unexplained, rest);
    }
}

// ---- the order -----------------------------------------------------------------------------

static int by_time(const void *a, const void *b) {
    const Measured *x = a, *y = b;
    double left = x->device_us + x->gap_us, right = y->device_us + y->gap_us;
    if (left > right || left < right) return left > right ? -1 : 1;
    return x->first_row < y->first_row ? -1 : x->first_row > y->first_row;
}

static void sort(MeasuredList *list) {
    if (list->len) qsort(list->at, list->len, sizeof(*list->at), by_time);
}

static void keep_hot(MeasuredList *list) {
    uint32_t kept = 0;
    sort(list);
    for (uint32_t i = 0; i < list->len && kept < UNEXPLAINED_MAX; i++) {
        if (list->at[i].share >= UNEXPLAINED_SHARE) list->at[kept++] = list->at[i];
    }
    list->len = kept;
}

void measure_findings(FindingSet *set, Arena *run, const ProfileLoaded *loaded,
                      const ProfReport *report) {
    Join join = {.set = set, .run = run, .report = report};
    set->profile = loaded->shown;
    set->profile_us = (double)report->span_ns / 1e3;
    for (uint32_t i = 0; i < report->runs.len; i++) {
        const ProfRun *found = &report->runs.at[i];
        if (!found->part_of && found->count) join_run(&join, found);
    }
    for (uint32_t i = 0; i < set->findings.len; i++) sort(&set->findings.at[i].measured);
    keep_hot(&set->unexplained);
    for (uint32_t i = 0; i < report->notes.len; i++) {
        vec_push(run, &set->profile_notes, report->notes.at[i]);
    }
}
