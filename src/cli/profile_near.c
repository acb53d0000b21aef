// profile_near.c - kernels to words, words to operators: "LayerNormV3" is layer_norm.
// What any operator does (casts, sums, products) finds nothing by itself.
#include "base/base.h"

#include "apidoc/search.h"
#include "cli/output.h"
#include "cli/profile_near.h"
#include "prof/opclass.h"

typedef struct Words {
    Names words, lesser;
} Words;

static bool is_upper(char c) {
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Without a version and the marks of a back end: SoftmaxV2, ReduceSumD.
static Str without_ending(Str type) {
    size_t len = type.len;
    while (len && is_digit(type.at[len - 1])) len--;
    if (len < type.len && len > 1 && type.at[len - 1] == 'V') type.len = len - 1;
    if (type.len > 2 && type.at[type.len - 1] == 'D' && !is_upper(type.at[type.len - 2])) {
        type.len--;
    }
    return type;
}

// "LayerNorm" as "layer_norm", and as "layernorm" where `joined`.
static Str word_of(Arena *run, Str type, bool joined) {
    char *word = arena_alloc(run, 2 * type.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < type.len; i++) {
        bool begins = i && is_upper(type.at[i]) && !is_upper(type.at[i - 1]);
        if (begins && !joined) word[len++] = '_';
        word[len++] = is_upper(type.at[i]) ? (char)(type.at[i] | 0x20) : type.at[i];
    }
    return (Str){word, len};
}

static void add_word(Names *names, Arena *run, Str word) {
    for (uint32_t i = 0; i < names->len; i++) {
        if (str_eq(names->at[i], word)) return;
    }
    vec_push(run, names, word);
}

// Where the texts say it in another way than the kernel does.
static void add_other_names(Names *names, Arena *run, ProfOp op) {
    static const struct {
        ProfOp op;
        const char *word;
    } others[] = {
        {OP_SWISH, "silu"}, {OP_SWISH, "swish"}, {OP_SWISH_GRAD, "silu"},
        {OP_DROPOUT, "dropout"}, {OP_SOFTMAX_GRAD, "softmax"}, {OP_GELU_GRAD, "gelu"},
        {OP_SIGMOID_GRAD, "sigmoid"}, {OP_LAYER_NORM_GRAD, "layer_norm"},
        {OP_SORT, "argsort"}, {OP_FAST_GELU, "gelu"}, {OP_GROUP_NORM, "group_norm"},
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        if (others[i].op == op) add_word(names, run, str_of(others[i].word));
    }
}

// What nearly every operator does somewhere.
static bool is_common(ProfOp op) {
    if (op >= OP_FOREACH) return true;
    bool plain = op >= OP_CAST && op <= OP_REDUCE_MAX && op != OP_TANH;
    return plain || op == OP_SELECT || op == OP_COMPARE || op == OP_LOGIC || op == OP_RANGE;
}

static void add_type(Words *words, Arena *run, Str type) {
    ProfOp op = opclass_find(type);
    Str base = without_ending(type);
    Names *to = is_common(op) ? &words->lesser : &words->words;
    add_word(to, run, word_of(run, base, false));
    add_word(to, run, word_of(run, base, true));
    add_other_names(to, run, op);
}

static Words words_of(Arena *run, const ProfRun *unknown) {
    Words words = {0};
    Str rest = unknown->sequence;
    while (rest.len) {
        Str type = str_take(&rest, ' ');
        if (type.len) add_type(&words, run, type);
    }
    return words;
}

static bool has_words(const ProfReport *report, Arena *run) {
    for (uint32_t i = 0; i < report->runs.len; i++) {
        const ProfRun *at = &report->runs.at[i];
        if (at->kind == RUN_CUSTOM && words_of(run, at).words.len) return true;
    }
    return false;
}

static void look_up(ProfRun *unknown, Arena *run, const Docs *docs) {
    SearchHits hits;
    Words words = words_of(run, unknown);
    search_some(&hits, run, docs, &words.words, &words.lesser);
    for (uint32_t i = 0; i < hits.len && unknown->near_count < RUN_NEAR_MAX; i++) {
        unknown->near[unknown->near_count++] = hits.at[i].name;
    }
}

bool profile_near(ProfReport *report, Arena *run, const BookChoice *choice, Err *err) {
    Install install;
    Book *book = NEW(run, Book);
    Err why;
    if (!choice->docs_path && !has_words(report, run)) return true;
    if (!api_find(&install, run, choice, &why)) {
        if (choice->docs_path) return err_set(err, "%s", why.text);
        vec_push(run, &report->notes,
                 STR("no torch_npu is installed: operators near to the runs of unknown kind "
                     "were not looked up; name its files with --docs-path"));
        return true;
    }
    install.library = NULL; // the texts are enough, and the library takes time
    if (!book_open(book, run, &install, false, &why)) {
        if (choice->docs_path) return err_set(err, "%s", why.text);
        output_complain("operators near to runs are not looked up: %s", why.text);
        return true;
    }
    report->near_source = book_title(run, book);
    for (uint32_t i = 0; i < report->runs.len; i++) {
        if (report->runs.at[i].kind == RUN_CUSTOM) look_up(&report->runs.at[i], run, &book->docs);
    }
    return true;
}
