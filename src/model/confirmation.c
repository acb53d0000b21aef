// confirmation.c - reading, writing and comparing what was confirmed.
#include "base/base.h"

#include "model/confirmation.h"

#include "base/buf.h"
#include "base/file.h"
#include "model/finding_read.h"
#include "model/json_read.h"

#include <stdlib.h>

const char *confirmed_by_name(ConfirmedBy by) {
    return by == CONFIRMED_TERMINAL ? "terminal" : "statement";
}

// ---- What is confirmed.

static void hash_field(Sha256 *hash, Str text) {
    sha256_add(hash, text);
    sha256_add(hash, (Str){"", 1}); // a NUL, so that no two fields run together
}

static void hash_number(Sha256 *hash, uint32_t number) {
    Buf text = {0};
    buf_addf(&text, "%u", (unsigned)number);
    hash_field(hash, buf_str(&text));
    buf_free(&text);
}

void confirmation_edits_sha256(char out[SHA256_HEX + 1], const Finding *finding) {
    Sha256 hash;
    sha256_init(&hash);
    hash_field(&hash, finding->file);
    hash_number(&hash, finding->start_line);
    hash_number(&hash, finding->end_line);
    hash_field(&hash, finding->replacement);
    for (uint32_t i = 0; i < finding->inserts.len; i++) {
        const Insert *insert = &finding->inserts.at[i];
        hash_number(&hash, insert->line);
        hash_number(&hash, insert->order);
        hash_field(&hash, insert->text);
    }
    sha256_end(&hash, out);
}

static Str hex_of(Arena *arena, Str text) {
    char hex[SHA256_HEX + 1];
    sha256_hex(hex, text);
    return arena_str(arena, str_of(hex));
}

Confirmation confirmation_of(Arena *arena, const Finding *finding) {
    char edits[SHA256_HEX + 1];
    confirmation_edits_sha256(edits, finding);
    return (Confirmation){
        .id = finding->id, .file = finding->file,
        .tool_version = STR(NPUFUSE_VERSION), .rule = finding->rule,
        .rule_version = finding->rule_version, .file_sha256 = finding->file_sha256,
        .original_sha256 = hex_of(arena, finding->original),
        .replacement_sha256 = hex_of(arena, finding->replacement),
        .edits_sha256 = arena_str(arena, str_of(edits)),
    };
}

const Confirmation *confirmation_find(const ConfirmationSet *set, Str id) {
    for (uint32_t i = 0; i < set->list.len; i++) {
        if (str_eq(set->list.at[i].id, id)) return &set->list.at[i];
    }
    return NULL;
}

static int compare_confirmations(const void *a, const void *b) {
    const Confirmation *x = a, *y = b;
    return str_cmp(x->id, y->id);
}

static void sort(ConfirmationSet *set) {
    if (set->list.len == 0) return;
    qsort(set->list.at, set->list.len, sizeof(*set->list.at), compare_confirmations);
}

void confirmation_put(ConfirmationSet *set, Arena *arena, Confirmation confirmation) {
    for (uint32_t i = 0; i < set->list.len; i++) {
        if (!str_eq(set->list.at[i].id, confirmation.id)) continue;
        set->list.at[i] = confirmation;
        return;
    }
    vec_push(arena, &set->list, confirmation);
    sort(set);
}

// ---- Whether it holds.

static bool differs(Str confirmed, Str text) {
    char hex[SHA256_HEX + 1];
    sha256_hex(hex, text);
    return !str_is(confirmed, hex);
}

bool confirmation_state(Str *reason, const Confirmation *confirmation,
                        const Finding *finding) {
    char edits[SHA256_HEX + 1];
    *reason = (Str){"", 0};
    if (!confirmation) *reason = STR("it is not confirmed");
    else if (!finding) *reason = STR("the candidate is no longer found");
    if (reason->len) return false;
    confirmation_edits_sha256(edits, finding);
    if (!str_eq(confirmation->id, finding->id)) {
        *reason = STR("another candidate was confirmed");
    } else if (finding->verdict == VERDICT_REJECT || finding->replacement.len == 0) {
        *reason = STR("there is no replacement any more");
    } else if (!str_eq(confirmation->file, finding->file) ||
               !str_eq(confirmation->file_sha256, finding->file_sha256)) {
        *reason = STR("the file is not the confirmed one");
    } else if (!str_eq(confirmation->rule, finding->rule) ||
               !str_eq(confirmation->rule_version, finding->rule_version)) {
        *reason = STR("the rule is not the one of the confirmation");
    } else if (differs(confirmation->original_sha256, finding->original)) {
        *reason = STR("the original lines are not the confirmed ones");
    } else if (differs(confirmation->replacement_sha256, finding->replacement)) {
        *reason = STR("the replacement is not the confirmed one");
    } else if (!str_is(confirmation->edits_sha256, edits)) {
        *reason = STR("the additions to the file are not the confirmed ones");
    }
    return reason->len == 0;
}

// ---- Reading.

static bool is_hex(Str text, size_t len) {
    for (size_t i = 0; i < text.len; i++) {
        if (!memchr("0123456789abcdef", text.at[i], 16)) return false;
    }
    return text.len == len;
}

