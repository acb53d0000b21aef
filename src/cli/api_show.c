// api_show.c - what `npufuse api show` prints. Each part names the lines that
// it was read from, so that it can be checked against the source.
#include "base/base.h"

#include "cli/api_show.h"

enum { PART_LINES = 24 }; // of a section, without --full

typedef enum Label {
    LABEL_SIGNATURE, LABEL_REGISTERED, LABEL_DISAGREE, LABEL_KNOWN, LABEL_LINES,
    LABEL_MORE, LABEL_SUPERSEDED, LABEL_NO_TEXT, LABEL_EMPTY, LABEL_NOT_READ, LABEL_REMOVAL,
    LABEL_COUNT,
} Label;

static const char *const labels[LABEL_COUNT][LANG_COUNT] = {
    [LABEL_SIGNATURE] = {"Documented signature", "文档签名"},
    [LABEL_REGISTERED] = {"Registered schema", "注册的schema"},
    [LABEL_DISAGREE] = {"Documents and registration disagree", "文档与注册不一致"},
    [LABEL_KNOWN] = {"npufuse knows", "npufuse 已知"},
    [LABEL_LINES] = {"lines", "行"},
    [LABEL_MORE] = {"more lines (--full)", "行未显示（--full）"},
    [LABEL_SUPERSEDED] = {"Superseded by the later text", "已被后面的文本取代"},
    [LABEL_NO_TEXT] = {"The documents of this installation say nothing about it.",
                       "此安装的文档中没有该接口的说明。"},
    [LABEL_EMPTY] = {"Its text is empty.", "其文档为空。"},
    [LABEL_REMOVAL] = {"planned for removal", "计划移除"},
    [LABEL_NOT_READ] = {"No registered schema of this name was found.",
                        "未找到该名称的注册schema。"},
};

static const char *const titles[ROLE_COUNT][LANG_COUNT] = {
    [ROLE_DESCRIPTION] = {"Summary", "功能"},
    [ROLE_PROTOTYPE] = {"Prototype", "原型"},
    [ROLE_PARAMETERS] = {"Parameters", "参数"},
    [ROLE_OUTPUTS] = {"Outputs", "输出"},
    [ROLE_CONSTRAINTS] = {"Constraints", "约束"},
    [ROLE_FORMULA] = {"Formula", "公式"},
    [ROLE_PRODUCTS] = {"Products", "支持的产品"},
    [ROLE_VERSIONS] = {"Versions", "支持的版本"},
    [ROLE_EXAMPLES] = {"Examples", "示例"},
    [ROLE_OTHER] = {"Other", "其他"},
};

static const char *label(const ApiShow *how, Label which) {
    return labels[which][how->lang];
}

static void add_span(Buf *out, const ApiShow *how, Str path, uint32_t start, uint32_t end) {
    buf_addf(out, "  (%.*s, %s %u-%u)", STR_FMT(path), label(how, LABEL_LINES), start, end);
}

// The text indented, at most `limit` lines of it (0: all).
static void add_lines(Buf *out, const ApiShow *how, Str text, uint32_t limit) {
    uint32_t line = 0, left = 0;
    while (text.len) {
        Str one = str_take(&text, '\n');
        while (one.len && (one.at[one.len - 1] == ' ' || one.at[one.len - 1] == '\t')) one.len--;
        if (limit && line++ >= limit) {
            left++;
        } else {
            buf_addf(out, one.len ? "  %.*s\n" : "%.*s\n", STR_FMT(one));
        }
    }
    if (left) buf_addf(out, "  ... %u %s\n", left, label(how, LABEL_MORE));
}

static void add_sections(Buf *out, const ApiView *view, const ApiShow *how) {
    const DocEntry *entry = view->entries.at[view->entries.len - 1];
    for (uint32_t i = 0; i < view->page.sections.len; i++) {
        const DocSection *section = &view->page.sections.at[i];
        bool only_calls = section->role == ROLE_PROTOTYPE && view->page.signatures.len;
        if (!section->text.len || (only_calls && !how->full)) continue;
        buf_addf(out, "\n%s", titles[section->role][how->lang]);
        add_span(out, how, entry->path, section->start_line, section->end_line);
        buf_add_char(out, '\n');
        add_lines(out, how, section->text, how->full ? 0 : PART_LINES);
    }
}

