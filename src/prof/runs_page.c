// runs_page.c - see runs_page.h. A roofline needs operations: of a matrix product its
// multiplications and additions, of any other kernel one for each element that it
// writes. The page says so.
#include "base/base.h"

#include "prof/runs_page.h"

#include "model/json.h"
#include "prof/bound.h"
#include "prof/runs_json.h"

#include <stdlib.h>

enum { KERNELS_MAX = 200, RUNS_MAX = 500 };

static double us(uint64_t ns) {
    return (double)ns / 1000.0;
}

static double operations_of(const ProfKind *kind) {
    double elements = 0;
    if (kind->flops > 0) return kind->flops;
    for (uint32_t i = 0; i < kind->out_count; i++) elements += (double)kind->out[i].count;
    return elements;
}

// Of all occurrences. What stands between the kernels of a run that is not
// contiguous is a matrix product, and none of its kernels.
static double operations_of_run(const ProfReport *report, const ProfRun *run) {
    const Profile *profile = report->profile;
    double sum = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        for (uint32_t row = run->at[i].first; row <= run->at[i].last; row++) {
            uint32_t k = profile->rows[row].kind;
            if (k == PROF_NO_KIND || profile->kinds[k].core == CORE_COMM) continue;
            const ProfKind *kind = &profile->kinds[k];
            if (run->contiguous || kind->flops <= 0) sum += operations_of(kind);
        }
    }
    return sum;
}

static void add_number(Json *json, const char *name, double number) {
    json_key(json, name);
    json_double_if(json, number > 0, number);
}

static void add_run(Json *json, const ProfReport *report, const ProfRun *run) {
    json_object(json, JSON_LINE);
    json_add_word(json, "pattern", run->pattern);
    json_add_word(json, "kind", runs_kind_name(run->kind));
    json_add_word(json, "api", run->api ? run->api : "");
    json_add_word(json, "part_of", run->part_of ? run->part_of : "");
    json_add_word(json, "direction", runs_direction_name(run->direction));
    json_add_bool(json, "contiguous", run->contiguous);
    json_add_uint(json, "count", run->count);
    json_add_double(json, "device_us", us(run->device_ns));
    json_add_double(json, "gap_us", us(run->gap_ns));
    add_number(json, "bytes", run->bytes);
    add_number(json, "external_bytes", run->external_bytes);
    add_number(json, "operations", operations_of_run(report, run));
    add_number(json, "roof_us", run->roof_us);
    add_number(json, "cap", run->has_cap ? run->cap : 0);
    json_add_bool(json, "is_relative", run->is_relative);
    json_add_double(json, "share", run->share);
    add_number(json, "step_speedup", run->step_speedup);
    json_add_word(json, "bound", bound_name(run->bound));
    json_add_str(json, "sequence", run->sequence);
    json_add_str(json, "module", run->module);
    json_add_str(json, "site", run->site);
    json_add_uint(json, "first_row", run->at[0].first);
    json_add_uint(json, "last_row", run->at[0].last);
    json_add_str(json, "evidence", run->evidence);
    json_add_word(json, "note", run->note ? run->note : "");
    json_key(json, "near");
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < run->near_count; i++) json_str(json, run->near[i]);
    json_end(json);
    json_end(json);
}

typedef struct Ranked {
    const ProfKind *kind;
    const KindBound *bound;
} Ranked;

static int by_time(const void *a, const void *b) {
    const ProfKind *x = ((const Ranked *)a)->kind, *y = ((const Ranked *)b)->kind;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    return x->first_row < y->first_row ? -1 : x->first_row > y->first_row;
}

static void add_kernel(Json *json, const Ranked *ranked) {
    const ProfKind *kind = ranked->kind;
    double calls = kind->count ? (double)kind->count : 1;
    json_object(json, JSON_LINE);
    json_add_str(json, "type", kind->type);
    json_add_str(json, "shapes", kind->in_shapes);
    json_add_uint(json, "count", kind->count);
    json_add_double(json, "device_us", us(kind->total_ns));
    json_add_uint(json, "first_row", kind->first_row);
    add_number(json, "bytes", kind->has_shapes ? (double)kind->bytes * calls : 0);
    add_number(json, "operations", operations_of(kind) * calls);
    json_add_word(json, "bound", bound_name(ranked->bound->bound));
    json_add_word(json, "evidence", ranked->bound->evidence ? ranked->bound->evidence : "");
    json_end(json);
}

static void add_kernels(Json *json, const ProfReport *report) {
    const Profile *profile = report->profile;
    Arena scratch;
    uint32_t count = 0;
    arena_init(&scratch);
    Ranked *ranked = NEW_N(&scratch, Ranked, profile->kind_count);
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        if (profile->kinds[i].core == CORE_COMM) continue;
        ranked[count++] = (Ranked){&profile->kinds[i], &report->bounds[i]};
    }
    if (count) qsort(ranked, count, sizeof(*ranked), by_time);
    json_add_uint(json, "kernel_kinds", count);
    json_key(json, "kernels");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < count && i < KERNELS_MAX; i++) add_kernel(json, &ranked[i]);
    json_end(json);
    arena_free(&scratch);
}

static void add_head(Json *json, const ProfReport *report, const RunsPage *page) {
    json_add_word(json, "lang", page->is_chinese ? "zh" : "en");
    json_add_word(json, "npufuse", page->version);
    json_add_str(json, "source", page->source);
    json_add_uint(json, "rows", report->profile->row_count);
    json_add_double(json, "kernel_us", us(report->kernel_ns));
    json_add_double(json, "communication_us", us(report->comm_ns));
    json_add_double(json, "span_us", us(report->span_ns));
    json_add_double(json, "attributed_us", us(report->claimed_ns));
    json_key(json, "chip");
    json_object(json, JSON_LINE);
    json_add_str(json, "name", report->chip.name);
    add_number(json, "gb_per_s", report->chip.bytes_per_us / 1e3);
    add_number(json, "tflop_per_s", report->chip.flops_per_us / 1e6);
    add_number(json, "launch_us", report->chip.launch_us);
    json_end(json);
    json_add_str(json, "near_source", report->near_source);
}

void runs_page_write(Buf *out, const ProfReport *report, const RunsPage *page) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    add_head(&json, report, page);
    json_key(&json, "runs");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < report->runs.len && i < RUNS_MAX; i++) {
        if (report->runs.at[i].count) add_run(&json, report, &report->runs.at[i]);
    }
    json_end(&json);
    add_kernels(&json, report);
    runs_json_dynamic(&json, report);
    json_key(&json, "notes");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < report->notes.len; i++) json_str(&json, report->notes.at[i]);
    json_end(&json);
    json_end(&json);
}
