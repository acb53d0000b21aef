// findings_json.c - every field of the finding record, once, in the order of
// docs/formats.md and schema/findings.schema.json. A field added here is
// added there.
#include "base/base.h"

#include "report/findings_json.h"

#include "model/json.h"

#include <stdlib.h>

static void open_array(Json *json, const char *name) {
    json_key(json, name);
    json_array(json, JSON_BLOCK);
}

static void add_strings(Json *json, const char *name, const Str *at,
                        uint32_t count) {
    open_array(json, name);
    for (uint32_t i = 0; i < count; i++) json_str(json, at[i]);
    json_end(json);
}

static void write_span(Json *json, const Span *span) {
    json_object(json, JSON_LINE);
    json_add_str(json, "file", span->file);
    json_add_uint(json, "start_line", span->start_line);
    json_add_uint(json, "end_line", span->end_line);
    json_add_str(json, "text", span->text);
    json_end(json);
}

static void add_spans(Json *json, const char *name, const Span *at,
                      uint32_t count) {
    open_array(json, name);
    for (uint32_t i = 0; i < count; i++) write_span(json, &at[i]);
    json_end(json);
}

static void write_fact(Json *json, const Fact *fact) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "name", fact->name);
    json_add_str(json, "claim", fact->claim);
    json_add_word(json, "state", fact_state_name(fact->state));
    json_add_str(json, "guard", fact->guard);
    add_spans(json, "chain", fact->chain.at, fact->chain.len);
    json_end(json);
}

static void add_facts(Json *json, const Finding *finding) {
    open_array(json, "facts");
    for (uint32_t i = 0; i < finding->facts.len; i++) {
        write_fact(json, &finding->facts.at[i]);
    }
    json_end(json);
}

static void add_inserts(Json *json, const Finding *finding) {
    open_array(json, "inserts");
    for (uint32_t i = 0; i < finding->inserts.len; i++) {
        json_object(json, JSON_LINE);
        json_add_uint(json, "line", finding->inserts.at[i].line);
        json_add_uint(json, "order", finding->inserts.at[i].order);
        json_add_str(json, "text", finding->inserts.at[i].text);
        json_end(json);
    }
    json_end(json);
}

static void add_ports(Json *json, const char *name, const Port *at,
                      uint32_t count) {
    open_array(json, name);
    for (uint32_t i = 0; i < count; i++) {
        json_object(json, JSON_LINE);
        json_add_str(json, "name", at[i].name);
        json_add_str(json, "expr", at[i].expr);
        json_add_str(json, "dtype", at[i].dtype);
        json_add_str(json, "shape", at[i].shape);
        json_end(json);
    }
    json_end(json);
}

static void add_switch(Json *json, const Finding *finding) {
    const Switch *choice = &finding->switch_;
    json_key(json, "switch");
    if (finding->verdict == VERDICT_REJECT) {
        json_null(json); // there is nothing to switch
        return;
    }
    json_object(json, JSON_BLOCK);
    json_add_word(json, "kind", switch_kind_name(choice->kind));
    json_add_str(json, "expr", choice->expr);
    json_add_str(json, "name", choice->name);
    json_key(json, "where");
    if (choice->where.file.len) {
        write_span(json, &choice->where);
    } else {
        json_null(json);
    }
    json_end(json);
}

static void add_gain_and_op(Json *json, const Finding *finding) {
    json_key(json, "gain");
    json_object(json, JSON_BLOCK);
    json_add_str(json, "text", finding->gain);
    json_add_str(json, "ground", finding->gain_ground);
    json_end(json);
    add_spans(json, "references", finding->references.at,
              finding->references.len);
    add_spans(json, "sites", finding->sites.at, finding->sites.len);
    add_spans(json, "helpers", finding->helpers.at, finding->helpers.len);
    json_key(json, "op");
    json_object(json, JSON_BLOCK);
    json_add_str(json, "signature", finding->op_signature);
    json_add_str(json, "summary", finding->op_summary);
    json_add_str(json, "source", finding->op_source);
    json_end(json);
}

