// ops.c - reads ops.def into a hash table and binds call arguments.
#include "base/base.h"

#include "flow/ops.h"

typedef struct OpRow {
    Op op;
    const char *params, *spellings;
} OpRow;

static const OpRow rows[] = {
#define X(op, text, params, spellings) {op, params, spellings},
#include "flow/ops.def"
#undef X
};

// The next word of `*rest`; false at its end.
static bool next_word(Str *word, Str *rest) {
    while (rest->len && rest->at[0] == ' ') {
        rest->at++;
        rest->len--;
    }
    if (rest->len == 0) return false;
    size_t n = 0;
    while (n < rest->len && rest->at[n] != ' ') n++;
    *word = (Str){rest->at, n};
    rest->at += n;
    rest->len -= n;
    return true;
}

static OpParam read_param(Str word) {
    OpParam param = {.name = word};
    if (word.at[0] == '*') {
        param.rest = true;
        param.name = (Str){word.at + 1, word.len - 1};
    }
    for (size_t i = 0; i < word.len; i++) {
        if (word.at[i] != '=') continue;
        param.name = (Str){word.at, i};
        param.fallback = (Str){word.at + i + 1, word.len - i - 1};
        break;
    }
    return param;
}

static void add_spelling(OpTable *table, Str text, const OpInfo *info) {
    uint32_t i = (uint32_t)hash_bytes(HASH_SEED, text.at, text.len);
    for (i &= table->cap - 1; table->slots[i].info; i = (i + 1) & (table->cap - 1)) {
        if (str_eq(table->slots[i].text, text)) {
            BUG("ops.def spells '%.*s' twice", STR_FMT(text));
        }
    }
    table->slots[i] = (OpSpelling){text, info};
}

void ops_init(OpTable *table, Arena *arena) {
    *table = (OpTable){.cap = 1024};
    table->slots = NEW_N(arena, OpSpelling, table->cap);
    for (size_t r = 0; r < COUNT(rows); r++) {
        OpInfo *info = &table->infos[rows[r].op];
        info->op = rows[r].op;
        Str word, rest = str_of(rows[r].params);
        while (next_word(&word, &rest)) {
            info->params[info->param_count++] = read_param(word);
        }
        rest = str_of(rows[r].spellings);
        while (next_word(&word, &rest)) add_spelling(table, word, info);
    }
}

const OpInfo *ops_find(const OpTable *table, Str spelling) {
    uint32_t i = (uint32_t)hash_bytes(HASH_SEED, spelling.at, spelling.len);
    for (i &= table->cap - 1; table->slots[i].info; i = (i + 1) & (table->cap - 1)) {
        if (str_eq(table->slots[i].text, spelling)) return table->slots[i].info;
    }
    return NULL;
}

static Val *fallback_val(Graph *g, Str text) {
    if (str_is(text, "None")) return val_none(g);
    if (str_is(text, "True")) return val_bool(g, true);
    if (str_is(text, "False")) return val_bool(g, false);
    if (text.at[0] == '\'') return val_str(g, (Str){text.at + 1, text.len - 2});
    bool whole = true;
    for (size_t i = 0; i < text.len; i++) {
        if (text.at[i] == '.' || text.at[i] == 'e') whole = false;
    }
    if (text.at[0] == '-') {
        Val *v = val_const(g, whole ? CONST_INT : CONST_FLOAT,
                           (Str){text.at + 1, text.len - 1});
        return val_number(g, -v->num);
    }
    return val_const(g, whole ? CONST_INT : CONST_FLOAT, text);
}

static bool names_param(const OpParam *param, const Sym *name) {
    Str given = sym_str(name);
    if (str_eq(param->name, given)) return true;
    if (str_is(given, "axis")) return str_is(param->name, "dim");
    if (str_is(given, "keepdims")) return str_is(param->name, "keepdim");
    if (str_is(given, "x") || str_is(given, "self") || str_is(given, "tensor")) {
        return str_is(param->name, "input");
    }
    if (str_is(given, "train")) return str_is(param->name, "training"); // torch.dropout
    return str_is(given, "split_size_or_sections") &&
           str_is(param->name, "split_size");
}

static bool bind_keyword(Val **out, const OpInfo *info, const Val *keyword) {
    if (!keyword->name) return false;
    for (uint32_t p = 0; p < info->param_count; p++) {
        if (!names_param(&info->params[p], keyword->name)) continue;
        if (out[p]) return false;
        out[p] = keyword->args[0];
        return true;
    }
    // Arguments that change placement but not values.
    static const char *const harmless[] = {
        "device", "requires_grad", "pin_memory", "memory_format", "generator",
        "_stacklevel", "layout", "copy", "non_blocking", "names",
    };
    for (size_t i = 0; i < COUNT(harmless); i++) {
        if (str_is(sym_str(keyword->name), harmless[i])) return true;
    }
    return str_is(sym_str(keyword->name), "dtype") &&
           (info->op == OP_ONES || info->op == OP_ZEROS ||
            info->op == OP_EMPTY || info->op == OP_FULL ||
            info->op == OP_ONES_LIKE || info->op == OP_ZEROS_LIKE);
}

// Positional arguments from `from` on, as a tuple; a lone tuple or list is
// itself (x.view((a, b)) and x.view(a, b) are one).
static Val *bind_rest(Graph *g, Val *const *args, uint32_t from,
                      uint32_t nargs) {
    uint32_t end = from;
    while (end < nargs && args[end]->op != V_KEYWORD) end++;
    if (end == from + 1 &&
        (args[from]->op == V_TUPLE || args[from]->op == V_LIST)) {
        return val_new(g, V_TUPLE, args[from]->args, args[from]->nargs);
    }
    return val_new(g, V_TUPLE, args + from, end - from);
}

bool ops_bind(Val **out, Graph *g, const OpInfo *info, Val *const *args,
              uint32_t nargs) {
    memset(out, 0, sizeof(Val *) * OP_MAX_PARAMS);
    uint32_t at = 0;
    for (uint32_t i = 0; i < nargs; i++) {
        bool rest = at < info->param_count && info->params[at].rest;
        if (args[i]->op == V_STAR && !rest) return false; // x.view(*sizes) is fine
        if (args[i]->op == V_KEYWORD) {
            if (!bind_keyword(out, info, args[i])) return false;
        } else if (rest) {
            if (!out[at]) out[at] = bind_rest(g, args, i, nargs);
        } else if (at < info->param_count) {
            out[at++] = args[i];
        } else {
            return false;
        }
    }
    for (uint32_t p = 0; p < info->param_count; p++) {
        if (out[p]) continue;
        if (info->params[p].rest) out[p] = val_new(g, V_TUPLE, NULL, 0);
        else if (info->params[p].fallback.len == 0) return false;
        else out[p] = fallback_val(g, info->params[p].fallback);
    }
    return true;
}
