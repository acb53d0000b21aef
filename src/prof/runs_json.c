// runs_json.c - the report for programs. Times are microseconds with the profile's
// own three decimals; every run names its rows.
#include "base/base.h"

#include "model/json.h"
#include "prof/bound.h"
#include "prof/opclass.h"
#include "prof/runs_json.h"

#include <stdio.h>

const char *runs_direction_name(RunDirection direction) {
    static const char *const names[] = {"forward", "backward", "optimizer", "any"};
    return names[direction];
}

static double us(uint64_t ns) {
    return (double)ns / 1000.0;
}

static void add_or_null(Json *json, const char *name, const char *text) {
    json_key(json, name);
    if (text) json_str(json, str_of(text));
    else json_null(json);
}

static void add_text_or_null(Json *json, const char *name, Str text) {
    json_key(json, name);
    if (text.len) json_str(json, text);
    else json_null(json);
}

static char *put_number(char *at, uint32_t number) {
    char digits[10];
    int n = 0;
    do digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    while (n) *at++ = digits[--n];
    return at;
}

// A large profile has hundreds of thousands of these: written in one piece each.
static void add_occurrences(Json *json, const ProfRun *run) {
    json_key(json, "occurrences");
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < run->count; i++) {
        char text[32], *at = text;
        if (i) *at++ = ',', *at++ = ' ';
        *at++ = '[';
        at = put_number(at, run->at[i].first);
        *at++ = ',', *at++ = ' ';
        at = put_number(at, run->at[i].last);
        *at++ = ']';
        buf_add(json->out, (Str){text, (size_t)(at - text)});
    }
    json_end(json);
}

static void add_variants(Json *json, const ProfRun *run) {
    json_key(json, "variants");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < run->variant_count; i++) {
        const RunVariant *variant = &run->variants[i];
        json_object(json, JSON_LINE);
        json_add_str(json, "input", variant->shape);
        json_add_uint(json, "count", variant->count);
        json_add_double(json, "device_us", us(variant->device_ns));
        json_add_double(json, "gap_us", us(variant->gap_ns));
        json_end(json);
    }
    json_end(json);
}

static void add_cap(Json *json, const ProfRun *run) {
    json_key(json, "cap");
    json_double_if(json, run->has_cap, run->cap);
    json_add_bool(json, "cap_is_relative", run->is_relative);
    json_key(json, "roof_us");
    json_double_if(json, run->roof_us > 0, run->roof_us);
    json_key(json, "rule_of_thumb");
    json_double_if(json, bound_rule_of_thumb(run) > 0, bound_rule_of_thumb(run));
    json_key(json, "step_speedup_at_most");
    json_double_if(json, run->step_speedup > 0, run->step_speedup);
}

const char *runs_kind_name(RunKind kind) {
    static const char *const names[] = {"fusion", "affinity", "custom"};
    return names[kind];
}

static void add_run(Json *json, const ProfRun *run) {
    json_object(json, JSON_BLOCK);
    json_add_word(json, "pattern", run->pattern);
    json_add_word(json, "kind", runs_kind_name(run->kind));
    add_or_null(json, "api", run->api);
    json_add_word(json, "direction", runs_direction_name(run->direction));
    json_add_uint(json, "count", run->count);
    json_add_uint(json, "kernels_a_call", run->kernels);
    json_add_str(json, "sequence", run->sequence);
    add_or_null(json, "part_of", run->part_of);
    json_add_bool(json, "contiguous", run->contiguous);
    add_text_or_null(json, "module", run->module);
    json_add_word(json, "module_by", run->module_inferred ? "repetition" : "trace");
    add_text_or_null(json, "site", run->site);
    json_add_double(json, "device_us", us(run->device_ns));
    json_add_double(json, "gap_us", us(run->gap_ns));
    json_add_double(json, "bytes", run->bytes);
    json_add_double(json, "external_bytes", run->external_bytes);
    json_key(json, "counted_bytes");
    json_double_if(json, run->counted_bytes > 0, run->counted_bytes);
    json_add_double(json, "flops", run->flops);
    json_add_word(json, "bound", bound_name(run->bound));
    json_add_word(json, "blend", blend_name(run->blend));
    add_cap(json, run);
    json_add_double(json, "share_of_step", run->share);
    json_add_str(json, "evidence", run->evidence);
    add_or_null(json, "note", run->note);
    json_key(json, "near");
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < run->near_count; i++) json_str(json, run->near[i]);
    json_end(json);
    add_variants(json, run);
    add_occurrences(json, run);
    json_end(json);
}

