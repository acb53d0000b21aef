// pair.c - see pair.h. Which kernels compute a run in one is a table: their types are
// the operators' own names.
#include "base/base.h"

#include "prof/pair.h"

#include <math.h>
#include <stdlib.h>

enum { FUSED_MAX = 4 };

// The kernels of the fused operator of a run; a type may end in a version ("V2").
static const struct {
    const char *pattern, *types[FUSED_MAX];
} fused_kernels[] = {
    {"rms_norm", {"RmsNorm", "AddRmsNorm"}},
    {"rms_norm_bwd", {"RmsNormGrad"}},
    {"add_rms_norm", {"AddRmsNorm", "InplaceAddRmsNorm"}},
    {"rotary_mul", {"RotaryPositionEmbedding", "RotaryMul", "ApplyRotaryPosEmb", "InterleaveRope"}},
    {"rotary_mul_bwd", {"RotaryPositionEmbeddingGrad", "RotaryMulGrad"}},
    {"swiglu", {"SwiGlu"}},
    {"swiglu_bwd", {"SwiGluGrad"}},
    {"geglu", {"GeGlu"}},
    {"geglu_bwd", {"GeGluGrad"}},
    {"fusion_attention", {"FlashAttentionScore", "FusedInferAttentionScore",
                          "PromptFlashAttention"}},
    {"fusion_attention_bwd", {"FlashAttentionScoreGrad"}},
    {"gelu", {"Gelu"}},
    {"gelu_bwd", {"GeluGrad"}},
    {"quick_gelu", {"FastGelu"}},
    {"scaled_masked_softmax", {"ScaledMaskedSoftmax"}},
    {"scaled_masked_softmax_bwd", {"ScaledMaskedSoftmaxGrad"}},
    {"moe_token_permute", {"MoeTokenPermute"}},
    {"moe_token_unpermute", {"MoeTokenUnpermute"}},
    {"confusion_transpose", {"ConfusionTranspose", "ConfusionTransposeD"}},
    {"layer_norm", {"LayerNorm"}},
    {"add_layer_norm", {"AddLayerNorm"}},
    {"group_norm_silu", {"GroupNormSilu"}},
    {"fused_adamw", {"ApplyAdamW"}},
};

const char *pair_fate_name(PairFate fate) {
    static const char *const names[] = {
        [FATE_FUSED] = "fused", [FATE_ABSENT] = "absent", [FATE_GONE] = "gone",
    };
    return names[fate];
}

typedef VEC(PairEntry) Entries;

static uint32_t entry_of(Entries *list, Arena *arena, Str name) {
    for (uint32_t i = 0; i < list->len; i++) {
        if (str_eq(list->at[i].name, name)) return i;
    }
    vec_push(arena, list, (PairEntry){.name = name});
    return list->len - 1;
}

static void add(PairSide *side, double calls, double us, uint32_t row) {
    if (side->calls <= 0) side->first_row = row;
    side->calls += calls;
    side->us += us;
}

static uint32_t count_steps(const Profile *profile) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < profile->step_count; i++) {
        count += profile->steps[i].id != PROF_NONE;
    }
    return count ? count : 1;
}

// Rows outside of steps count where no row is inside of one.
static bool is_counted(const Profile *profile, const ProfRow *row, bool has_steps) {
    if (row->kind == PROF_NO_KIND) return false;
    if (profile->kinds[row->kind].core == CORE_COMM) return false;
    return !has_steps || profile->steps[row->step].id != PROF_NONE;
}

static bool has_steps(const Profile *profile) {
    for (uint32_t i = 0; i < profile->step_count; i++) {
        if (profile->steps[i].id != PROF_NONE) return true;
    }
    return false;
}

// "Model_0/Layer_3/Norm_7" -> "Norm": instances are numbered anew in each run.
static Str class_of(Str module) {
    while (memchr(module.at, '/', module.len)) str_take(&module, '/');
    size_t len = module.len;
    while (len && module.at[len - 1] >= '0' && module.at[len - 1] <= '9') len--;
    if (len && len < module.len && module.at[len - 1] == '_') module.len = len - 1;
    return module;
}

typedef struct Sums {
    Arena *arena;
    Entries kernels, modules;
} Sums;

// The entry of each kind of kernel: there are few kinds and many rows.
static uint32_t *entries_of_kinds(Sums *sums, const Profile *profile) {
    uint32_t *entries = NEW_N(sums->arena, uint32_t, profile->kind_count + 1);
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        if (profile->kinds[i].core == CORE_COMM) continue;
        entries[i] = entry_of(&sums->kernels, sums->arena, profile->kinds[i].type);
    }
    return entries;
}

static void sum_side(Sums *sums, const Profile *profile, int side) {
    bool stepped = has_steps(profile);
    double steps = count_steps(profile);
    const uint32_t *entries = entries_of_kinds(sums, profile);
    for (uint32_t i = 0; i < profile->row_count; i++) {
        const ProfRow *row = &profile->rows[i];
        if (!is_counted(profile, row, stepped)) continue;
        double us = (double)row->duration_ns / 1e3 / steps;
        add(&sums->kernels.at[entries[row->kind]].side[side], 1 / steps, us, i);
        if (!profile->row_module) continue;
        Str module = class_of(profile->modules[profile->row_module[i]]);
        if (!module.len) continue;
        uint32_t at = entry_of(&sums->modules, sums->arena, module);
        add(&sums->modules.at[at].side[side], 1 / steps, us, i);
    }
}

