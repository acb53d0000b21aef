// val.c - making, sharing and printing values.
#include "base/base.h"

#include "flow/val.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>

enum {
    CASTS_MAX = 1000, // of one value, one around the other
    ATTRS_MAX = 32,   // printed of a chain
    PRINT_MAX = 4000, // bytes of a printed value
};

static const char *const op_names[OP_COUNT] = {
    [V_CONST] = "const", [V_PARAM] = "param", [V_GLOBAL] = "global",
    [V_MODULE] = "module", [V_FUNCTION] = "function", [V_CLASS] = "class",
    [V_LAMBDA] = "lambda", [V_METHOD] = "method", [V_SUPER] = "super",
    [V_INSTANCE] = "instance", [V_TUPLE] = "tuple", [V_LIST] = "list",
    [V_DICT] = "dict", [V_ATTR] = "attr", [V_ITEM] = "item",
    [V_SLICE] = "slice", [V_CALL] = "call", [V_KEYWORD] = "keyword",
    [V_STAR] = "star", [V_PHI] = "phi", [V_PYOP] = "pyop",
    [V_OPAQUE] = "opaque", [V_DTYPE] = "dtype", [V_PROMOTE] = "promote",
    [V_AUTOCAST] = "autocast", [V_SHAPE] = "shape", [V_SIZE] = "size",
    [V_PART] = "part", [V_CAST] = "cast",
#define X(op, text, params, spellings) [op] = text,
#include "flow/ops.def"
#undef X
};

const char *op_name(Op op) {
    return op_names[op];
}

void graph_init(Graph *graph, Arena *arena) {
    *graph = (Graph){.arena = arena, .cap = 1024};
    graph->slots = NEW_N(arena, Val *, graph->cap);
}

static uint32_t mix(uint32_t h, uint64_t x) {
    h ^= (uint32_t)(x ^ (x >> 32));
    h *= 0x9e3779b1u;
    return h ^ (h >> 15);
}

// Of whom the value holds only if something is assumed of it; NULL: it holds anyway.
static const Val *assumed_of(const Val *v) {
    return v->assume ? v->assume->subject : NULL;
}

static uint32_t hash_val(const Val *v) {
    uint32_t h = mix(v->op * 31u + v->ck, v->nargs);
    for (uint32_t i = 0; i < v->nargs; i++) {
        h = mix(h, v->args[i] ? v->args[i]->id + 1 : 0);
    }
    h = mix(h, (uintptr_t)v->name);
    h = mix(h, (uintptr_t)(v->def ? v->def->node : NULL));
    h = mix(h, (uintptr_t)v->ptr);
    if (v->assume) h = mix(h, (uintptr_t)assumed_of(v));
    uint64_t bits;
    memcpy(&bits, &v->num, sizeof(bits));
    h = mix(h, bits);
    return v->text.len ? mix(h, hash_content(v->text)) : h;
}

static bool same_val(const Val *a, const Val *b) {
    if (a->op != b->op || a->ck != b->ck || a->nargs != b->nargs ||
        a->name != b->name || a->ptr != b->ptr || assumed_of(a) != assumed_of(b) ||
        memcmp(&a->num, &b->num, sizeof(a->num)) != 0 ||
        !str_eq(a->text, b->text)) {
        return false;
    }
    if ((a->def ? a->def->node : NULL) != (b->def ? b->def->node : NULL)) {
        return false;
    }
    return a->nargs == 0 ||
           memcmp(a->args, b->args, sizeof(Val *) * a->nargs) == 0;
}

static Val *store(Graph *g, const Val *prototype, uint32_t hash) {
    Val *v = arena_raw(g->arena, sizeof(*v));
    *v = *prototype;
    v->hash = hash;
    v->id = g->next_id++;
    v->args = NULL;
    if (v->def) { // the prototype's may live on the stack
        v->def = NEW(g->arena, Def);
        *v->def = *prototype->def;
    }
    if (v->nargs) {
        v->args = arena_raw(g->arena, sizeof(Val *) * v->nargs);
        memcpy(v->args, prototype->args, sizeof(Val *) * v->nargs);
    }
    return v;
}

static void grow(Graph *g) {
    Val **old = g->slots;
    uint32_t old_cap = g->cap;
    g->cap *= 2;
    g->slots = NEW_N(g->arena, Val *, g->cap);
    for (uint32_t i = 0; i < old_cap; i++) {
        for (Val *v = old[i], *next; v; v = next) {
            next = v->chain;
            v->chain = g->slots[v->hash & (g->cap - 1)];
            g->slots[v->hash & (g->cap - 1)] = v;
        }
    }
}