static void add_place(Json *json, const Profile *profile, const ShapePlace *place) {
    const ProfKind *first = &profile->kinds[profile->rows[place->rows[0]].kind];
    uint32_t shown = place->shapes < COUNT(place->rows) ? place->shapes : COUNT(place->rows);
    json_object(json, JSON_LINE);
    json_add_str(json, "type", first->type);
    json_add_str(json, "name", first->name);
    add_text_or_null(json, "site", profile->row_site
                         ? profile->sites[profile->row_site[place->rows[0]]] : STR(""));
    json_add_word(json, "by", place->by_name ? "name" : "place");
    json_add_uint(json, "steps", place->steps);
    json_add_uint(json, "shapes", place->shapes);
    json_key(json, "rows");
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < shown; i++) json_uint(json, place->rows[i]);
    json_end(json);
    json_key(json, "inputs");
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < shown; i++) {
        json_str(json, profile->kinds[profile->rows[place->rows[i]].kind].in_shapes);
    }
    json_end(json);
    json_add_double(json, "device_us", us(place->device_ns));
    json_end(json);
}

void runs_json_dynamic(Json *json, const ProfReport *report) {
    const ShapeChanges *changes = &report->changes;
    json_key(json, "dynamic");
    json_object(json, JSON_BLOCK);
    json_add_uint(json, "static_kinds", report->static_kinds);
    json_add_uint(json, "dynamic_kinds", report->dynamic_kinds);
    json_add_uint(json, "late_kinds", report->late_kinds);
    json_add_uint(json, "steps_alike", changes->steps);
    json_add_uint(json, "places", changes->compared);
    json_add_uint(json, "changing", changes->count);
    json_key(json, "sites");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < changes->place_count; i++) {
        add_place(json, report->profile, &changes->places[i]);
    }
    json_end(json);
    json_end(json);
}

// Chips with one kind of core run everything on AI_CORE.
static const char *core_name(ProfCore core, bool one_core) {
    static const char *const names[] = {"unknown", "cube", "vector", "mix",
                                        "aicpu", "communication", "other"};
    return core == CORE_CUBE && one_core ? "any" : names[core];
}

typedef struct KernelWriter {
    Json *json;
    bool one_core;
} KernelWriter;

static void add_kernel(const KernelWriter *writer, const ProfKind *kind, const KindBound *bound) {
    Json *json = writer->json;
    json_object(json, JSON_LINE);
    json_add_str(json, "name", kind->name);
    json_add_str(json, "type", kind->type);
    json_add_word(json, "core", core_name(kind->core, writer->one_core));
    json_add_str(json, "input_shapes", kind->in_shapes);
    json_add_str(json, "input_dtypes", kind->in_dtypes);
    json_add_str(json, "output_shapes", kind->out_shapes);
    json_add_uint(json, "count", kind->count);
    json_add_uint(json, "first_row", kind->first_row);
    json_add_double(json, "device_us", us(kind->total_ns));
    json_add_double(json, "mean_us", us(kind->total_ns) / (double)(kind->count ? kind->count : 1));
    json_key(json, "bytes");
    if (kind->has_shapes) json_uint(json, kind->bytes);
    else json_null(json);
    json_key(json, "flops");
    json_double_if(json, kind->flops > 0, kind->flops);
    json_add_word(json, "bound", bound_name(bound->bound));
    json_add_word(json, "evidence", bound->evidence);
    json_key(json, "least_us");
    json_double_if(json, bound->cap_us > 0, bound->cap_us);
    json_end(json);
}

