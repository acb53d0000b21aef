// assumed.c - what is assumed of an activation, as a test of the object at run time.
#include "base/base.h"

#include "match/rewrite.h"

#include "base/buf.h"

// Nothing in it needs an escape.
static bool is_word(Str text) {
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '_' || c == '-';
        if (!plain) return false;
    }
    return true;
}

// The value of a keyword as Python; false if it is no literal.
static bool add_literal(Buf *out, const Val *v) {
    if (v->op != V_CONST) return false;
    switch ((int)v->ck) {
    case CONST_STR: buf_addf(out, "\"%.*s\"", STR_FMT(v->text)); return is_word(v->text);
    case CONST_TRUE: buf_addf(out, "True"); return true;
    case CONST_FALSE: buf_addf(out, "False"); return true;
    case CONST_NONE: buf_addf(out, "None"); return true;
    default: buf_addf(out, "%g", v->num); return val_is_number(v);
    }
}

// functools.partial(F.gelu, approximate="tanh"): the function and all that it is given.
static Str partial_text(const Place *place, Str subject, const Val *partial) {
    Arena *arena = place->frame->flow->arena;
    const Val *of = partial->nargs ? partial->args[0] : NULL;
    Str name = !of ? (Str){0} : of->op == V_GLOBAL ? of->text
               : of->op == V_FUNCTION ? of->def->dotted : (Str){0};
    name = str_last_part(name);
    Buf given = {0};
    bool spelled = name.len > 0;
    for (uint32_t i = 1; i < partial->nargs; i++) {
        const Val *arg = partial->args[i];
        spelled &= arg->op == V_KEYWORD && arg->name;
        if (!spelled) break;
        buf_addf(&given, "%s\"%s\": ", i > 1 ? ", " : "", arg->name->text);
        spelled &= add_literal(&given, arg->args[0]);
    }
    Str text = {0};
    if (spelled) {
        text = arena_printf(arena, "type(%.*s).__name__ == \"partial\" and "
                                   "getattr(%.*s.func, \"__name__\", \"\") == \"%.*s\" and "
                                   "(%.*s.args, %.*s.keywords) == ((), {%.*s})",
                            STR_FMT(subject), STR_FMT(subject), STR_FMT(name), STR_FMT(subject),
                            STR_FMT(subject), (int)given.len, given.len ? given.at : "");
    }
    buf_free(&given);
    return text;
}

static Str function_text(Arena *arena, Str subject, Str name) {
    return arena_printf(arena, "getattr(%.*s, \"__name__\", \"\") == \"%.*s\"", STR_FMT(subject),
                        STR_FMT(name));
}

// The function that the object hands its input to.
static Str part_text(const Place *place, Str subject, const Assumption *a) {
    Arena *arena = place->frame->flow->arena;
    Str part = arena_printf(arena, "%.*s.%s", STR_FMT(subject), a->part->text);
    if (a->part_value->op == V_INSTANCE) return partial_text(place, part, a->part_value);
    return function_text(arena, part, str_last_part(a->part_value->text));
}

// self.kind == "silu", self.kind not in ("gelu", "relu"), not self.use_gelu
static Str test_text(Arena *arena, Str subject, const Assumption *a) {
    const Val *test = a->test;
    if (!test) return arena_printf(arena, "%s%.*s", a->test_holds ? "" : "not ", STR_FMT(subject));
    Buf text = {0};
    bool spelled = true, many = test->nargs > 0;
    buf_addf(&text, "%.*s %s ", STR_FMT(subject),
             many ? a->test_holds ? "in" : "not in" : a->test_holds ? "==" : "!=");
    if (!many) spelled = add_literal(&text, test);
    for (uint32_t i = 0; many && i < test->nargs; i++) {
        buf_addf(&text, "%s", i ? ", " : "(");
        spelled &= add_literal(&text, test->args[i]);
    }
    if (many) buf_addf(&text, test->nargs == 1 ? ",)" : ")");
    Str out = spelled ? arena_str(arena, buf_str(&text)) : (Str){0};
    buf_free(&text);
    return out;
}

Str assumption_text(const Place *place, const Assumption *a) {
    Arena *arena = place->frame->flow->arena;
    Str subject = a->untestable ? (Str){0} : place_expr_start(place, a->subject);
    if (a->is_test) return subject.len ? test_text(arena, subject, a) : subject;
    // A lambda has no name of its own to be asked for.
    if (!subject.len || !a->type_name.len) return (Str){0};
    if (a->partial) return partial_text(place, subject, a->partial);
    if (a->is_function) return function_text(arena, subject, a->type_name);
    if (a->any_kind) {
        return arena_printf(arena, "(type(%.*s).__name__ == \"SiLU\" or %.*s)", STR_FMT(subject),
                            STR_FMT(function_text(arena, subject, STR("silu"))));
    }
    if (a->other_name.len) {
        return arena_printf(arena, "type(%.*s).__name__ in (\"%.*s\", \"%.*s\")",
                            STR_FMT(subject), STR_FMT(a->type_name), STR_FMT(a->other_name));
    }
    Str kind = arena_printf(arena, "type(%.*s).__name__ == \"%.*s\"", STR_FMT(subject),
                            STR_FMT(a->type_name));
    if (a->part) {
        Str part = part_text(place, subject, a);
        return part.len ? arena_printf(arena, "%.*s and %.*s", STR_FMT(kind), STR_FMT(part)) : part;
    }
    if (!a->approximate.len) return kind;
    return arena_printf(arena, "%.*s and %.*s.approximate == \"%.*s\"", STR_FMT(kind),
                        STR_FMT(subject), STR_FMT(a->approximate));
}