Val *val_intern(Graph *g, const Val *prototype) {
    uint32_t hash = hash_val(prototype);
    hash += !hash; // 0: a value that is not shared
    for (Val *v = g->slots[hash & (g->cap - 1)]; v; v = v->chain) {
        if (v->hash == hash && same_val(v, prototype)) return v;
    }
    if (g->len >= g->cap) grow(g);
    Val *v = store(g, prototype, hash);
    v->chain = g->slots[hash & (g->cap - 1)];
    g->slots[hash & (g->cap - 1)] = v;
    g->len++;
    return v;
}

Val *val_unique(Graph *g, Op op, Val *const *args, uint32_t nargs) {
    Val v = {.op = (uint16_t)op, .nargs = nargs,
             .args = (Val **)(uintptr_t)args};
    return store(g, &v, 0);
}

Val *val_new(Graph *g, Op op, Val *const *args, uint32_t nargs) {
    Val v = {.op = (uint16_t)op, .nargs = nargs,
             .args = (Val **)(uintptr_t)args};
    return val_intern(g, &v);
}

Val *val_new1(Graph *g, Op op, Val *a) {
    return val_new(g, op, (Val *[]){a}, 1);
}

Val *val_new2(Graph *g, Op op, Val *a, Val *b) {
    return val_new(g, op, (Val *[]){a, b}, 2);
}

Val *val_new3(Graph *g, Op op, Val *a, Val *b, Val *c) {
    return val_new(g, op, (Val *[]){a, b, c}, 3);
}

Val *val_attr(Graph *g, Val *object, const Sym *name) {
    Val v = {.op = V_ATTR, .nargs = 1, .args = &object, .name = name};
    return val_intern(g, &v);
}

// The value of a numeric literal; underscores and 0x, 0o, 0b understood.
static double literal_number(Str text) {
    char digits[64];
    size_t n = 0;
    for (size_t i = 0; i < text.len && n + 1 < sizeof(digits); i++) {
        if (text.at[i] != '_') digits[n++] = text.at[i];
    }
    digits[n] = 0;
    if (n > 2 && digits[0] == '0' && strchr("oObB", digits[1])) {
        int base = digits[1] == 'o' || digits[1] == 'O' ? 8 : 2;
        return (double)strtoull(digits + 2, NULL, base);
    }
    return strtod(digits, NULL);
}

Val *val_const(Graph *g, ConstKind kind, Str text) {
    Val v = {.op = V_CONST, .ck = (uint8_t)kind};
    if (kind == CONST_INT || kind == CONST_FLOAT) {
        v.num = literal_number(text);
        if (v.num == 0) v.num = 0; // no negative zero
    } else if (kind == CONST_STR || kind == CONST_BYTES || kind == CONST_COMPLEX) {
        v.text = text;
    }
    return val_intern(g, &v);
}

Val *val_int(Graph *g, int64_t number) {
    Val v = {.op = V_CONST, .ck = CONST_INT, .num = (double)number};
    return val_intern(g, &v);
}

Val *val_number(Graph *g, double number) {
    if (number == 0) number = 0;
    bool whole = fabs(number) < 1e15 && number == floor(number);
    Val v = {.op = V_CONST, .ck = whole ? CONST_INT : CONST_FLOAT,
             .num = number};
    return val_intern(g, &v);
}

Val *val_none(Graph *g) {
    return val_const(g, CONST_NONE, (Str){0});
}

Val *val_bool(Graph *g, bool value) {
    return val_const(g, value ? CONST_TRUE : CONST_FALSE, (Str){0});
}

Val *val_str(Graph *g, Str text) {
    return val_const(g, CONST_STR, text);
}

Val *val_global(Graph *g, Str dotted) {
    Val v = {.op = V_GLOBAL, .text = dotted};
    return val_intern(g, &v);
}

bool val_is_number(const Val *v) {
    return v->op == V_CONST && (v->ck == CONST_INT || v->ck == CONST_FLOAT);
}

bool val_is_int(const Val *v, int64_t number) {
    return val_is_number(v) && v->num == (double)number;
}

bool val_near(const Val *v, double number) {
    return val_is_number(v) &&
           fabs(v->num - number) <= 1e-9 * (fabs(number) + 1e-300);
}

bool val_is_none(const Val *v) {
    return v->op == V_CONST && v->ck == CONST_NONE;
}

bool val_is_ellipsis(const Val *v) {
    return v->op == V_CONST && v->ck == CONST_ELLIPSIS;
}

bool val_is_str(const Val *v, const char *text) {
    return v->op == V_CONST && v->ck == CONST_STR && str_is(v->text, text);
}

bool val_is_global(const Val *v, const char *dotted) {
    return v->op == V_GLOBAL && str_is(v->text, dotted);
}

bool val_is_floating_dtype(const Val *v) {
    static const char *const names[] = {
        "torch.float32", "torch.float", "torch.float16", "torch.half",
        "torch.bfloat16", "torch.float64", "torch.double",
    };
    if (v->op != V_GLOBAL) return false;
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(v->text, names[i])) return true;
    }
    return false;
}