static void write_measured(Json *json, const Measured *measured) {
    json_object(json, JSON_LINE);
    json_add_str(json, "pattern", measured->pattern);
    json_add_str(json, "api", measured->api);
    json_add_str(json, "direction", measured->direction);
    json_add_word(json, "joined_by", joined_by_name(measured->joined_by));
    json_add_uint(json, "shared", measured->shared);
    json_add_uint(json, "calls", measured->calls);
    json_add_double(json, "device_us", measured->device_us);
    json_add_double(json, "gap_us", measured->gap_us);
    json_add_double(json, "share_of_step", measured->share);
    json_key(json, "cap");
    json_double_if(json, measured->cap > 0, measured->cap);
    json_add_bool(json, "cap_is_relative", measured->cap_is_relative);
    json_add_str(json, "bound", measured->bound);
    json_add_str(json, "site", measured->place);
    json_add_str(json, "module", measured->module);
    json_add_uint(json, "first_row", measured->first_row);
    json_add_uint(json, "last_row", measured->last_row);
    json_end(json);
}

static void add_measured(Json *json, const char *name, const MeasuredList *list) {
    open_array(json, name);
    for (uint32_t i = 0; i < list->len; i++) write_measured(json, &list->at[i]);
    json_end(json);
}

// Only where there was a profile, so that other files stay as they are.
static void add_profile(Json *json, const FindingSet *set) {
    if (!set->profile.len) return;
    json_key(json, "profile");
    json_object(json, JSON_BLOCK);
    json_add_str(json, "source", set->profile);
    json_add_double(json, "steps_us", set->profile_us);
    add_measured(json, "unexplained", &set->unexplained);
    add_strings(json, "notes", set->profile_notes.at, set->profile_notes.len);
    json_end(json);
}

static void write_finding(Json *json, const Finding *finding) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "id", finding->id);
    json_add_str(json, "family", finding->family);
    json_add_str(json, "api", finding->api);
    json_add_str(json, "rule", finding->rule);
    json_add_str(json, "rule_version", finding->rule_version);
    json_add_str(json, "variant", finding->variant);
    json_add_word(json, "verdict", verdict_name(finding->verdict));
    json_add_word(json, "priority", priority_name(finding->priority));
    json_add_str(json, "file", finding->file);
    json_add_str(json, "file_sha256", finding->file_sha256);
    json_add_uint(json, "start_line", finding->start_line);
    json_add_uint(json, "end_line", finding->end_line);
    json_add_str(json, "qualname", finding->qualname);
    add_facts(json, finding);
    add_strings(json, "reasons", finding->reasons.at, finding->reasons.len);
    json_add_str(json, "original", finding->original);
    json_add_str(json, "replacement", finding->replacement);
    add_inserts(json, finding);
    add_ports(json, "inputs", finding->inputs.at, finding->inputs.len);
    add_ports(json, "outputs", finding->outputs.at, finding->outputs.len);
    add_switch(json, finding);
    add_strings(json, "risks", finding->risks.at, finding->risks.len);
    add_gain_and_op(json, finding);
    if (finding->measured.len) add_measured(json, "measured", &finding->measured);
    json_end(json);
}

static int compare_strs(const void *a, const void *b) {
    return str_cmp(*(const Str *)a, *(const Str *)b);
}

static void add_by_family(Json *json, const FindingSet *set) {
    Arena arena;
    arena_init(&arena);
    uint32_t count = set->findings.len;
    Str *families = NEW_N(&arena, Str, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        families[i] = set->findings.at[i].family;
    }
    qsort(families, count, sizeof(*families), compare_strs);
    json_key(json, "by_family");
    json_object(json, JSON_LINE);
    for (uint32_t i = 0, end; i < count; i = end) {
        end = i + 1;
        while (end < count && str_eq(families[i], families[end])) end++;
        json_add_uint(json, arena_cstr(&arena, families[i]), end - i);
    }
    json_end(json);
    arena_free(&arena);
}

