// compare.c - signatures side by side. Arguments are paired by name first;
// what is left over at one position on both sides is one argument under two
// names, which is the commonest difference (self and input).
#include "base/base.h"

#include "apidoc/compare.h"

#include <math.h>
#include <stdlib.h>

// What both kinds of signature have of an argument.
typedef struct Side {
    Str name, fallback, type;
    bool has_fallback, keyword_only;
    int pair; // index on the other side, -1: none
} Side;

typedef VEC(Side) Sides;

static Sides of_document(Arena *arena, const DocSignature *s) {
    Sides out = {0};
    for (uint32_t i = 0; i < s->args.len; i++) {
        const DocArg *a = &s->args.at[i];
        Side side = {a->name, a->fallback, STR(""), a->has_fallback, a->keyword_only, -1};
        vec_push(arena, &out, side);
    }
    return out;
}

static Sides of_schema(Arena *arena, const Schema *s) {
    Sides out = {0};
    for (uint32_t i = 0; i < s->args.len; i++) {
        const SchemaArg *a = &s->args.at[i];
        Side side = {a->name, a->fallback, a->type, a->has_fallback, a->keyword_only, -1};
        vec_push(arena, &out, side);
    }
    return out;
}

static void pair_up(Sides *a, Sides *b) {
    for (uint32_t i = 0; i < a->len; i++) {
        for (uint32_t k = 0; k < b->len && a->at[i].pair < 0; k++) {
            if (b->at[k].pair >= 0 || !str_eq(a->at[i].name, b->at[k].name)) continue;
            a->at[i].pair = (int)k;
            b->at[k].pair = (int)i;
        }
    }
    for (uint32_t i = 0; i < a->len && i < b->len; i++) {
        if (a->at[i].pair >= 0 || b->at[i].pair >= 0) continue;
        a->at[i].pair = b->at[i].pair = (int)i;
    }
}

// ---- defaults -----------------------------------------------------------------------

static bool as_number(Str s, double *out) {
    char text[64], *end;
    if (!s.len || s.len >= sizeof(text)) return false;
    memcpy(text, s.at, s.len);
    text[s.len] = '\0';
    *out = strtod(text, &end);
    return *end == '\0';
}

static Str unquoted(Str s) {
    bool quoted = s.len >= 2 && (s.at[0] == '\'' || s.at[0] == '"') &&
                  s.at[s.len - 1] == s.at[0];
    return quoted ? (Str){s.at + 1, s.len - 2} : s;
}

static bool same_letters(Str a, Str b) {
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++) {
        char x = a.at[i], y = b.at[i];
        if (x >= 'A' && x <= 'Z') x |= 0x20;
        if (y >= 'A' && y <= 'Z') y |= 0x20;
        if (x != y) return false;
    }
    return true;
}

// None, True and False are written in either case; numbers count by value;
// schemas write 2147483647 for an int that Python knows by a name.
static bool same_default(Str a, Str b) {
    double x, y;
    a = unquoted(a);
    b = unquoted(b);
    if (as_number(a, &x) && as_number(b, &y)) return fabs(x - y) <= 1e-12 * fabs(x) || x == y;
    if (str_eq(a, b)) return true;
    bool word = same_letters(a, STR("none")) || same_letters(a, STR("true")) ||
                same_letters(a, STR("false"));
    return word && same_letters(a, b);
}

// ---- documents against a schema ------------------------------------------------------

typedef struct Pairing {
    Sentences *out;
    Arena *arena;
} Pairing;

#define SAY(p, ...) vec_push((p)->arena, (p)->out, arena_printf((p)->arena, __VA_ARGS__))

static void compare_defaults(const Pairing *p, const Side *doc, const Side *real) {
    if (doc->has_fallback && real->has_fallback) {
        if (same_default(doc->fallback, real->fallback)) return;
        SAY(p, "the default of '%.*s' is %.*s in the documents, %.*s as registered",
            STR_FMT(real->name), STR_FMT(doc->fallback), STR_FMT(real->fallback));
    } else if (real->has_fallback) {
        SAY(p, "'%.*s' has a default, %.*s, that the documents do not write",
            STR_FMT(real->name), STR_FMT(real->fallback));
    } else if (doc->has_fallback) {
        SAY(p, "'%.*s' has to be given, though the documents write a default, %.*s",
            STR_FMT(real->name), STR_FMT(doc->fallback));
    }
}