// A cast that keeps the value up to rounding: to a floating dtype, to the
// dtype of a tensor, or to one that is only known at run time.
static bool keeps_value(const Val *dtype) {
    if (dtype->op == V_GLOBAL) {
        return val_is_floating_dtype(dtype) || !str_starts(dtype->text, "torch.");
    }
    return dtype->op != V_CONST || dtype->ck == CONST_NONE;
}

Val *val_strip(Val *v) {
    for (int n = 0; n < CASTS_MAX && v->op == V_CAST && keeps_value(v->args[1]); n++) {
        v = v->args[0];
    }
    return v;
}

bool val_is_placeless(const Val *v) {
    if (v->op == V_CONST || v->op == V_GLOBAL) return true;
    if (v->op != OP_NEG && v->op != V_TUPLE && v->op != V_LIST && v->op != V_SLICE) return false;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (!val_is_placeless(v->args[i])) return false;
    }
    return true;
}

static void print_const(Buf *out, const Val *v) {
    switch ((ConstKind)v->ck) {
    case CONST_NONE: buf_add(out, STR("None")); break;
    case CONST_TRUE: buf_add(out, STR("True")); break;
    case CONST_FALSE: buf_add(out, STR("False")); break;
    case CONST_ELLIPSIS: buf_add(out, STR("...")); break;
    case CONST_INT:
    case CONST_FLOAT: buf_addf(out, "%.12g", v->num); break;
    case CONST_STR: buf_addf(out, "'%.*s'", STR_FMT(v->text)); break;
    case CONST_COMPLEX:
    case CONST_BYTES: buf_add(out, STR("<const>")); break;
    }
}

typedef enum Cut { CUT_DOTS, CUT_NUMBERS } Cut;

static void print_val(Buf *out, const Val *v, int depth, Cut cut);

static void print_args(Buf *out, const Val *v, int depth, Cut cut) {
    buf_add_char(out, '(');
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (i) buf_add(out, STR(", "));
        if (v->args[i]) print_val(out, v->args[i], depth - 1, cut);
    }
    buf_add_char(out, ')');
}

// a.b.c... without end: a value may be an attribute of itself as it was before.
static bool is_long_chain(const Val *v) {
    int n = 0;
    for (; v->op == V_ATTR && n < ATTRS_MAX; v = v->args[0]) n++;
    return n == ATTRS_MAX;
}

static void print_val(Buf *out, const Val *v, int depth, Cut cut) {
    if (depth <= 0 || out->len > PRINT_MAX) {
        if (cut == CUT_NUMBERS) buf_addf(out, "%%%u", v->id);
        else buf_add(out, STR("..."));
        return;
    }
    switch ((int)v->op) {
    case V_CONST:
        print_const(out, v);
        return;
    case V_PARAM:
        buf_add(out, sym_str(v->name));
        return;
    case V_GLOBAL:
        buf_add(out, v->text);
        return;
    case V_FUNCTION:
    case V_CLASS:
        buf_add(out, v->def->dotted);
        return;
    case V_ATTR:
        print_val(out, v->args[0], is_long_chain(v) ? 0 : depth, cut);
        buf_addf(out, ".%s", v->name->text);
        return;
    case V_KEYWORD:
        buf_addf(out, "%s=", v->name ? v->name->text : "**");
        print_val(out, v->args[0], depth, cut);
        return;
    case V_PYOP:
        buf_add(out, str_of(ast_op_name((AstOp)v->ck)));
        print_args(out, v, depth, cut);
        return;
    case V_INSTANCE:
        buf_add(out, v->def ? v->def->dotted : v->text);
        print_args(out, v, depth, cut);
        return;
    default:
        buf_add(out, str_of(op_name((Op)v->op)));
        if (v->nargs) print_args(out, v, depth, cut);
        else if (cut == CUT_NUMBERS) buf_addf(out, "%%%u", v->id);
    }
}

enum { HOLDS_DEPTH = 8, HOLDS_STEPS = 500 };

static bool holds(const Val *v, const Val *part, int depth, int *steps) {
    if (v == part || depth == HOLDS_DEPTH || ++*steps > HOLDS_STEPS) return true;
    for (uint32_t i = 0; i < v->nargs; i++) {
        if (holds(v->args[i], part, depth + 1, steps)) return true;
    }
    return false;
}

bool val_holds(const Val *v, const Val *part) {
    int steps = 0;
    return holds(v, part, 0, &steps);
}

void val_print(Buf *out, const Val *v, int depth) {
    print_val(out, v, depth, CUT_DOTS);
}

void val_dump(Buf *out, const Val *v, int depth) {
    print_val(out, v, depth, CUT_NUMBERS);
}