// Communication has a number of its own in each name: one entry a type.
static void add_communication(const KernelWriter *writer, const Profile *profile) {
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        const ProfKind *kind = &profile->kinds[i];
        if (kind->core != CORE_COMM) continue;
        bool seen = false;
        for (uint32_t j = 0; j < i && !seen; j++) {
            const ProfKind *other = &profile->kinds[j];
            seen = other->core == CORE_COMM && str_eq(other->type, kind->type);
        }
        if (seen) continue;
        ProfKind sum = *kind;
        for (uint32_t j = i + 1; j < profile->kind_count; j++) {
            const ProfKind *other = &profile->kinds[j];
            if (other->core != CORE_COMM || !str_eq(other->type, kind->type)) continue;
            sum.count += other->count;
            sum.total_ns += other->total_ns;
        }
        sum.name = kind->type;
        add_kernel(writer, &sum, &(KindBound){BOUND_COMM, 0, "where it ran"});
    }
}

static void add_kernels(Json *json, const ProfReport *report) {
    const ProfHas *has = &report->profile->has;
    KernelWriter writer = {json, has->pipes && !has->split};
    json_key(json, "kernels");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < report->profile->kind_count; i++) {
        const ProfKind *kind = &report->profile->kinds[i];
        if (kind->core != CORE_COMM) add_kernel(&writer, kind, &report->bounds[i]);
    }
    add_communication(&writer, report->profile);
    json_end(json);
}

static void add_chip(Json *json, const ProfChip *chip) {
    json_key(json, "chip");
    json_object(json, JSON_LINE);
    add_text_or_null(json, "name", chip->name);
    json_key(json, "gb_per_s");
    json_double_if(json, chip->bytes_per_us > 0, chip->bytes_per_us / 1e3);
    json_key(json, "tflop_per_s");
    json_double_if(json, chip->flops_per_us > 0, chip->flops_per_us / 1e6);
    json_add_double(json, "launch_us", chip->launch_us);
    json_end(json);
}

static void add_faults(Json *json, const ProfFaults *faults) {
    static const char *const names[FAULT_COUNT] = {
        "too few cells", "cut inside a quoted cell", "no time", "a negative time",
        "a time out of range", "too long",
    };
    json_key(json, "bad_rows");
    json_array(json, JSON_BLOCK);
    for (int i = 0; i < FAULT_COUNT; i++) {
        if (!faults->count[i]) continue;
        json_object(json, JSON_LINE);
        json_add_word(json, "what", names[i]);
        json_add_uint(json, "count", faults->count[i]);
        json_add_uint(json, "first_row", faults->first_row[i]);
        json_end(json);
    }
    json_end(json);
}

static void add_totals(Json *json, const ProfReport *report) {
    json_add_uint(json, "rows", report->profile->row_count);
    json_add_double(json, "kernel_us", us(report->kernel_ns));
    json_add_double(json, "communication_us", us(report->comm_ns));
    json_add_double(json, "span_us", us(report->span_ns));
    json_add_double(json, "attributed_us", us(report->claimed_ns));
}

void runs_json_write(Buf *out, const ProfReport *report, Str source) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_add_uint(&json, "schema", 1);
    json_add_str(&json, "source", source);
    add_totals(&json, report);
    add_chip(&json, &report->chip);
    json_key(&json, "runs");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < report->runs.len; i++) add_run(&json, &report->runs.at[i]);
    json_end(&json);
    add_kernels(&json, report);
    runs_json_dynamic(&json, report);
    add_faults(&json, &report->profile->faults);
    json_key(&json, "notes");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < report->notes.len; i++) json_str(&json, report->notes.at[i]);
    json_end(&json);
    json_end(&json);
}
