// kinds.c - a hash table over the cells that make a kind. Kernels come in the
// same order over and over, so the kind that followed last time is tried first.
#include "base/base.h"

#include "prof/kinds.h"
#include "prof/opclass.h"
#include "prof/tensors.h"

enum { FIRST_SLOTS = 1024, GUESS_BITS = 13 };

void kinds_init(KindTable *table) {
    *table = (KindTable){.last = PROF_NO_KIND, .cap = FIRST_SLOTS};
    arena_init(&table->arena);
    table->slots = NEW_N(&table->arena, uint32_t, table->cap);
    table->guesses = NEW_N(&table->arena, uint32_t, 1u << GUESS_BITS);
}

void kinds_free(KindTable *table) {
    arena_free(&table->arena);
    *table = (KindTable){0};
}

static inline uint64_t load8(const char *at) {
    uint64_t word;
    memcpy(&word, at, 8);
    return word;
}

static inline uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

#define MIX_1 UINT64_C(0x9E3779B97F4A7C15)
#define MIX_2 UINT64_C(0xC2B2AE3D27D4EB4F)

static uint64_t hash_part(uint64_t hash, Str part) {
    const char *at = part.at;
    size_t left = part.len;
    for (; left >= 16; at += 16, left -= 16) {
        hash = fold(load8(at) ^ MIX_1 ^ hash, load8(at + 8) ^ MIX_2);
    }
    char tail[16] = {0};
    if (left) memcpy(tail, at, left);
    return fold(load8(tail) ^ MIX_2 ^ hash, load8(tail + 8) ^ MIX_1 ^ part.len);
}

static bool is_same(const KindTally *tally, const KindKey *key) {
    const char *at = tally->key;
    for (uint32_t i = 0; i < key->count; i++) {
        if (tally->span_len[i] != key->part[i].len) return false;
    }
    for (uint32_t i = 0; i < key->count; i++) {
        if (memcmp(at, key->part[i].at, key->part[i].len) != 0) return false;
        at += key->part[i].len;
    }
    return true;
}

static void place(KindTable *table, uint32_t index) {
    uint32_t slot = (uint32_t)table->tallies.at[index].hash & (table->cap - 1);
    while (table->slots[slot]) slot = (slot + 1) & (table->cap - 1);
    table->slots[slot] = index + 1;
}

static void grow(KindTable *table) {
    table->cap *= 2;
    table->slots = NEW_N(&table->arena, uint32_t, table->cap);
    for (uint32_t i = 0; i < table->tallies.len; i++) place(table, i);
}

static uint32_t add(KindTable *table, KindTally tally) {
    if (table->tallies.len * 2 >= table->cap) grow(table);
    vec_push(&table->arena, &table->tallies, tally);
    place(table, table->tallies.len - 1);
    return table->tallies.len - 1;
}

static uint32_t add_key(KindTable *table, const KindKey *key, uint64_t hash) {
    KindTally tally = {.hash = hash, .follower = PROF_NO_KIND,
                       .min_ns = UINT64_MAX};
    for (uint32_t i = 0; i < key->count; i++) tally.key_len += (uint32_t)key->part[i].len;
    char *bytes = arena_alloc(&table->arena, tally.key_len + CELLS_SLACK);
    tally.key = bytes;
    for (uint32_t i = 0; i < key->count; i++) {
        memcpy(bytes, key->part[i].at, key->part[i].len);
        bytes += key->part[i].len;
        tally.span_len[i] = (uint16_t)key->part[i].len;
    }
    return add(table, tally);
}

static uint32_t find(KindTable *table, const KindKey *key) {
    uint64_t hash = 0;
    for (uint32_t i = 0; i < key->count; i++) hash = hash_part(hash, key->part[i]);
    uint32_t slot = (uint32_t)hash & (table->cap - 1);
    for (; table->slots[slot]; slot = (slot + 1) & (table->cap - 1)) {
        const KindTally *tally = &table->tallies.at[table->slots[slot] - 1];
        if (tally->hash == hash && is_same(tally, key)) return table->slots[slot] - 1;
    }
    return add_key(table, key, hash);
}

