// notes.c - one sentence for each thing that is missing or odd, with its effect.
#include "base/base.h"

#include "prof/notes.h"

enum { AICPU_SHOWN = 10 };

const char *notes_fault_name(ProfFault fault) {
    static const char *const names[FAULT_COUNT] = {
        [FAULT_SHORT] = "cut: too few cells", [FAULT_QUOTE] = "cut inside a quoted cell",
        [FAULT_TIME] = "without a time", [FAULT_NEGATIVE] = "with a negative time",
        [FAULT_RANGE] = "with a time out of range", [FAULT_LONG] = "too long",
    };
    return names[fault];
}

static void add(ProfReport *report, Arena *arena, Str text) {
    vec_push(arena, &report->notes, text);
}

// Rows are 0-based and come behind the header: row r is line r + 2.
static void add_faults(ProfReport *report, Arena *arena) {
    const ProfFaults *faults = &report->profile->faults;
    for (int i = 0; i < FAULT_COUNT; i++) {
        if (!faults->count[i]) continue;
        add(report, arena,
            arena_printf(arena, "%llu %s left out, %s; the first is line %llu",
                         (unsigned long long)faults->count[i],
                         faults->count[i] == 1 ? "row was" : "rows were",
                         notes_fault_name((ProfFault)i),
                         (unsigned long long)faults->first_row[i] + 2));
    }
}

static void add_columns(ProfReport *report, Arena *arena) {
    const ProfHas *has = &report->profile->has;
    if (!has->in_shapes) {
        add(report, arena, STR("no shapes: a run cannot be proven, so only repeated sequences "
                               "are named; profile with profiler_level=Level1"));
    } else if (!has->out_shapes) {
        add(report, arena, STR("no output shapes: what a kernel hands on is not known, so most "
                               "runs cannot be proven"));
    }
    if (!has->pipes) {
        add(report, arena, has->arithmetic
                ? STR("bound type unknown by counters: aic_metrics=ArithmeticUtilization has no "
                      "columns of data movement; PipeUtilization has")
                : STR("bound type unknown by counters: the profile was taken without "
                      "aic_metrics=PipeUtilization"));
    }
    if (!has->stream) {
        add(report, arena, STR("no stream: the kernels of a device are taken as one sequence"));
    }
    if (!has->step) {
        add(report, arena, STR("no steps: shares are of the whole time; profile with a schedule"));
    }
    if (has->rounded) {
        add(report, arena, STR("times in exponent form: a spreadsheet dropped digits, so order "
                               "and gaps are not reliable; shares are of the kernels' time"));
    }
}

// When the third step begins; INT64_MAX: there are no three.
static int64_t third_step_ns(const Profile *profile) {
    int64_t first[3] = {INT64_MAX, INT64_MAX, INT64_MAX}; // in order
    for (uint32_t i = 0; i < profile->step_count; i++) {
        const ProfStep *step = &profile->steps[i];
        int64_t begin = step->id == PROF_NONE ? INT64_MAX : step->first_ns;
        for (int k = 0; k < 3; k++) {
            int64_t other = first[k];
            if (begin >= other) continue;
            first[k] = begin;
            begin = other;
        }
    }
    return first[2];
}

// Whether some kind's first row in the file comes so late.
static bool may_be_late(const Profile *profile, int64_t third) {
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        const ProfKind *kind = &profile->kinds[i];
        if (kind->core == CORE_COMM || kind->first_row >= profile->row_count) continue;
        if (profile->rows[kind->first_row].start_ns >= third) return true;
    }
    return false;
}

// Kinds that were first seen after the second step: shapes that keep changing. Rows may
// be out of order, so their times tell.
static uint32_t count_late_kinds(const Profile *profile, Arena *arena) {
    int64_t third = third_step_ns(profile);
    uint32_t late = 0;
    if (third == INT64_MAX || !may_be_late(profile, third)) return 0;
    bool *is_early = NEW_N(arena, bool, profile->kind_count + 1);
    bool *is_late = NEW_N(arena, bool, profile->kind_count + 1);
    for (uint32_t i = 0; i < profile->row_count; i++) {
        const ProfRow *row = &profile->rows[i];
        if (row->kind == PROF_NO_KIND) continue;
        if (row->start_ns < third) is_early[row->kind] = true;
        else is_late[row->kind] |= profile->steps[row->step].id != PROF_NONE;
    }
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        late += profile->kinds[i].core != CORE_COMM && is_late[i] && !is_early[i];
    }
    return late;
}

