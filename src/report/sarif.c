// sarif.c - OASIS SARIF 2.1.0. A candidate is no fault, so its level is "note";
// what must not be replaced is told with the kind "notApplicable", what is for a
// person to weigh and of low value with "review".
#include "base/base.h"

#include "report/sarif.h"

#include "model/json.h"
#include "report/groups.h"

static bool is_first_of_rule(const FindingSet *set, uint32_t at) {
    for (uint32_t i = 0; i < at; i++) {
        if (str_eq(set->findings.at[i].rule, set->findings.at[at].rule)) return false;
    }
    return true;
}

static void add_text(Json *json, const char *key, Str text) {
    json_key(json, key);
    json_object(json, JSON_LINE);
    json_add_str(json, "text", text);
    json_end(json);
}

static void add_rules(Json *json, const FindingSet *set) {
    json_key(json, "rules");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < set->findings.len; i++) {
        const Finding *f = &set->findings.at[i];
        if (!is_first_of_rule(set, i)) continue;
        json_object(json, JSON_BLOCK);
        json_add_str(json, "id", f->rule);
        add_text(json, "shortDescription", f->api);
        add_text(json, "fullDescription", f->op_summary.len ? f->op_summary : f->api);
        json_end(json);
    }
    json_end(json);
}

static void add_tool(Json *json, const FindingSet *set) {
    json_key(json, "tool");
    json_object(json, JSON_BLOCK);
    json_key(json, "driver");
    json_object(json, JSON_BLOCK);
    json_add_word(json, "name", "npufuse");
    json_add_str(json, "version", set->tool_version);
    add_rules(json, set);
    json_end(json);
    json_end(json);
}

// The path from where the scan was started, as code hosts want it. RFC 3986: what a
// path may not hold is written as %XX.
static void add_uri(Json *json, Str root, Str file) {
    Buf path_buf = {0}, uri = {0};
    if (root.len && !str_is(root, ".")) buf_addf(&path_buf, "%.*s/", STR_FMT(root));
    buf_add(&path_buf, file);
    Str path = buf_str(&path_buf);
    for (size_t i = 0; i < path.len; i++) {
        unsigned char c = (unsigned char)path.at[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     strchr("-._~/!$&'()*+,;=@", c);
        if (plain && c) buf_add_char(&uri, (char)c);
        else buf_addf(&uri, "%%%02X", c);
    }
    json_key(json, "artifactLocation");
    json_object(json, JSON_LINE);
    json_add_str(json, "uri", buf_str(&uri));
    json_end(json);
    buf_free(&uri);
    buf_free(&path_buf);
}

static void add_location(Json *json, Str root, const Finding *f) {
    json_object(json, JSON_BLOCK);
    json_key(json, "physicalLocation");
    json_object(json, JSON_BLOCK);
    add_uri(json, root, f->file);
    json_key(json, "region");
    json_object(json, JSON_LINE);
    json_add_uint(json, "startLine", f->start_line);
    json_add_uint(json, "endLine", f->end_line);
    json_end(json);
    json_end(json);
    json_end(json);
}

// The lines from `start` up to `end`, without it. Behind the last line of a file that
// does not end in one there is none: `open` says that the line before is meant.
static void add_replacement(Json *json, uint32_t start, uint32_t end, bool open, Str text) {
    json_object(json, JSON_BLOCK);
    json_key(json, "deletedRegion");
    json_object(json, JSON_LINE);
    json_add_uint(json, "startLine", start);
    json_add_uint(json, "startColumn", 1);
    json_add_uint(json, "endLine", open ? end - 1 : end);
    if (!open) json_add_uint(json, "endColumn", 1); // else: the end of the line
    json_end(json);
    add_text(json, "insertedContent", text);
    json_end(json);
}

static void add_fix(Json *json, Str root, const Finding *f) {
    if (!f->replacement.len) return;
    json_key(json, "fixes");
    json_array(json, JSON_BLOCK);
    json_object(json, JSON_BLOCK);
    add_text(json, "description", f->api);
    json_key(json, "artifactChanges");
    json_array(json, JSON_BLOCK);
    json_object(json, JSON_BLOCK);
    add_uri(json, root, f->file);
    json_key(json, "replacements");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < f->inserts.len; i++) {
        const Insert *insert = &f->inserts.at[i];
        add_replacement(json, insert->line, insert->line, false, insert->text);
    }
    bool open = f->original.len && !strchr("\r\n", f->original.at[f->original.len - 1]);
    add_replacement(json, f->start_line, f->end_line + 1, open, f->replacement);
    json_end(json);
    json_end(json);
    json_end(json);
    json_end(json);
    json_end(json);
}

static void add_result(Json *json, Str root, const Finding *f) {
    bool rejected = f->verdict == VERDICT_REJECT;
    Str reason = finding_reason(f);
    Buf text = {0};
    buf_addf(&text, "%s: %.*s%s%.*s", verdict_name(f->verdict), STR_FMT(f->api),
             reason.len ? ": " : "", STR_FMT(reason));
    json_object(json, JSON_BLOCK);
    json_add_str(json, "ruleId", f->rule);
    bool aside = !rejected && finding_is_aside(f);
    json_add_word(json, "kind", rejected ? "notApplicable" : aside ? "review" : "fail");
    json_add_word(json, "level", rejected || aside ? "none" : "note");
    add_text(json, "message", buf_str(&text));
    json_key(json, "locations");
    json_array(json, JSON_BLOCK);
    add_location(json, root, f);
    json_end(json);
    json_key(json, "partialFingerprints");
    json_object(json, JSON_LINE);
    json_add_str(json, "npufuse/v1", f->id);
    json_end(json);
    add_fix(json, root, f);
    json_end(json);
    buf_free(&text);
}

// What ends a line of Python; by default a lone return would not.
static void add_line_ends(Json *json) {
    static const char *const ends[] = {"\r\n", "\n", "\r"};
    json_key(json, "newlineSequences");
    json_array(json, JSON_LINE);
    for (size_t i = 0; i < COUNT(ends); i++) json_str(json, str_of(ends[i]));
    json_end(json);
}

void sarif_write(Buf *out, const FindingSet *set) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_add_word(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    json_add_word(&json, "version", "2.1.0");
    json_key(&json, "runs");
    json_array(&json, JSON_BLOCK);
    json_object(&json, JSON_BLOCK);
    add_tool(&json, set);
    json_add_word(&json, "columnKind", "unicodeCodePoints");
    add_line_ends(&json);
    json_key(&json, "results");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < set->findings.len; i++) {
        add_result(&json, set->root, &set->findings.at[i]);
    }
    json_end(&json);
    json_end(&json);
    json_end(&json);
    json_end(&json);
    buf_add_char(out, '\n');
}