static uint32_t *guess_slot(const KindTable *table) {
    return &table->guesses[table->history * MIX_1 >> (64 - GUESS_BITS)];
}

uint32_t kinds_guess(const KindTable *table, uint32_t nth) {
    if (table->last == PROF_NO_KIND) return PROF_NO_KIND;
    uint32_t guess = *guess_slot(table);
    return nth == 0 && guess ? guess - 1 : table->tallies.at[table->last].follower;
}

void kinds_take(KindTable *table, uint32_t kind) {
    *guess_slot(table) = kind + 1;
    if (table->last != PROF_NO_KIND) table->tallies.at[table->last].follower = kind;
    table->history = table->history << 16 | (kind & UINT16_MAX);
    table->last = kind;
}

static bool is_follower(const KindTable *table, uint32_t follower, const KindKey *key) {
    return follower != PROF_NO_KIND && is_same(&table->tallies.at[follower], key);
}

uint32_t kinds_intern(KindTable *table, const KindKey *key) {
    uint32_t first = kinds_guess(table, 0), second = kinds_guess(table, 1), kind;
    if (is_follower(table, first, key)) kind = first;
    else kind = is_follower(table, second, key) ? second : find(table, key);
    kinds_take(table, kind);
    return kind;
}

static void add_sums(KindTally *into, const KindTally *from) {
    into->count += from->count;
    into->total_ns += from->total_ns;
    if (from->first < into->first) into->first = from->first;
    if (from->min_ns < into->min_ns) into->min_ns = from->min_ns;
    if (from->max_ns > into->max_ns) into->max_ns = from->max_ns;
    for (int i = 0; i < PMU_COUNT; i++) {
        into->pmu[i].millionths += from->pmu[i].millionths;
        into->pmu[i].rows += from->pmu[i].rows;
    }
}

uint32_t kinds_merge(KindTable *table, const KindTally *from) {
    uint32_t slot = (uint32_t)from->hash & (table->cap - 1);
    for (; table->slots[slot]; slot = (slot + 1) & (table->cap - 1)) {
        KindTally *tally = &table->tallies.at[table->slots[slot] - 1];
        bool same = tally->hash == from->hash && tally->key_len == from->key_len &&
                    memcmp(tally->span_len, from->span_len, sizeof(from->span_len)) == 0 &&
                    memcmp(tally->key, from->key, from->key_len) == 0;
        if (!same) continue;
        add_sums(tally, from);
        return table->slots[slot] - 1;
    }
    return add(table, *from);
}

// The key of a kind, taken apart.
typedef struct KindCells {
    const Columns *columns;
    Str spans[COLUMNS_MAX_SPANS];
    Cells cells[COLUMNS_MAX_SPANS];
} KindCells;

static void split_key(KindCells *out, const KindTally *tally, const Columns *columns) {
    const char *at = tally->key;
    out->columns = columns;
    for (uint32_t i = 0; i < columns->span_count; i++) {
        out->spans[i] = (Str){at, tally->span_len[i]};
        cells_split(&out->cells[i], out->spans[i], columns->separator);
        at += tally->span_len[i];
    }
}

// The cell of `column`, stripped; empty where there is none.
static Str cell_of(const KindCells *key, Column column) {
    int cell = key->columns->at[column];
    for (uint32_t i = 0; i < key->columns->span_count && cell != PROF_NONE; i++) {
        CellSpan span = key->columns->spans[i];
        if (cell < span.first || cell > span.last) continue;
        uint32_t index = (uint32_t)cell - span.first;
        if (index >= key->cells[i].count) return STR("");
        return cells_text(&key->cells[i], key->spans[i], index);
    }
    return STR("");
}

