// api_check.c - `npufuse api check`.
#include "base/base.h"

#include "cli/api_check.h"

#include "apidoc/operator.h"
#include "base/locate.h"
#include "cli/output.h"
#include "match/installed.h"
#include "model/json.h"

typedef enum CheckState { CHECK_SAME, CHECK_CHANGED, CHECK_DIFFERS, CHECK_ABSENT } CheckState;

typedef struct Checked {
    const Operator *op;
    CheckState state;
    Drifts drifts;
} Checked;

static const char *state_name(CheckState state) {
    static const char *const names[] = {"same", "changed", "differs", "absent"};
    return names[state];
}

static Checked check(Arena *run, const Book *book, const Operator *op) {
    Checked out = {.op = op};
    if (book_first(book, op->name) == book->library.schemas.len) {
        out.state = CHECK_ABSENT;
        return out;
    }
    operator_drift(&out.drifts, run, book, &op->schema, op->grad == GRAD_DIFFERENTIABLE);
    out.state = out.drifts.len ? CHECK_CHANGED : CHECK_SAME;
    for (uint32_t i = 0; i < out.drifts.len; i++) {
        if (out.drifts.at[i].breaks) out.state = CHECK_DIFFERS;
    }
    return out;
}

static void add_text(Buf *out, const Checked *c) {
    buf_addf(out, "%.*s\t%s\t", STR_FMT(c->op->name), state_name(c->state));
    for (uint32_t i = 0; i < c->drifts.len; i++) {
        buf_addf(out, "%s%.*s", i ? "; " : "", STR_FMT(c->drifts.at[i].text));
    }
    buf_add_char(out, '\n');
}

static void add_json(Json *json, const Checked *c) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "name", c->op->name);
    json_add_word(json, "state", state_name(c->state));
    json_key(json, "drift");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < c->drifts.len; i++) {
        json_object(json, JSON_LINE);
        json_add_str(json, "text", c->drifts.at[i].text);
        json_add_bool(json, "breaks", c->drifts.at[i].breaks);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

static void open_json(Json *json, Buf *out, const Book *book) {
    json_init(json, out);
    json_object(json, JSON_BLOCK);
    json_add_uint(json, "schema", 1);
    json_add_str(json, "version", book->install.version);
    json_key(json, "operators");
    json_array(json, JSON_BLOCK);
}

static int print_all(Buf *out, Arena *run, const Book *book, const OperatorSet *set,
                     Json *json) {
    uint32_t counts[CHECK_ABSENT + 1] = {0}, all = 0;
    for (uint32_t i = 0; i < set->at.len; i++) {
        if (set->at.at[i].plain_torch) continue;
        Checked c = check(run, book, &set->at.at[i]);
        counts[c.state]++;
        all++;
        if (json) add_json(json, &c);
        else add_text(out, &c);
    }
    Str title = book_title(run, book);
    output_complain("%.*s: of %u operators %u are the same, %u changed harmlessly, %u differ, "
                    "%u are absent", STR_FMT(title), all, counts[CHECK_SAME],
                    counts[CHECK_CHANGED], counts[CHECK_DIFFERS], counts[CHECK_ABSENT]);
    return counts[CHECK_DIFFERS] || counts[CHECK_ABSENT] ? EXIT_NO : EXIT_DONE;
}

int api_check(Buf *out, Arena *run, const Book *book, bool as_json) {
    SymTable symbols;
    Project project;
    OperatorSet set;
    Str folder;
    Err err;
    Json json;
    int code = EXIT_USAGE;
    if (!book_has_library(book)) {
        return output_fail(EXIT_USAGE, "'%.*s' has no shared library to compare with: name a "
                           "torch_npu or a wheel", STR_FMT(book->install.root));
    }
    sym_table_init(&symbols);
    project_init(&project, &symbols);
    if (locate_data(&folder, run, "ops", &err) &&
        operators_load(&set, run, &project, folder.at, &err)) {
        if (as_json) open_json(&json, out, book);
        code = print_all(out, run, book, &set, as_json ? &json : NULL);
        if (as_json) {
            json_end(&json);
            json_end(&json);
            buf_add_char(out, '\n');
        }
    } else {
        output_complain("%s", err.text);
    }
    project_free(&project);
    sym_table_free(&symbols);
    return code;
}
