// lint_text.c - one finding: where, what, the line with a mark, the right value.
#include "base/base.h"

#include "report/lint_text.h"

#include "model/json.h"
#include "model/utf8.h"
#include "report/github.h"

static void add_mark(Buf *out, Arena *arena, const LintFinding *f) {
    uint32_t column = f->column - 1 < f->source_line.len ? f->column - 1
                                                         : (uint32_t)f->source_line.len;
    Str line = utf8_one_line(arena, f->source_line);
    Str before = utf8_one_line(arena, (Str){f->source_line.at, column});
    uint32_t width = f->end > f->start ? f->end - f->start : 1, room;
    room = f->source_line.len > column ? (uint32_t)f->source_line.len - column : 1;
    buf_addf(out, "    %.*s\n    ", STR_FMT(line));
    for (uint32_t i = 0; i < utf8_columns(before); i++) buf_add_char(out, ' ');
    for (uint32_t i = 0; i < (width < room ? width : room); i++) buf_add_char(out, '^');
    buf_add_char(out, '\n');
}

void lint_text_write(Buf *out, const LintSet *set) {
    Arena arena;
    arena_init(&arena);
    for (uint32_t i = 0; i < set->at.len; i++) {
        const LintFinding *f = &set->at.at[i];
        Str file = utf8_one_line(&arena, f->file), message = utf8_one_line(&arena, f->message);
        buf_addf(out, "%.*s:%u:%u: %s[%.*s]: %.*s\n", STR_FMT(file), f->line, f->column,
                 lint_severity_name(f->severity), STR_FMT(f->check), STR_FMT(message));
        add_mark(out, &arena, f);
        buf_addf(out, "    right: %.*s\n", STR_FMT(f->right));
        buf_addf(out, "    source: %.*s\n", STR_FMT(f->source));
    }
    uint32_t counts[LINT_NOTE + 1] = {0};
    for (uint32_t i = 0; i < set->at.len; i++) counts[set->at.at[i].severity]++;
    buf_addf(out, "%sfiles %u · calls of torch_npu %u · errors %u · warnings %u · notes %u\n",
             set->at.len ? "\n" : "", set->file_count, set->call_count, counts[LINT_ERROR],
             counts[LINT_WARNING], counts[LINT_NOTE]);
    arena_free(&arena);
}

static void add_json(Json *json, const LintFinding *f) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "check", f->check);
    json_add_word(json, "severity", lint_severity_name(f->severity));
    json_add_str(json, "file", f->file);
    json_add_uint(json, "line", f->line);
    json_add_uint(json, "column", f->column);
    json_add_str(json, "api", f->api);
    json_add_str(json, "message", f->message);
    json_add_str(json, "right", f->right);
    json_add_str(json, "source", f->source);
    json_key(json, "fix");
    if (f->fix.len) {
        json_object(json, JSON_LINE);
        json_add_uint(json, "start", f->fix_start);
        json_add_uint(json, "end", f->fix_end);
        json_add_str(json, "text", f->fix);
        json_end(json);
    } else {
        json_null(json);
    }
    json_end(json);
}

void lint_json_write(Buf *out, const LintSet *set) {
    Json json;
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_add_uint(&json, "schema", 1);
    json_add_str(&json, "torch_npu", set->torch_npu);
    json_add_uint(&json, "files", set->file_count);
    json_add_uint(&json, "calls", set->call_count);
    json_add_uint(&json, "ignored", set->ignored);
    json_key(&json, "findings");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < set->at.len; i++) add_json(&json, &set->at.at[i]);
    json_end(&json);
    json_end(&json);
    buf_add_char(out, '\n');
}

void lint_github_write(Buf *out, const LintSet *set) {
    for (uint32_t i = 0; i < set->at.len; i++) {
        const LintFinding *f = &set->at.at[i];
        const char *word = f->severity == LINT_NOTE ? "notice" : lint_severity_name(f->severity);
        buf_addf(out, "::%s file=", word);
        github_escape(out, f->file, true);
        buf_addf(out, ",line=%u,col=%u,title=", f->line, f->column);
        github_escape(out, f->check, true);
        buf_add(out, STR("::"));
        github_escape(out, f->message, false);
        buf_add(out, STR("; right: "));
        github_escape(out, f->right, false);
        buf_add_char(out, '\n');
    }
}