static const struct {
    const char *name;
    ProfCore core;
} cores[] = {
    {"AI_CORE", CORE_CUBE}, {"AIC", CORE_CUBE}, {"AI_VECTOR_CORE", CORE_VECTOR},
    {"AIV", CORE_VECTOR}, {"MIX_AIC", CORE_MIX}, {"MIX_AIV", CORE_MIX},
    {"MIXED_AIC", CORE_MIX}, {"MIXED_AIV", CORE_MIX}, {"AI_CPU", CORE_AICPU},
    {"AICPU", CORE_AICPU}, {"HCCL", CORE_COMM}, {"COMMUNICATION", CORE_COMM},
    {"CCU", CORE_COMM}, {"HCCL_AI_CPU", CORE_COMM}, {"", CORE_UNKNOWN}, {"N/A", CORE_UNKNOWN},
};

static ProfCore core_of(Str text, Str name) {
    for (size_t i = 0; i < COUNT(cores); i++) {
        if (!str_is(text, cores[i].name)) continue;
        bool comm = cores[i].core == CORE_UNKNOWN && (str_starts(name, "hcom_") ||
                                                      str_starts(name, "Hccl"));
        return comm ? CORE_COMM : cores[i].core;
    }
    return CORE_OTHER;
}

// Without a type, the last part of the name tells: aclnnMul_MulAiCore_Mul. Old
// graph mode has a number there, and what a pass did in front: trans_Cast_5.
static Str type_by_name(Str name) {
    Str rest = name, part = name;
    while (rest.len) {
        Str next = str_take(&rest, '_');
        bool number = next.len && next.at[0] >= '0' && next.at[0] <= '9';
        if (next.len && !number) part = next;
    }
    while (part.len > 1 && part.at[part.len - 1] >= '0' && part.at[part.len - 1] <= '9' &&
           part.at[part.len - 2] != 'V') {
        part.len--;
    }
    return part;
}

static Str keep(Arena *arena, Str text) {
    return (Str){arena_cstr(arena, text), text.len};
}

static bool is_na(Str text) {
    return text.len == 0 || str_is(text, "N/A");
}

static void describe_tensors(ProfKind *out, Arena *arena, const KindCells *key) {
    TensorCells in = {out->in_shapes, out->in_dtypes, cell_of(key, COL_IN_FORMATS)};
    TensorCells to = {out->out_shapes, out->out_dtypes, cell_of(key, COL_OUT_FORMATS)};
    out->in = tensors_read(&out->in_count, arena, &in);
    out->out = tensors_read(&out->out_count, arena, &to);
    out->has_shapes = out->in_count > 0 || out->out_count > 0;
    for (uint32_t i = 0; i < out->in_count; i++) out->bytes += prof_tensor_bytes(&out->in[i]);
    for (uint32_t i = 0; i < out->out_count; i++) out->bytes += prof_tensor_bytes(&out->out[i]);
}

void kinds_describe(ProfKind *out, Arena *arena, const KindTally *tally,
                    const Columns *columns) {
    KindCells key;
    split_key(&key, tally, columns);
    Str state = cell_of(&key, COL_STATE);
    *out = (ProfKind){
        .name = keep(arena, cell_of(&key, COL_NAME)),
        .type = keep(arena, cell_of(&key, COL_TYPE)),
        .in_shapes = keep(arena, cell_of(&key, COL_IN_SHAPES)),
        .out_shapes = keep(arena, cell_of(&key, COL_OUT_SHAPES)),
        .in_dtypes = keep(arena, cell_of(&key, COL_IN_DTYPES)),
        .out_dtypes = keep(arena, cell_of(&key, COL_OUT_DTYPES)),
        .has_state = !is_na(state),
        .is_dynamic = str_is(state, "dynamic"),
        .count = tally->count,
        .total_ns = tally->total_ns,
        .min_ns = tally->min_ns,
        .max_ns = tally->max_ns,
    };
    if (is_na(out->type)) out->type = type_by_name(out->name);
    out->core = core_of(cell_of(&key, COL_CORE), out->name);
    if (out->core != CORE_COMM) out->op = (uint16_t)opclass_find(out->type);
    memcpy(out->pmu, tally->pmu, sizeof(out->pmu));
    describe_tensors(out, arena, &key);
    opclass_refine(out);
    out->flops = opclass_flops(out);
}