// "Mul at rows 14 and 844: 1,64,32 and 1,80,32"
static void add_changes(ProfReport *report, Arena *arena) {
    const ShapeChanges *changes = &report->changes;
    const Profile *profile = report->profile;
    if (!changes->count) return;
    const ShapePlace *longest = &changes->places[0];
    const ProfKind *kinds[2];
    for (int i = 0; i < 2; i++) kinds[i] = &profile->kinds[profile->rows[longest->rows[i]].kind];
    Str site = profile->row_site ? profile->sites[profile->row_site[longest->rows[0]]] : STR("");
    add(report, arena,
        arena_printf(arena, "shapes change from step to step at %u of %u places of a step, "
                     "longest %.*s%s%.*s at rows %u and %u: %.*s and %.*s; pad or bucket the "
                     "lengths", (unsigned)changes->count, (unsigned)changes->compared,
                     STR_FMT(kinds[0]->type), site.len ? " of " : "", STR_FMT(site),
                     (unsigned)longest->rows[0], (unsigned)longest->rows[1],
                     STR_FMT(kinds[0]->in_shapes), STR_FMT(kinds[1]->in_shapes)));
}

// Where all kernels are static, every new shape is compiled.
static void add_static(ProfReport *report, Arena *arena) {
    bool compiles = report->static_kinds > report->dynamic_kinds &&
                    (report->changes.count || report->late_kinds);
    if (!compiles) return;
    add(report, arena,
        arena_printf(arena, "%u of %u kinds of kernels are static (OP State): each new shape is "
                     "compiled; torch.npu.set_compile_mode(jit_compile=False) uses those that "
                     "take any shape", (unsigned)report->static_kinds,
                     (unsigned)(report->static_kinds + report->dynamic_kinds)));
}

typedef struct SlowType {
    Str type;
    uint64_t count, ns;
    uint32_t first_row;
} SlowType;

typedef VEC(SlowType) SlowTypes;

static void count_type(SlowTypes *types, Arena *arena, const ProfKind *kind) {
    uint32_t i = 0;
    while (i < types->len && !str_eq(types->at[i].type, kind->type)) i++;
    if (i == types->len) {
        vec_push(arena, types, ((SlowType){.type = kind->type, .first_row = kind->first_row}));
    }
    types->at[i].count += kind->count;
    types->at[i].ns += kind->total_ns;
}

static void add_aicpu(ProfReport *report, Arena *arena) {
    SlowTypes types = {0};
    for (uint32_t i = 0; i < report->profile->kind_count; i++) {
        const ProfKind *kind = &report->profile->kinds[i];
        if (kind->core == CORE_AICPU) count_type(&types, arena, kind);
    }
    Str text = STR("");
    for (uint32_t i = 0; i < types.len && i < AICPU_SHOWN; i++) {
        const SlowType *at = &types.at[i];
        text = arena_printf(arena, "%.*s%s%.*s (%llu call%s, %.3f ms, first at row %u)",
                            STR_FMT(text), i ? ", " : "", STR_FMT(at->type),
                            (unsigned long long)at->count, at->count == 1 ? "" : "s",
                            (double)at->ns / 1e6,
                            (unsigned)at->first_row);
    }
    if (types.len) add(report, arena, arena_printf(arena, "on the AI CPU: %.*s", STR_FMT(text)));
}

static void add_dynamic(ProfReport *report, Arena *arena) {
    uint32_t late = count_late_kinds(report->profile, arena);
    report->late_kinds = late;
    if (late) {
        add(report, arena,
            arena_printf(arena, "%u kinds of kernels come first after the second step: shapes "
                         "change from step to step, so kernels may be compiled again; pad or "
                         "bucket the lengths", (unsigned)late));
    }
    add_changes(report, arena);
    add_static(report, arena);
}

static void add_host(ProfReport *report, Arena *arena) {
    uint64_t busy = report->kernel_ns + report->comm_ns, span = report->span_ns;
    if (span == 0 || busy >= span || report->profile->lane_count > 64) return;
    double idle = 100.0 * (double)(span - busy) / (double)span;
    if (idle < 20) return;
    add(report, arena,
        arena_printf(arena, "the device is idle for at least %.1f%% of the time: the host launches "
                     "too slowly or waits; fewer kernels help here more than faster ones", idle));
}

void notes_add(ProfReport *report, Arena *arena, bool stopped) {
    const ProfChip *chip = &report->chip;
    add_faults(report, arena);
    add_columns(report, arena);
    if (chip->bytes_per_us <= 0) {
        add(report, arena, STR("the chip is not known: caps are relative, kernels and gaps now "
                               "against the kernels with the bytes of one that is fused; give "
                               "--chip, or --bandwidth and --peak"));
    }
    add_dynamic(report, arena);
    add_aicpu(report, arena);
    add_host(report, arena);
    if (stopped) {
        add(report, arena, STR("the search for repeated runs of unknown kind stopped early: the "
                               "profile has too many different sequences"));
    }
}