static int by_change(const void *a, const void *b) {
    const PairEntry *x = a, *y = b;
    double left = fabs(x->side[1].us - x->side[0].us), right = fabs(y->side[1].us - y->side[0].us);
    if (left > right || left < right) return left > right ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static bool is_type(Str name, const char *type) {
    size_t len = strlen(type);
    if (!str_starts(name, type)) return false;
    if (name.len == len) return true;
    if (name.at[len] != 'V') return false;
    for (size_t i = len + 1; i < name.len; i++) {
        if (name.at[i] < '0' || name.at[i] > '9') return false;
    }
    return name.len > len + 1;
}

static void add_fused(PairRun *run, const Entries *kernels, const char *type) {
    for (uint32_t i = 0; i < kernels->len; i++) {
        const PairEntry *kernel = &kernels->at[i];
        if (!is_type(kernel->name, type)) continue;
        for (int s = 0; s < 2; s++) {
            add(&run->fused[s], kernel->side[s].calls, kernel->side[s].us,
                kernel->side[s].first_row);
        }
        if (kernel->side[1].calls > 0) run->kernel = kernel->name;
    }
}

static void find_fused(PairRun *run, const Entries *kernels) {
    for (size_t i = 0; i < COUNT(fused_kernels); i++) {
        if (!str_is(run->entry.name, fused_kernels[i].pattern)) continue;
        const char *const *types = fused_kernels[i].types;
        for (int t = 0; t < FUSED_MAX && types[t]; t++) add_fused(run, kernels, types[t]);
        // A norm that was fused without its sum counts where no kernel has both.
        bool without_sum = run->fused[1].calls <= 0 &&
                           str_is(run->entry.name, "add_rms_norm");
        if (without_sum) add_fused(run, kernels, "RmsNorm");
        if (!run->kernel.len) run->kernel = str_of(types[0]);
    }
}

static PairFate fate_of(const PairRun *run) {
    const double more = 0.01; // of a call a step
    if (run->fused[1].calls > run->fused[0].calls + more) return FATE_FUSED;
    if (run->entry.side[1].calls < run->entry.side[0].calls - more) return FATE_GONE;
    return FATE_ABSENT;
}

static void sum_runs(Entries *out, Arena *arena, const ProfReport *report, int side) {
    double steps = count_steps(report->profile);
    for (uint32_t i = 0; i < report->runs.len; i++) {
        const ProfRun *run = &report->runs.at[i];
        if (run->kind != RUN_FUSION || run->part_of || !run->api || !run->count) continue;
        uint32_t at = entry_of(out, arena, str_of(run->pattern));
        add(&out->at[at].side[side], run->count / steps,
            (double)(run->device_ns + run->gap_ns) / 1e3 / steps, run->at[0].first);
    }
}

static Str api_of(const ProfReport *report, Str pattern) {
    for (uint32_t i = 0; i < report->runs.len; i++) {
        if (str_is(pattern, report->runs.at[i].pattern)) return str_of(report->runs.at[i].api);
    }
    return STR("");
}

static void compare_runs(PairReport *out, Arena *arena, const ProfReport *base,
                         const ProfReport *other, const Entries *kernels) {
    Entries runs = {0};
    sum_runs(&runs, arena, base, 0);
    sum_runs(&runs, arena, other, 1);
    for (uint32_t i = 0; i < runs.len; i++) {
        PairRun run = {.entry = runs.at[i], .api = api_of(base, runs.at[i].name)};
        if (run.entry.side[0].calls <= 0) continue;
        find_fused(&run, kernels);
        run.fate = fate_of(&run);
        vec_push(arena, &out->runs, run);
    }
}

void pair_compare(PairReport *out, Arena *arena, const ProfReport *base,
                  const ProfReport *other) {
    const ProfReport *reports[] = {base, other};
    Sums sums = {.arena = arena};
    *out = (PairReport){.has_modules = base->profile->row_module && other->profile->row_module};
    for (int s = 0; s < 2; s++) {
        out->steps[s] = count_steps(reports[s]->profile);
        out->step_us[s] = (double)reports[s]->span_ns / 1e3 / out->steps[s];
        sum_side(&sums, reports[s]->profile, s);
    }
    compare_runs(out, arena, base, other, &sums.kernels);
    if (sums.kernels.len) qsort(sums.kernels.at, sums.kernels.len, sizeof(PairEntry), by_change);
    if (sums.modules.len) qsort(sums.modules.at, sums.modules.len, sizeof(PairEntry), by_change);
    for (uint32_t i = 0; i < sums.kernels.len; i++) {
        vec_push(arena, &out->kernels, sums.kernels.at[i]);
    }
    for (uint32_t i = 0; out->has_modules && i < sums.modules.len; i++) {
        vec_push(arena, &out->modules, sums.modules.at[i]);
    }
}