static void add_superseded(Buf *out, const ApiView *view, const ApiShow *how) {
    for (uint32_t i = 0; i + 1 < view->entries.len; i++) {
        const DocEntry *entry = view->entries.at[i];
        buf_addf(out, "\n%s", label(how, LABEL_SUPERSEDED));
        add_span(out, how, entry->path, entry->body_line, entry->end_line);
        buf_add_char(out, '\n');
        add_lines(out, how, entry->body, how->full ? 0 : 3);
    }
}

static void add_documented(Buf *out, const ApiView *view, const ApiShow *how) {
    if (!view->entries.len) {
        buf_addf(out, "\n%s\n", label(how, LABEL_NO_TEXT));
        return;
    }
    const DocEntry *entry = view->entries.at[view->entries.len - 1];
    if (view->page.signatures.len) buf_addf(out, "\n%s\n", label(how, LABEL_SIGNATURE));
    for (uint32_t i = 0; i < view->page.signatures.len; i++) {
        buf_addf(out, "  %.*s\n", STR_FMT(view->page.signatures.at[i]));
    }
    if (!entry->body.len) buf_addf(out, "\n%s\n", label(how, LABEL_EMPTY));
}

static void add_registered(Buf *out, const ApiView *view, const ApiShow *how) {
    if (!view->registered.len) {
        if (view->install->library || view->install->wheel) {
            buf_addf(out, "\n%s\n", label(how, LABEL_NOT_READ));
        }
        return;
    }
    buf_addf(out, "\n%s\n", label(how, LABEL_REGISTERED));
    for (uint32_t i = 0; i < view->registered.len; i++) {
        buf_addf(out, "  %.*s\n", STR_FMT(view->registered.at[i].text));
    }
}

static void add_disagreements(Buf *out, const ApiView *view, const ApiShow *how) {
    if (!view->disagreements.len) return;
    buf_addf(out, "\n%s\n", label(how, LABEL_DISAGREE));
    for (uint32_t i = 0; i < view->disagreements.len; i++) {
        buf_addf(out, "  ! %.*s\n", STR_FMT(view->disagreements.at[i]));
    }
}

static const char *grad_sentence(OperatorGrad grad, Lang lang) {
    static const char *const sentences[][LANG_COUNT] = {
        [GRAD_DIFFERENTIABLE] = {"differentiable: it may be trained through",
                                 "可微：可用于训练"},
        [GRAD_RAISES] = {"backward raises: for inference only", "反向会报错：只能用于推理"},
        [GRAD_NONE] = {"backward gives no gradient, with a warning only: for inference",
                       "反向没有梯度，只有一条警告：只能用于推理"},
    };
    return sentences[grad][lang];
}

static void add_known(Buf *out, const ApiView *view, const ApiShow *how) {
    const Operator *op = view->known;
    if (!op) return;
    buf_addf(out, "\n%s  (ops/%.*s.py)\n", label(how, LABEL_KNOWN), STR_FMT(op->name));
    buf_addf(out, "  %.*s\n  %s\n", STR_FMT(op->summary), grad_sentence(op->grad, how->lang));
    if (op->versions.len) buf_addf(out, "  torch_npu %.*s\n", STR_FMT(op->versions));
    if (!op->removal.len) return;
    buf_addf(out, "  %s: %.*s\n", label(how, LABEL_REMOVAL), STR_FMT(op->removal));
}

void api_show_text(Buf *out, const ApiView *view, const ApiShow *how) {
    buf_addf(out, "torch_npu.%.*s", STR_FMT(view->name));
    if (view->install->version.len) {
        buf_addf(out, "  torch_npu %.*s", STR_FMT(view->install->version));
    }
    if (view->entries.len) {
        const DocEntry *entry = view->entries.at[view->entries.len - 1];
        add_span(out, how, entry->path, entry->body_line, entry->end_line);
    }
    buf_add_char(out, '\n');
    add_documented(out, view, how);
    add_registered(out, view, how);
    add_disagreements(out, view, how);
    add_known(out, view, how);
    if (view->entries.len) add_sections(out, view, how);
    add_superseded(out, view, how);
}