static void compare_pair(const Pairing *p, const Side *doc, const Side *real, uint32_t at) {
    if (!str_eq(doc->name, real->name)) {
        SAY(p, "argument %u is '%.*s' in the documents and '%.*s' as registered%s", at + 1,
            STR_FMT(doc->name), STR_FMT(real->name),
            real->keyword_only ? "" : ": pass it by position");
    }
    if (real->keyword_only && !doc->keyword_only) {
        SAY(p, "'%.*s' can only be passed by keyword; the documents do not say so",
            STR_FMT(real->name));
    }
    compare_defaults(p, doc, real);
}

void signature_compare(Sentences *out, Arena *arena, const DocSignature *documented,
                       const Schema *registered) {
    Pairing p = {out, arena};
    Sides docs = of_document(arena, documented), real = of_schema(arena, registered);
    pair_up(&docs, &real);
    for (uint32_t i = 0; i < docs.len; i++) {
        if (docs.at[i].pair >= 0) {
            uint32_t k = (uint32_t)docs.at[i].pair;
            compare_pair(&p, &docs.at[i], &real.at[k], k);
        } else {
            SAY(&p, "'%.*s' is documented but not registered: it cannot be passed",
                STR_FMT(docs.at[i].name));
        }
    }
    for (uint32_t k = 0; k < real.len; k++) {
        if (real.at[k].pair >= 0) continue;
        SAY(&p, "'%.*s' is registered but missing in the documents' signature",
            STR_FMT(real.at[k].name));
    }
    if (documented->returns && documented->returns != registered->returns.len) {
        SAY(&p, "the documents' signature returns %u value%s, the registered one %u",
            documented->returns, documented->returns == 1 ? "" : "s",
            (unsigned)registered->returns.len);
    }
}

void signatures_compare(Sentences *out, Arena *arena, const DocPage *page,
                        const Schema *schemas, uint32_t schema_count) {
    bool first = true;
    *out = (Sentences){0};
    for (uint32_t i = 0; i < page->signatures.len; i++) {
        DocSignature documented;
        if (!page_signature(&documented, arena, page->signatures.at[i])) continue;
        for (uint32_t k = 0; k < schema_count; k++) {
            Sentences found = {0};
            signature_compare(&found, arena, &documented, &schemas[k]);
            if (first || found.len < out->len) *out = found;
            first = false;
        }
    }
    if (page->other.len) {
        vec_push(arena, out, arena_printf(arena, "the text has the signature of '%.*s' and none "
                                          "of its own: it may describe that operator",
                                          STR_FMT(page->other)));
    }
}

// ---- one schema against another ----------------------------------------------------------

typedef struct Changes {
    Drifts *out;
    Arena *arena;
} Changes;

#define DRIFT(c, breaks, scope, arg, ...)                                              \
    vec_push((c)->arena, (c)->out,                                                     \
             ((Drift){arena_printf((c)->arena, __VA_ARGS__), breaks, scope, arg}))

// Torch made `int` of many schemas `SymInt`, which takes the same values.
static Str plain_type(Str type) {
    return str_starts(type, "SymInt") ? (Str){type.at + 3, type.len - 3} : type;
}

static bool same_type(Str a, Str b) {
    a = plain_type(a);
    b = plain_type(b);
    // "Int[]" of SymInt[] and "int[]": one letter apart.
    return str_eq(a, b) || (a.len == b.len && a.len > 2 && same_letters(a, b));
}

// "int[4]" takes every list that "int[]" takes, and one int besides.
static bool is_sized(Str ours, Str theirs) {
    if (!str_ends(ours, "[]") || !str_ends(theirs, "]")) return false;
    while (theirs.len && theirs.at[theirs.len - 1] != '[') theirs.len--;
    return theirs.len && same_type((Str){ours.at, ours.len - 2}, (Str){theirs.at, theirs.len - 1});
}

// Whether whatever `ours` takes, `theirs` takes: it may be absent now, too.
static bool is_wider(Str ours, Str theirs) {
    if (str_ends(theirs, "?")) {
        theirs.len--;
        if (str_ends(ours, "?")) ours.len--;
    }
    return same_type(ours, theirs) || is_sized(ours, theirs);
}