// What is wrong with it, NULL if nothing.
static const char *find_fault(const Confirmation *c, const JsonVal *v) {
    Str by = json_text(json_member(v, "by"));
    if (c->id.len == 0) return "id: is missing or empty";
    if (!finding_file_is_safe(c->file)) return "file: is not a path below the root";
    if (c->rule.len == 0) return "rule: is missing or empty";
    if (!is_hex(c->rule_version, 12)) return "rule_version: is not 12 hexadecimal digits";
    if (!is_hex(c->file_sha256, SHA256_HEX) || !is_hex(c->original_sha256, SHA256_HEX) ||
        !is_hex(c->replacement_sha256, SHA256_HEX) || !is_hex(c->edits_sha256, SHA256_HEX)) {
        return "one of the hashes is not 64 hexadecimal digits";
    }
    if (!str_is(by, confirmed_by_name(c->by))) return "by: is not terminal or statement";
    bool said = c->statement.len > 0 && c->statement.len <= STATEMENT_MAX_BYTES;
    if (c->by == CONFIRMED_STATEMENT && !said) return "statement: is missing or too long";
    return c->confirmed_at.len ? NULL : "confirmed_at: is missing or empty";
}

static Confirmation read_one(const JsonVal *v) {
    Confirmation c = {
        .id = json_text(json_member(v, "id")),
        .file = json_text(json_member(v, "file")),
        .tool_version = json_text(json_member(v, "tool_version")),
        .rule = json_text(json_member(v, "rule")),
        .rule_version = json_text(json_member(v, "rule_version")),
        .file_sha256 = json_text(json_member(v, "file_sha256")),
        .original_sha256 = json_text(json_member(v, "original_sha256")),
        .replacement_sha256 = json_text(json_member(v, "replacement_sha256")),
        .edits_sha256 = json_text(json_member(v, "edits_sha256")),
        .statement = json_text(json_member(v, "statement")),
        .confirmed_at = json_text(json_member(v, "confirmed_at")),
    };
    bool asked = str_is(json_text(json_member(v, "by")), "terminal");
    c.by = asked ? CONFIRMED_TERMINAL : CONFIRMED_STATEMENT;
    return c;
}

static bool check_head(const JsonVal *root, const char *path, Err *err) {
    int64_t schema = json_int(json_member(root, "schema"), 0);
    if (schema > CONFIRMATIONS_SCHEMA) {
        return err_set(err, "'%s': has schema %lld, this npufuse reads %d; use the npufuse "
                       "that wrote it", path, (long long)schema, CONFIRMATIONS_SCHEMA);
    }
    if (schema == CONFIRMATIONS_SCHEMA && json_is_array(json_member(root, "confirmations"))) {
        return true;
    }
    return err_set(err, "'%s': is not what npufuse writes; remove it and confirm again", path);
}

static bool read_list(ConfirmationSet *out, Arena *arena, const JsonVal *list,
                      const char *path, Err *err) {
    for (JsonIter it = json_first(list); it.value; json_next(&it)) {
        Confirmation c = read_one(it.value);
        const char *fault = find_fault(&c, it.value);
        if (fault) {
            return err_set(err, "'%s': confirmations[%u]: %s; remove the file and confirm "
                           "again", path, (unsigned)out->list.len, fault);
        }
        vec_push(arena, &out->list, c);
    }
    sort(out);
    for (uint32_t i = 1; i < out->list.len; i++) {
        Str id = out->list.at[i].id;
        if (!str_eq(id, out->list.at[i - 1].id)) continue;
        return err_set(err, "'%s': '%.*s' stands twice; remove the file and confirm again",
                       path, STR_FMT(id));
    }
    return true;
}

bool confirmations_read(ConfirmationSet *out, Arena *arena, const char *folder, Err *err) {
    *out = (ConfirmationSet){{0}};
    const char *path = path_join(arena, str_of(folder), STR(CONFIRMATIONS_FILE));
    if (file_kind(path) == FILE_NONE) return true;
    const JsonVal *root;
    return json_read_file(&root, arena, path, CONFIRMATIONS_MAX_BYTES, err) &&
           check_head(root, path, err) &&
           read_list(out, arena, json_member(root, "confirmations"), path, err);
}

// ---- Writing.

static void write_one(Json *json, const Confirmation *c) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "id", c->id);
    json_add_str(json, "file", c->file);
    json_add_str(json, "tool_version", c->tool_version);
    json_add_str(json, "rule", c->rule);
    json_add_str(json, "rule_version", c->rule_version);
    json_add_str(json, "file_sha256", c->file_sha256);
    json_add_str(json, "original_sha256", c->original_sha256);
    json_add_str(json, "replacement_sha256", c->replacement_sha256);
    json_add_str(json, "edits_sha256", c->edits_sha256);
    json_add_str(json, "by", str_of(confirmed_by_name(c->by)));
    json_add_str(json, "statement", c->statement);
    json_add_str(json, "confirmed_at", c->confirmed_at);
    json_end(json);
}

void confirmations_print(Buf *out, const ConfirmationSet *set) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_key(&json, "schema");
    json_uint(&json, CONFIRMATIONS_SCHEMA);
    json_key(&json, "confirmations");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < set->list.len; i++) write_one(&json, &set->list.at[i]);
    json_end(&json);
    json_end(&json);
}

bool confirmations_write(const ConfirmationSet *set, Arena *arena, const char *folder,
                         Err *err) {
    Buf text = {0};
    confirmations_print(&text, set);
    const char *path = path_join(arena, str_of(folder), STR(CONFIRMATIONS_FILE));
    bool ok = file_write(path, buf_str(&text), err);
    buf_free(&text);
    return ok;
}