static void add_by_verdict(Json *json, const FindingSet *set) {
    uint32_t counts[VERDICT_REJECT + 1] = {0};
    for (uint32_t i = 0; i < set->findings.len; i++) {
        counts[set->findings.at[i].verdict]++;
    }
    json_key(json, "by_verdict");
    json_object(json, JSON_LINE);
    for (uint32_t v = 0; v < COUNT(counts); v++) {
        json_add_uint(json, verdict_name((Verdict)v), counts[v]);
    }
    json_end(json);
}

static void add_counts(Json *json, const FindingSet *set) {
    json_key(json, "counts");
    json_object(json, JSON_BLOCK);
    json_add_uint(json, "files", set->file_count);
    json_add_uint(json, "functions", set->function_count);
    json_add_uint(json, "lines", set->line_count);
    json_add_uint(json, "findings", set->findings.len);
    add_by_verdict(json, set);
    add_by_family(json, set);
    json_add_uint(json, "existing", set->existing.len);
    json_add_uint(json, "skipped", set->skipped.len);
    json_end(json);
}

static void add_skipped(Json *json, const FindingSet *set) {
    open_array(json, "skipped");
    for (uint32_t i = 0; i < set->skipped.len; i++) {
        const Skipped *skipped = &set->skipped.at[i];
        json_object(json, JSON_LINE);
        json_add_str(json, "file", skipped->file);
        json_add_uint(json, "line", skipped->line);
        json_add_str(json, "reason", skipped->reason);
        json_end(json);
    }
    json_end(json);
}

static void add_existing(Json *json, const FindingSet *set) {
    open_array(json, "existing");
    for (uint32_t i = 0; i < set->existing.len; i++) {
        const Existing *existing = &set->existing.at[i];
        json_object(json, JSON_LINE);
        json_add_str(json, "file", existing->file);
        json_add_uint(json, "start_line", existing->start_line);
        json_add_uint(json, "end_line", existing->end_line);
        json_add_str(json, "api", existing->api);
        json_add_str(json, "qualname", existing->qualname);
        json_end(json);
    }
    json_end(json);
}

static void add_line(Json *json, const char *name, const Str *at, uint32_t count) {
    json_key(json, name);
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < count; i++) json_str(json, at[i]);
    json_end(json);
}

static void add_scan(Json *json, const ScanRecord *scan) {
    json_key(json, "scan");
    json_object(json, JSON_BLOCK);
    add_line(json, "paths", scan->paths.at, scan->paths.len);
    add_line(json, "rules", scan->rules.at, scan->rules.len);
    json_add_str(json, "rule", scan->rule);
    json_add_str(json, "python", scan->python);
    json_end(json);
}

static void add_head(Json *json, const FindingSet *set) {
    json_add_uint(json, "schema", FINDINGS_SCHEMA);
    json_key(json, "tool");
    json_object(json, JSON_LINE);
    json_add_str(json, "name", STR("npufuse"));
    json_add_str(json, "version", set->tool_version);
    json_end(json);
    json_add_str(json, "root", set->root);
    json_add_str(json, "torch_npu", set->torch_npu);
    add_scan(json, &set->scan);
    add_line(json, "families", set->families.at, set->families.len);
}

void findings_json_write(Buf *out, const FindingSet *set) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    add_head(&json, set);
    add_counts(&json, set);
    add_skipped(&json, set);
    add_existing(&json, set);
    add_profile(&json, set);
    open_array(&json, "findings");
    for (uint32_t i = 0; i < set->findings.len; i++) {
        write_finding(&json, &set->findings.at[i]);
    }
    json_end(&json);
    json_end(&json);
}
