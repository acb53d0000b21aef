// Schemas as torch prints them, in parts.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include "apidoc/schema.h"
#include "base/buf.h"

#include <stdlib.h>

static int setup(void **state) {
    Arena *arena = calloc(1, sizeof(*arena));
    if (!arena) return -1;
    arena_init(arena);
    *state = arena;
    return 0;
}

static int teardown(void **state) {
    arena_free(*state);
    free(*state);
    return 0;
}

static Schema parse(Arena *arena, const char *text) {
    Schema schema;
    Err err;
    if (!schema_parse(&schema, arena, str_of(text), &err)) fail_msg("%s: %s", text, err.text);
    return schema;
}

static void assert_is(Str got, const char *expected) {
    if (!str_is(got, expected)) fail_msg("'%.*s' is not '%s'", STR_FMT(got), expected);
}

// The schema written again from its parts, in torch's way.
static Str print(Arena *arena, const Schema *s) {
    Buf out = {0};
    bool starred = false;
    if (s->space.len) buf_addf(&out, "%.*s::", STR_FMT(s->space));
    buf_add(&out, s->name);
    if (s->overload.len) buf_addf(&out, ".%.*s", STR_FMT(s->overload));
    buf_add_char(&out, '(');
    for (uint32_t i = 0; i < s->args.len; i++) {
        const SchemaArg *arg = &s->args.at[i];
        if (i) buf_add(&out, STR(", "));
        if (arg->keyword_only && !starred) buf_add(&out, STR("*, "));
        starred = arg->keyword_only;
        buf_addf(&out, "%.*s %.*s", STR_FMT(arg->type), STR_FMT(arg->name));
        if (arg->has_fallback) buf_addf(&out, "=%.*s", STR_FMT(arg->fallback));
    }
    buf_add(&out, STR(") -> "));
    if (s->returns.len != 1) buf_add_char(&out, '(');
    for (uint32_t i = 0; i < s->returns.len; i++) {
        buf_addf(&out, "%s%.*s", i ? ", " : "", STR_FMT(s->returns.at[i]));
    }
    if (s->returns.len != 1) buf_add_char(&out, ')');
    Str text = arena_str(arena, buf_str(&out));
    buf_free(&out);
    return text;
}

// Made up in the forms that real ones have; each is printed as it was read.
static const char *const same_again[] = {
    "npu_a(Tensor input) -> Tensor",
    "npu_a_(Tensor(a!) input) -> Tensor(a!)",
    "_npu_b(Tensor grad, ScalarType dtype) -> Tensor",
    "npu_c.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
    "npu_c.names(int[] size, Dimname[]? names, *, Layout? layout=None) -> Tensor",
    "npu::npu_d(Tensor self, int dim=-1) -> Tensor",
    "aten::matmul(Tensor self, Tensor other) -> Tensor",
    "npu_e(Tensor x, Tensor gamma, float epsilon=1e-06) -> (Tensor, Tensor)",
    "npu_f(Tensor x, *, str mode='half', bool flag=True) -> Tensor",
    "npu_f(Tensor x, *, str layout=\"BSND\", str end=\"\") -> Tensor",
    "npu_f(str separators=\",)(\", str quote='\"', str escaped='\\'') -> ()",
    "npu_g(Tensor x, int[2] stride, int[3] pad=[0, 0, 1], bool[3] mask) -> Tensor",
    "npu_h(Tensor[] xs, Tensor[]? weights=None, Tensor?[] rest) -> Tensor[]",
    "npu_i(Tensor(a!)[] xs, Tensor(b!)? y, SymInt[]? n=None) -> ()",
    "npu_j(Tensor(a) x) -> Tensor(a)",
    "npu_j(Tensor(a -> *) x) -> Tensor(a)[]",
    "npu_k(int low=-2147483648, int high=9223372036854775807, float x=1.) -> int",
    "npu_l(Tensor x, int reduction=Mean, Scalar alpha=1) -> Scalar",
    "npu_m(__torch__.torch.classes.c10d.ProcessGroup group, Tensor x) -> Tensor",
    "npu_n(Dict(str, Tensor(a!)) state) -> Dict(str, Tensor(a!))",
    "npu_o(Generator? generator=None, Device? device=None) -> (Tensor, bool, str?)",
    "npu_p() -> ()",
};

static void test_is_printed_as_it_was(void **state) {
    for (size_t i = 0; i < COUNT(same_again); i++) {
        Schema schema = parse(*state, same_again[i]);
        assert_is(print(*state, &schema), same_again[i]);
        assert_is(schema.text, same_again[i]);
    }
}

static void test_head(void **state) {
    Schema schema = parse(*state, " npu::npu_x_y2.out(Tensor a) -> Tensor\n");
    assert_is(schema.space, "npu");
    assert_is(schema.name, "npu_x_y2");
    assert_is(schema.overload, "out");
    assert_is(schema.text, "npu::npu_x_y2.out(Tensor a) -> Tensor");
    schema = parse(*state, "npu_x(Tensor a) -> Tensor");
    assert_int_equal(schema.space.len + schema.overload.len, 0);
}

