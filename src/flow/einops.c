// einops.c - rearrange() and repeat() where they touch the last axis alone, or
// put whole axes into another order, and reduce() of the last axis:
//
//   rearrange(x, "... (d r) -> ... d r", r=2)  ->  x.unflatten(-1, (-1, 2))
//   rearrange(x, "... d r -> ... (d r)")       ->  x.flatten(-2)
//   rearrange(x, "... (d r) -> r ... d", r=2)  ->  stack((even, odd), 0)
//   rearrange((a, b), "r ... d -> ... (d r)")  ->  weave((a, b)); (r d): cat((a, b), -1)
//   repeat(x, "... d -> ... (d r)", r=2)       ->  weave((x, x))
//   repeat(x, "... d -> ... (r d)", r=2)       ->  cat((x, x), -1)
//   rearrange(x, "b i j -> b j i")             ->  x.permute(0, 2, 1)
//   reduce(x, "... d -> ... 1", "mean")        ->  x.mean(-1, keepdim=True)
//
// and einsum(), whose words become the letters of torch's:
//
//   einsum(x, y, "b i dim, b j dim -> b i j")  ->  torch.einsum("abc,adc->abd", x, y)
#include "base/base.h"

#include "flow/flow.h"

enum { WORDS_MAX = 16, EQUATION_MAX = 64 };

// One side of a pattern: words, and the two in parentheses at its end, if any.
typedef struct Side {
    Str words[WORDS_MAX];
    uint32_t len;
    bool grouped; // the last two words are one axis
} Side;

static bool is_word(char c) {
    return c != ' ' && c != '(' && c != ')';
}

// False for what is more than words and one pair of parentheses around the
// last two.
static bool read_side(Side *out, Str text) {
    *out = (Side){0};
    uint32_t opened = 0;
    for (size_t i = 0; i < text.len;) {
        char c = text.at[i];
        bool behind = out->grouped && c != ' ';
        if (behind || out->len == WORDS_MAX) return false;
        if (c == '(') {
            if (opened) return false;
            opened = out->len + 1;
        } else if (c == ')') {
            if (!opened || out->len - (opened - 1) != 2) return false;
            out->grouped = true;
        }
        if (!is_word(c)) {
            i++;
            continue;
        }
        size_t end = i;
        while (end < text.len && is_word(text.at[end])) end++;
        out->words[out->len++] = (Str){text.at + i, end - i};
        i = end;
    }
    return !opened == !out->grouped;
}

static bool read_pattern(Side *from, Side *to, Str text) {
    for (size_t i = 0; i + 1 < text.len; i++) {
        if (text.at[i] != '-' || text.at[i + 1] != '>') continue;
        Str right = {text.at + i + 2, text.len - i - 2};
        return read_side(from, (Str){text.at, i}) && read_side(to, right);
    }
    return false;
}

static bool same_words(const Side *a, const Side *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!str_eq(a->words[i], b->words[i])) return false;
    }
    return true;
}

// The length that the call gives to the axis, r=2, or the pattern itself.
static Val *size_of_word(Flow *fl, Str word, Val *const *args, uint32_t nargs) {
    for (uint32_t i = 0; i < nargs; i++) {
        bool named = args[i]->op == V_KEYWORD && args[i]->name &&
                     str_eq(sym_str(args[i]->name), word);
        if (named) return args[i]->args[0];
    }
    return val_int(&fl->graph, str_is(word, "2") ? 2 : -1);
}

// Whether `side` is the word, the others without their last two, and one more word.
static bool has_first(const Side *side, const Side *others, Str first, Str last) {
    uint32_t lead = others->len - 2;
    if (side->len != others->len || !str_eq(side->words[0], first)) return false;
    for (uint32_t i = 0; i < lead; i++) {
        if (!str_eq(side->words[i + 1], others->words[i])) return false;
    }
    return str_eq(side->words[lead + 1], last);
}

// "... (r d) -> r ... d" and "... (d r) -> r ... d" of two: the two along the first axis.
static Val *two_in_front(Flow *fl, Val *x, const Side *from, const Side *to,
                         Val *const sizes[2]) {
    Graph *g = &fl->graph;
    if (!from->grouped || to->grouped) return NULL;
    Str a = from->words[from->len - 2], b = from->words[from->len - 1];
    bool halves = has_first(to, from, a, b), pairs = has_first(to, from, b, a);
    if ((!halves && !pairs) || !val_is_int(sizes[halves ? 0 : 1], 2)) return NULL;
    Val *parts[2];
    for (int64_t i = 0; i < 2; i++) {
        Val *one = val_int(g, i), *two = val_int(g, 2);
        parts[i] = halves ? val_new(g, V_PART, (Val *[]){x, val_int(g, -1), one, two}, 4)
                          : val_new3(g, OP_STRIDED, x, one, two);
    }
    Val *stack[] = {val_new(g, V_TUPLE, parts, 2), val_int(g, 0)};
    return op_make(fl, OP_STACK, stack, 2);
}