static void compare_fallbacks(const Changes *c, const Side *ours, const Side *theirs) {
    if (ours->has_fallback && !theirs->has_fallback) {
        DRIFT(c, true, DRIFT_LEFT_OUT, ours->name,
              "argument '%.*s' has to be given now", STR_FMT(theirs->name));
    } else if (!ours->has_fallback && theirs->has_fallback) {
        DRIFT(c, false, DRIFT_ANY, ours->name,
              "argument '%.*s' has a default now, %.*s", STR_FMT(theirs->name),
              STR_FMT(theirs->fallback));
    } else if (ours->has_fallback && !same_default(ours->fallback, theirs->fallback)) {
        DRIFT(c, true, DRIFT_LEFT_OUT, ours->name,
              "the default of '%.*s' is %.*s, not %.*s", STR_FMT(theirs->name),
              STR_FMT(theirs->fallback), STR_FMT(ours->fallback));
    }
}

static void compare_registered(const Changes *c, const Side *ours, const Side *theirs) {
    if (!str_eq(ours->name, theirs->name)) {
        // We pass what has no default by position. Of two options at one place
        // under two names it is not known whether they mean the same.
        bool named = ours->has_fallback || theirs->keyword_only;
        DRIFT(c, named, ours->has_fallback ? DRIFT_GIVEN : DRIFT_KEYWORD, ours->name,
              "argument '%.*s' is called '%.*s'", STR_FMT(ours->name),
              STR_FMT(theirs->name));
    }
    if (!same_type(ours->type, theirs->type)) {
        DRIFT(c, !is_wider(ours->type, theirs->type), DRIFT_GIVEN, ours->name,
              "argument '%.*s' is %.*s, not %.*s",
              STR_FMT(theirs->name), STR_FMT(theirs->type), STR_FMT(ours->type));
    }
    compare_fallbacks(c, ours, theirs);
    if (ours->keyword_only != theirs->keyword_only) {
        DRIFT(c, theirs->keyword_only, DRIFT_POSITION, ours->name,
              "argument '%.*s' is %s", STR_FMT(theirs->name),
              theirs->keyword_only ? "passed by keyword only" : "no longer keyword only");
    }
}

static bool same_returns(const Schema *a, const Schema *b) {
    if (a->returns.len != b->returns.len) return false;
    for (uint32_t i = 0; i < a->returns.len; i++) {
        if (!same_type(a->returns.at[i], b->returns.at[i])) return false;
    }
    return true;
}

// The first argument that may be passed by position and stands at another place
// now; NULL if none does. Who does not give it by position gives none behind it so.
static const Side *first_moved(const Sides *ours) {
    for (uint32_t i = 0; i < ours->len; i++) {
        if (ours->at[i].keyword_only || ours->at[i].pair < 0) continue;
        if (ours->at[i].pair != (int)i) return &ours->at[i];
    }
    return NULL;
}

static void compare_unpaired(const Changes *c, const Sides *ours, const Sides *theirs) {
    for (uint32_t i = 0; i < ours->len; i++) {
        if (ours->at[i].pair >= 0) continue;
        DRIFT(c, true, DRIFT_GIVEN, ours->at[i].name, "argument '%.*s' is gone",
              STR_FMT(ours->at[i].name));
    }
    for (uint32_t k = 0; k < theirs->len; k++) {
        const Side *side = &theirs->at[k];
        if (side->pair >= 0) continue;
        DRIFT(c, !side->has_fallback, DRIFT_ANY, STR(""),
              "argument '%.*s' is new%s", STR_FMT(side->name),
              side->has_fallback ? ", with a default" : " and has to be given");
    }
}

void schema_compare(Drifts *out, Arena *arena, const Schema *ours,
                    const Schema *installed) {
    Changes c = {out, arena};
    Sides a = of_schema(arena, ours), b = of_schema(arena, installed);
    *out = (Drifts){0};
    pair_up(&a, &b);
    for (uint32_t i = 0; i < a.len; i++) {
        if (a.at[i].pair >= 0) compare_registered(&c, &a.at[i], &b.at[a.at[i].pair]);
    }
    compare_unpaired(&c, &a, &b);
    const Side *moved = first_moved(&a);
    if (moved) {
        DRIFT(&c, true, DRIFT_POSITION, moved->name,
              "its arguments stand in another order from '%.*s' on", STR_FMT(moved->name));
    }
    if (!same_returns(ours, installed)) {
        DRIFT(&c, true, DRIFT_ANY, STR(""),
              "it returns %u value%s of other types or number, ours %u",
              (unsigned)installed->returns.len, installed->returns.len == 1 ? "" : "s",
              (unsigned)ours->returns.len);
    }
}