static void test_arguments(void **state) {
    Schema schema = parse(*state, "f(Tensor(a!) x, int[2] n=[1, 2], *, str s='a,b)', Tensor? t) "
                                  "-> (Tensor out, int count)");
    assert_int_equal(schema.args.len, 4);
    const SchemaArg *x = &schema.args.at[0], *n = &schema.args.at[1];
    const SchemaArg *s = schema_arg(&schema, STR("s")), *t = schema_arg(&schema, STR("t"));
    assert_is(x->type, "Tensor(a!)");
    assert_true(x->mutated && !x->has_fallback && !x->keyword_only);
    assert_is(n->type, "int[2]");
    assert_is(n->fallback, "[1, 2]");
    assert_true(!n->mutated && n->has_fallback && !n->keyword_only);
    assert_is(s->fallback, "'a,b)'");
    assert_true(s->keyword_only && t->keyword_only && !t->has_fallback);
    assert_is(t->type, "Tensor?");
    assert_null(schema_arg(&schema, STR("S")));
    assert_int_equal(schema.returns.len, 2); // the results' names are passed over
    assert_is(schema.returns.at[0], "Tensor");
    assert_is(schema.returns.at[1], "int");
}

static void test_an_alias_that_is_not_written(void **state) {
    Schema schema = parse(*state, "f(Tensor(a) x, Tensor(b!)[] y) -> ()");
    assert_false(schema.args.at[0].mutated);
    assert_true(schema.args.at[1].mutated);
}

static void test_what_is_none(void **state) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "begins with the operator's name"},
        {"(Tensor x) -> Tensor", "begins with the operator's name"},
        {"npu::(Tensor x) -> Tensor", "begins with the operator's name"},
        {"f", "has '(' where this has ''"},
        {"f(", "a type is expected"},
        {"f(Tensor", "has no name"},
        {"f(Tensor)", "has no name"},
        {"f(Tensor x", "has ')' where this has ''"},
        {"f(Tensor x)", "has '->' where this has ''"},
        {"f(Tensor x) -", "has '->' where this has '-'"},
        {"f(Tensor x) ->", "a type is expected"},
        {"f(Tensor x) -> (", "a type is expected"},
        {"f(Tensor x) -> (Tensor", "has ')' where this has ''"},
        {"f(Tensor x) -> Tensor,", "text behind the schema of 'f'"},
        {"f(Tensor x) -> Tensor and more", "text behind the schema of 'f'"},
        {"see f(Tensor x) -> Tensor", "has '(' where this has 'f(Tensor x) -> Tenso'"},
        {"f(Tensor x,) -> Tensor", "a type is expected"},
        {"f(*, *, Tensor x) -> Tensor", "a type is expected"},
        {"f(Tensor x=) -> Tensor", "a default is missing"},
        {"f(Tensor x='a) -> Tensor", "has ')' where this has ''"},
        {"f(int[2 x) -> Tensor", "'[' is not closed"},
        {"f(Tensor(a! x, int y", "'(' is not closed"},
        {"f(1 x) -> Tensor", "a type is expected"},
        {"aclrtMemcpy(const_cast<void*>(p->data()), n, q->data())", "has no name"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Schema schema;
        Err err = {{0}};
        bool ok = schema_parse(&schema, *state, str_of(cases[i].text), &err);
        if (ok) fail_msg("%s", cases[i].text);
        if (!strstr(err.text, cases[i].words)) fail_msg("%s: %s", cases[i].text, err.text);
    }
}

// No beginning of a schema is a whole one, but where only the result's type is
// shorter.
static void test_cut_anywhere(void **state) {
    const char *text = "npu::f.o(Tensor(a!) x, int[2] n=[1, 2], *, str s='a') -> (Tensor, int)";
    Schema schema;
    Err err;
    for (size_t n = 0; n < strlen(text); n++) {
        assert_false(schema_parse(&schema, *state, (Str){text, n}, &err));
    }
    assert_true(schema_parse(&schema, *state, str_of(text), &err));
}

static Str with_arguments(Arena *arena, uint32_t count) {
    Buf out = {0};
    buf_add(&out, STR("f("));
    for (uint32_t i = 0; i < count; i++) buf_addf(&out, "%sint x%u", i ? "," : "", i);
    buf_add(&out, STR(") -> ()"));
    Str text = arena_str(arena, buf_str(&out));
    buf_free(&out);
    return text;
}

static void test_bounds(void **state) {
    Schema schema;
    Err err;
    assert_true(schema_parse(&schema, *state, with_arguments(*state, SCHEMA_MAX_ARGS), &err));
    assert_int_equal(schema.args.len, SCHEMA_MAX_ARGS);
    Str text = with_arguments(*state, SCHEMA_MAX_ARGS + 1);
    assert_false(schema_parse(&schema, *state, text, &err));
    assert_non_null(strstr(err.text, "at most 1000 arguments"));
    text = (Str){arena_alloc(*state, SCHEMA_MAX_BYTES + 1), SCHEMA_MAX_BYTES + 1};
    assert_false(schema_parse(&schema, *state, text, &err));
    assert_non_null(strstr(err.text, "at most 16384 bytes"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        CASE(test_is_printed_as_it_was),
        CASE(test_head),
        CASE(test_arguments),
        CASE(test_an_alias_that_is_not_written),
        CASE(test_what_is_none),
        CASE(test_cut_anywhere),
        CASE(test_bounds),
#undef CASE
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