// "r ... d -> ... (r d)" and "r ... d -> ... (d r)" of two tensors.
static Val *two_at_the_end(Flow *fl, Val *x, const Side *from, const Side *to) {
    Graph *g = &fl->graph;
    if (from->grouped || !to->grouped) return NULL;
    if (x->op == OP_STACK && val_is_int(x->args[1], 0)) x = x->args[0];
    bool two = (x->op == V_TUPLE || x->op == V_LIST) && x->nargs == 2 &&
               x->args[0]->op != V_STAR && x->args[1]->op != V_STAR;
    if (!two) return NULL;
    Str a = to->words[to->len - 2], b = to->words[to->len - 1];
    Val *args[] = {val_new(g, V_TUPLE, x->args, 2), val_int(g, -1)};
    if (has_first(from, to, a, b)) return op_make(fl, OP_CAT, args, 2);
    return has_first(from, to, b, a) ? op_make(fl, OP_WEAVE, args, 1) : NULL;
}

static Val *rearrange(Flow *fl, Val *x, const Side *from, const Side *to,
                      Val *const sizes[2]) {
    Graph *g = &fl->graph;
    if (from->len != to->len || from->len < 2) return NULL;
    if (!same_words(from, to, to->len)) {
        Val *two = two_in_front(fl, x, from, to, sizes);
        return two ? two : two_at_the_end(fl, x, from, to);
    }
    if (x->op == V_TUPLE || x->op == V_LIST) return NULL; // a first axis is added
    Val *axis = val_int(g, -1);
    if (from->grouped && !to->grouped) {
        Val *split[] = {x, axis, val_new2(g, V_TUPLE, sizes[0], sizes[1])};
        return op_make(fl, OP_UNFLATTEN, split, 3);
    }
    Val *join[] = {x, val_int(g, -2), axis};
    return to->grouped && !from->grouped ? op_make(fl, OP_FLATTEN, join, 3) : NULL;
}

static Val *repeated(Flow *fl, Val *x, const Side *from, const Side *to, Val *const sizes[2]) {
    Graph *g = &fl->graph;
    bool one_more = to->grouped && !from->grouped && to->len == from->len + 1 && from->len;
    if (!one_more || !same_words(from, to, from->len - 1)) return NULL;
    Str last = from->words[from->len - 1];
    bool first = str_eq(to->words[to->len - 2], last);
    bool second = str_eq(to->words[to->len - 1], last);
    if (first == second || !val_is_int(sizes[first], 2)) return NULL;
    Val *args[] = {val_new2(g, V_TUPLE, x, x), val_int(g, -1)};
    return first ? op_make(fl, OP_WEAVE, args, 1) : op_make(fl, OP_CAT, args, 2);
}

static int index_of_word(const Side *side, Str word) {
    for (uint32_t i = 0; i < side->len; i++) {
        if (str_eq(side->words[i], word)) return (int)i;
    }
    return -1;
}

// The same words in another order, each an axis.
static Val *permuted(Flow *fl, Val *x, const Side *from, const Side *to) {
    Graph *g = &fl->graph;
    if (from->grouped || to->grouped || from->len != to->len || !from->len) return NULL;
    Val *order[WORDS_MAX];
    for (uint32_t i = 0; i < to->len; i++) {
        int at = index_of_word(from, to->words[i]);
        bool twice = at >= 0 && index_of_word(to, to->words[i]) != (int)i;
        if (at < 0 || twice || str_is(to->words[i], "...")) return NULL;
        order[i] = val_int(g, at);
    }
    Val *args[] = {x, val_new(g, V_TUPLE, order, to->len)};
    return op_make(fl, OP_PERMUTE, args, 2);
}

// The mean or sum of the last axis, kept as 1 or left out.
static Val *reduced(Flow *fl, Val *const *args, uint32_t nargs, const Side *from,
                    const Side *to) {
    if (nargs != 3 || from->grouped || to->grouped || from->len < 2) return NULL;
    bool mean = val_is_str(args[2], "mean"), sum = val_is_str(args[2], "sum");
    bool keeps = to->len == from->len && str_is(to->words[to->len - 1], "1");
    bool drops = to->len + 1 == from->len;
    if ((!mean && !sum) || (!keeps && !drops) || !same_words(from, to, from->len - 1)) return NULL;
    if (str_is(from->words[from->len - 1], "...")) return NULL;
    Graph *g = &fl->graph;
    Val *parts[] = {args[0], val_int(g, -1), val_bool(g, keeps), val_none(g)};
    return op_make(fl, mean ? OP_MEAN : OP_SUM, parts, 4);
}