// ---- JSON -----------------------------------------------------------------------------

static void add_definitions(Json *json, const ApiView *view) {
    json_key(json, "definitions");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < view->entries.len; i++) {
        const DocEntry *entry = view->entries.at[i];
        json_object(json, JSON_BLOCK);
        json_add_str(json, "path", entry->path);
        json_add_uint(json, "start_line", entry->body_line);
        json_add_uint(json, "end_line", entry->end_line);
        json_add_bool(json, "preferred", i + 1 == view->entries.len);
        json_add_str(json, "body", entry->body);
        json_end(json);
    }
    json_end(json);
}

static void add_json_sections(Json *json, const DocPage *page) {
    json_key(json, "sections");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < page->sections.len; i++) {
        const DocSection *section = &page->sections.at[i];
        json_object(json, JSON_BLOCK);
        json_add_word(json, "role", page_role_name(section->role));
        json_add_str(json, "title", section->title);
        json_add_uint(json, "start_line", section->start_line);
        json_add_uint(json, "end_line", section->end_line);
        json_add_str(json, "text", section->text);
        json_end(json);
    }
    json_end(json);
}

static void add_strings(Json *json, const char *key, const Str *at, uint32_t count) {
    json_key(json, key);
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < count; i++) json_str(json, at[i]);
    json_end(json);
}

static void add_arg(Json *json, const SchemaArg *arg) {
    json_object(json, JSON_LINE);
    json_add_str(json, "name", arg->name);
    json_add_str(json, "type", arg->type);
    json_key(json, "default");
    if (arg->has_fallback) json_str(json, arg->fallback);
    else json_null(json);
    json_add_bool(json, "keyword_only", arg->keyword_only);
    json_add_bool(json, "mutated", arg->mutated);
    json_end(json);
}

static void add_json_registered(Json *json, const ApiView *view) {
    json_key(json, "registered");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < view->registered.len; i++) {
        const Schema *schema = &view->registered.at[i];
        json_object(json, JSON_BLOCK);
        json_add_str(json, "schema", schema->text);
        json_add_str(json, "overload", schema->overload);
        json_key(json, "args");
        json_array(json, JSON_BLOCK);
        for (uint32_t k = 0; k < schema->args.len; k++) add_arg(json, &schema->args.at[k]);
        json_end(json);
        add_strings(json, "returns", schema->returns.at, schema->returns.len);
        json_end(json);
    }
    json_end(json);
}

static void add_json_known(Json *json, const Operator *op) {
    static const char *const grads[] = {"differentiable", "raises", "silent"};
    json_key(json, "known");
    if (!op) {
        json_null(json);
        return;
    }
    json_object(json, JSON_BLOCK);
    json_add_str(json, "summary", op->summary);
    json_add_word(json, "autograd", grads[op->grad]);
    json_add_str(json, "versions", op->versions);
    json_add_str(json, "removal", op->removal);
    add_strings(json, "products", op->products.at, op->products.len);
    json_end(json);
}

void api_show_json(Json *json, const ApiView *view) {
    json_object(json, JSON_BLOCK);
    json_add_uint(json, "schema", 1);
    json_add_str(json, "name", view->name);
    json_add_word(json, "module", "torch_npu");
    json_add_bool(json, "found", true);
    json_key(json, "docs");
    json_object(json, JSON_BLOCK);
    json_add_str(json, "path", view->entries.len ? view->entries.at[view->entries.len - 1]->path
                                                 : STR(""));
    json_add_str(json, "version", view->install->version);
    json_end(json);
    add_definitions(json, view);
    add_json_sections(json, &view->page);
    add_strings(json, "signatures", view->page.signatures.at, view->page.signatures.len);
    add_json_registered(json, view);
    add_strings(json, "disagreements", view->disagreements.at, view->disagreements.len);
    add_json_known(json, view->known);
    json_end(json);
}
