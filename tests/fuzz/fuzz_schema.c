// fuzz_schema.c - any bytes as a schema. What is read lies in the text, and
// its parts, written out again, are read as the same parts.
#include "base/base.h"

#include "apidoc/schema.h"
#include "base/buf.h"
#include "fuzz.h"

static void check_inside(Str text, Str part) {
    if (!part.len) return;
    if (part.at < text.at || part.at + part.len > text.at + text.len) BUG("a part from elsewhere");
}

static void check_parts(const Schema *s) {
    check_inside(s->text, s->space);
    check_inside(s->text, s->name);
    check_inside(s->text, s->overload);
    if (!s->name.len) BUG("no name");
    if (s->args.len > SCHEMA_MAX_ARGS || s->returns.len > SCHEMA_MAX_ARGS) BUG("too many");
    for (uint32_t i = 0; i < s->args.len; i++) {
        const SchemaArg *arg = &s->args.at[i];
        check_inside(s->text, arg->type);
        check_inside(s->text, arg->name);
        check_inside(s->text, arg->fallback);
        if (!arg->type.len || !arg->name.len) BUG("argument %u is empty", i);
        if (arg->has_fallback != (arg->fallback.len > 0)) BUG("default of %u", i);
        if (i && s->args.at[i - 1].keyword_only > arg->keyword_only) BUG("order at %u", i);
        if (!schema_arg(s, arg->name)) BUG("argument %u is not found", i);
    }
    for (uint32_t i = 0; i < s->returns.len; i++) {
        check_inside(s->text, s->returns.at[i]);
        if (!s->returns.at[i].len) BUG("result %u is empty", i);
    }
}

static void print(Buf *out, const Schema *s) {
    bool starred = false;
    if (s->space.len) buf_addf(out, "%.*s::", STR_FMT(s->space));
    buf_add(out, s->name);
    if (s->overload.len) buf_addf(out, ".%.*s", STR_FMT(s->overload));
    buf_add_char(out, '(');
    for (uint32_t i = 0; i < s->args.len; i++) {
        const SchemaArg *arg = &s->args.at[i];
        buf_addf(out, "%s%s", i ? "," : "", arg->keyword_only && !starred ? "*," : "");
        starred = arg->keyword_only;
        buf_add(out, arg->type);
        buf_add_char(out, ' ');
        buf_add(out, arg->name);
        if (arg->has_fallback) buf_add_char(out, '=');
        buf_add(out, arg->fallback);
    }
    buf_add(out, STR(")->("));
    for (uint32_t i = 0; i < s->returns.len; i++) {
        if (i) buf_add_char(out, ',');
        buf_add(out, s->returns.at[i]);
    }
    buf_add_char(out, ')');
}

static void check_again(Arena *arena, const Schema *s) {
    Schema again;
    Err err = {{0}};
    Buf first = {0}, second = {0};
    print(&first, s);
    if (first.len <= SCHEMA_MAX_BYTES) {
        if (!schema_parse(&again, arena, buf_str(&first), &err)) BUG("%s: %s", first.at, err.text);
        print(&second, &again);
        if (!str_eq(buf_str(&first), buf_str(&second))) BUG("%s\n%s", first.at, second.at);
    }
    buf_free(&first);
    buf_free(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    Schema schema;
    Err err = {{0}};
    arena_init(&arena);
    if (schema_parse(&schema, &arena, (Str){(const char *)data, size}, &err)) {
        check_parts(&schema);
        check_again(&arena, &schema);
    } else if (!err.text[0]) {
        BUG("refused without a word");
    }
    arena_free(&arena);
    return 0;
}