// ---- einsum -----------------------------------------------------------------

// The letter of a word: that of its first appearance. 0: more words than fit.
static char letter_of(Str *words, uint32_t *count, Str word) {
    for (uint32_t i = 0; i < *count; i++) {
        if (str_eq(words[i], word)) return (char)('a' + i);
    }
    if (*count == WORDS_MAX) return 0;
    words[*count] = word;
    return (char)('a' + (*count)++);
}

static bool is_sign(char c) {
    return c == ',' || c == '-' || c == '>';
}

// "b head i, ... -> ..." as the equation that torch.einsum takes; false where
// it does not fit `out` or groups words, which einops' einsum does not take.
static bool write_equation(char *out, size_t size, Str text) {
    Str words[WORDS_MAX];
    uint32_t count = 0;
    size_t n = 0;
    for (size_t i = 0; i < text.len;) {
        char c = text.at[i];
        if (n + 4 >= size || c == '(' || c == ')') return false;
        size_t end = i + 1;
        if (is_sign(c)) {
            out[n++] = c;
        } else if (c != ' ') {
            while (end < text.len && is_word(text.at[end]) && !is_sign(text.at[end])) end++;
            Str word = {text.at + i, end - i};
            bool dots = str_is(word, "...");
            if (dots) memcpy(out + n, "...", 3);
            else out[n] = letter_of(words, &count, word);
            if (!out[n]) return false;
            n += dots ? 3 : 1;
        }
        i = end;
    }
    out[n] = 0;
    return true;
}

// einops.einsum(x, y, pattern)
static Val *words_einsum(Flow *fl, Val *const *args, uint32_t nargs) {
    Graph *g = &fl->graph;
    char equation[EQUATION_MAX];
    const Val *pattern = nargs >= 2 ? args[nargs - 1] : NULL;
    bool known = pattern && pattern->op == V_CONST && pattern->ck == CONST_STR &&
                 write_equation(equation, sizeof(equation), pattern->text);
    if (!known) return NULL;
    Val *parts[] = {val_str(g, arena_str(fl->arena, str_of(equation))),
                    val_new(g, V_TUPLE, args, nargs - 1)};
    return op_make(fl, OP_EINSUM, parts, 2);
}

uint32_t einops_rank(Str name, Val *const *args, uint32_t nargs) {
    bool moves = str_is(name, "einops.rearrange") || str_is(name, "einops.repeat") ||
                 str_is(name, "einops.reduce");
    if (!moves || nargs < 2 || args[1]->op != V_CONST || args[1]->ck != CONST_STR) return 0;
    Str text = args[1]->text;
    uint32_t rank = 0;
    bool behind = false, grouped = false, word = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '.') return 0;
        if (c == '>') {
            behind = true;
            continue;
        }
        if (c == '(') rank += behind;
        if (c == '(' || c == ')') grouped = c == '(';
        bool starts = is_word(c) && !word;
        word = is_word(c);
        rank += behind && starts && !grouped;
    }
    return rank;
}

Val *op_einops(Flow *fl, Str name, Val *const *args, uint32_t nargs) {
    bool moves = str_is(name, "einops.rearrange"), repeats = str_is(name, "einops.repeat");
    if (str_is(name, "einops.einsum")) return words_einsum(fl, args, nargs);
    bool reduces = str_is(name, "einops.reduce");
    if ((!moves && !repeats && !reduces) || nargs < 2 || args[1]->op != V_CONST ||
        args[1]->ck != CONST_STR) {
        return NULL;
    }
    Side from, to;
    if (!read_pattern(&from, &to, args[1]->text)) return NULL;
    if (reduces) return reduced(fl, args, nargs, &from, &to);
    if (moves && !from.grouped && !to.grouped) return permuted(fl, args[0], &from, &to);
    const Side *grouped = from.grouped ? &from : &to;
    if (!grouped->grouped) return NULL;
    Val *sizes[2];
    for (uint32_t i = 0; i < 2; i++) {
        sizes[i] = size_of_word(fl, grouped->words[grouped->len - 2 + i], args + 2, nargs - 2);
    }
    return moves ? rearrange(fl, args[0], &from, &to, sizes)
                 : repeated(fl, args[0], &from, &to, sizes);
}
