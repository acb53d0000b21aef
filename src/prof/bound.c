// bound.c - the bound of a kernel by the evidence there is, in this order: where
// it ran, how short it is, its counters, its bytes and operations against the
// chip's limits. A column that is absent is never read as 0.
#include "base/base.h"

#include "prof/bound.h"
#include "prof/opclass.h"

enum { BUSY = 700000, FULL = 800000, PRESENT = 50000 }; // millionths of a core's time

static const char *const bound_names[] = {
    [BOUND_UNKNOWN] = "unknown", [BOUND_COMPUTE] = "compute", [BOUND_MEMORY] = "memory",
    [BOUND_LAUNCH] = "launch", [BOUND_COMM] = "communication", [BOUND_AICPU] = "aicpu",
};

const char *bound_name(ProfBound bound) {
    return bound_names[bound];
}

double bound_rule_of_thumb(const ProfRun *run) {
    return run->kind == RUN_FUSION && run->bound == BOUND_MEMORY ? 2 : 0;
}

const char *blend_name(RunBlend blend) {
    static const char *const names[] = {"cube-vector", "vector-vector", "small operators"};
    return names[blend];
}

// Mean of a counter in millionths; 0 and *has false where no row had it.
static uint64_t mean(const ProfKind *kind, ProfPmu pmu, bool *has) {
    const ProfSum *sum = &kind->pmu[pmu];
    *has = sum->rows > 0;
    return sum->rows ? sum->millionths / sum->rows : 0;
}

static uint64_t larger(const ProfKind *kind, ProfPmu a, ProfPmu b, bool *has) {
    bool has_a, has_b;
    uint64_t x = mean(kind, a, &has_a), y = mean(kind, b, &has_b);
    *has = has_a || has_b;
    return x > y ? x : y;
}

static double mean_us(const ProfKind *kind) {
    return kind->count ? (double)kind->total_ns / 1000.0 / (double)kind->count : 0;
}

static bool is_cube(const ProfKind *kind) {
    return kind->flops > 0 || kind->op == OP_CONV || kind->op == OP_FLASH_ATTENTION ||
           kind->op == OP_FLASH_ATTENTION_GRAD;
}

static bool by_counters(KindBound *out, const ProfKind *kind) {
    bool has_work, has_in, has_out;
    uint64_t work = is_cube(kind) ? mean(kind, PMU_MAC, &has_work)
                                  : larger(kind, PMU_VEC, PMU_MAC, &has_work);
    uint64_t in = larger(kind, PMU_MTE2, PMU_VEC_MTE2, &has_in);
    uint64_t to = larger(kind, PMU_MTE3, PMU_FIXPIPE, &has_out);
    uint64_t move = in > to ? in : to;
    // A cube at work tells by itself, whatever moves meanwhile.
    if (!has_in && has_work && is_cube(kind) && work >= FULL) {
        *out = (KindBound){BOUND_COMPUTE, 0, "mac ratio (no columns of data movement)"};
        return true;
    }
    if (!has_in || !has_work) return false;
    if (work < PRESENT && move < PRESENT) return false; // a counter that did not count
    uint64_t full = is_cube(kind) ? FULL : BUSY;
    if (work >= full && (is_cube(kind) || work >= move)) {
        *out = (KindBound){BOUND_COMPUTE, 0, !is_cube(kind) ? "vec ratio"
                                             : move >= full ? "mac ratio (mte2 busy as well)"
                                                            : "mac ratio"};
    } else if (move >= full || (!is_cube(kind) && in + to + work >= 900000 && move > work)) {
        *out = (KindBound){BOUND_MEMORY, 0, in >= to ? "mte2 ratio" : "mte3/fixpipe ratio"};
    } else {
        return false;
    }
    return true;
}

bool bound_counted_bytes(double *bytes, const ProfKind *kind) {
    static const ProfPmu pmus[] = {PMU_READ_KB, PMU_WRITE_KB, PMU_VEC_READ_KB, PMU_VEC_WRITE_KB};
    bool has_read = kind->pmu[PMU_READ_KB].rows || kind->pmu[PMU_VEC_READ_KB].rows;
    bool has_write = kind->pmu[PMU_WRITE_KB].rows || kind->pmu[PMU_VEC_WRITE_KB].rows;
    *bytes = 0;
    for (size_t i = 0; i < COUNT(pmus); i++) {
        bool has;
        *bytes += (double)mean(kind, pmus[i], &has) / 1e6 * 1024.0;
    }
    return has_read && has_write;
}

static double moved_bytes(const ProfKind *kind) {
    double bytes;
    return bound_counted_bytes(&bytes, kind) ? bytes : (double)kind->bytes;
}

static double larger_of(double a, double b) {
    return a > b ? a : b;
}

static bool by_roofline(KindBound *out, const ProfKind *kind, const ProfChip *chip) {
    double memory = chip->bytes_per_us > 0 ? moved_bytes(kind) / chip->bytes_per_us : 0;
    double compute = chip->flops_per_us > 0 ? kind->flops / chip->flops_per_us : 0;
    double roof = larger_of(memory, compute), us = mean_us(kind);
    if (roof <= 0 || us <= 0 || roof < us * 0.5 || roof > us * 1.5) return false;
    double bytes;
    bool counted = bound_counted_bytes(&bytes, kind);
    if (compute > memory) *out = (KindBound){BOUND_COMPUTE, 0, "operations from shapes"};
    else *out = (KindBound){BOUND_MEMORY, 0, counted ? "bytes counted" : "bytes from shapes"};
    return true;
}

static bool by_duration(KindBound *out, const ProfKind *kind, double launch_us) {
    if (launch_us <= 0 || mean_us(kind) > 2 * launch_us) return false;
    *out = (KindBound){BOUND_LAUNCH, 0, "duration near that of one launch"};
    return true;
}

static bool by_gaps(KindBound *out, const ProfKind *kind, const KindGaps *gaps) {
    double gap_us = gaps->count ? (double)gaps->gap_ns / 1000.0 / (double)gaps->count : 0;
    if (gap_us <= mean_us(kind)) return false;
    *out = (KindBound){BOUND_LAUNCH, 0, "the stream waits longer than it works"};
    return true;
}

static KindBound bound_of(const ProfReport *report, const ProfKind *kind, const KindGaps *gaps) {
    KindBound out = {BOUND_UNKNOWN, 0, "no counters of data movement, and no limits of the chip"};
    if (kind->core == CORE_COMM) return (KindBound){BOUND_COMM, 0, "where it ran"};
    if (kind->core == CORE_AICPU) return (KindBound){BOUND_AICPU, 0, "where it ran"};
    if (by_duration(&out, kind, report->chip.launch_us)) return out;
    if (by_counters(&out, kind)) return out;
    if (by_roofline(&out, kind, &report->chip)) return out;
    if (by_gaps(&out, kind, gaps)) return out;
    if (report->profile->has.pipes || report->chip.bytes_per_us > 0) {
        out.evidence = "neither counters nor shapes name one limit";
    }
    return out;
}

static void sum_gaps(const Profile *profile, const ProfLane *lane, KindGaps *gaps) {
    for (uint32_t i = 1; i < lane->len; i++) {
        const ProfRow *row = &profile->rows[lane->rows[i]];
        const ProfRow *before = &profile->rows[lane->rows[i - 1]];
        int64_t gap = row->start_ns - before->start_ns - (int64_t)before->duration_ns;
        KindGaps *to = &gaps[row->kind];
        to->count++;
        if (gap > 0 && row->step == before->step) to->gap_ns += (uint64_t)gap;
    }
}

void bound_kinds(ProfReport *report, Arena *arena) {
    const Profile *profile = report->profile;
    KindGaps *gaps = NEW_N(arena, KindGaps, profile->kind_count);
    report->bounds = NEW_N(arena, KindBound, profile->kind_count);
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        sum_gaps(profile, &profile->lanes[i], gaps);
    }
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        const ProfKind *kind = &profile->kinds[i];
        report->bounds[i] = bound_of(report, kind, &gaps[i]);
        double memory = report->chip.bytes_per_us > 0
                            ? (double)kind->bytes / report->chip.bytes_per_us : 0;
        double compute = report->chip.flops_per_us > 0
                             ? kind->flops / report->chip.flops_per_us : 0;
        report->bounds[i].cap_us = larger_of(memory, compute);
    }
}

static RunBlend blend_of(const ProfReport *report, const ProfRun *run) {
    if (run->flops > 0) return BLEND_CUBE_VECTOR;
    double kernels = (double)run->count * run->kernels;
    double us = (double)run->device_ns / 1000.0 / (kernels > 0 ? kernels : 1);
    double launch = report->chip.launch_us;
    return launch > 0 && us <= 3 * launch ? BLEND_SMALL : BLEND_VECTOR;
}

// What its kernels move now: counted, where all of them were.
static double bytes_now(const ProfRun *run) {
    return run->counted_bytes > 0 ? run->counted_bytes : run->bytes;
}

// Sets the cap that the sums of `run` give.
static void limit_run(ProfRun *run, const ProfChip *chip) {
    double device_us = (double)(run->device_ns + run->gap_ns) / 1000.0;
    double memory = chip->bytes_per_us > 0 ? run->external_bytes / chip->bytes_per_us : 0;
    double compute = chip->flops_per_us > 0 ? run->flops / chip->flops_per_us : 0;
    double launch = (double)run->count * chip->launch_us;
    bool known = chip->bytes_per_us > 0 && (run->flops <= 0 || chip->flops_per_us > 0);
    double roof = larger_of(larger_of(memory, compute), launch);
    if (run->external_bytes <= 0) return;
    if (known && roof > 0) {
        run->has_cap = true;
        run->roof_us = roof;
        run->cap = device_us / roof;
    } else if (bytes_now(run) > 0 && run->flops <= 0) {
        run->is_relative = run->has_cap = true;
        // At the rate of now, and with no gaps.
        run->cap = bytes_now(run) / run->external_bytes;
        if (run->device_ns) run->cap *= device_us * 1000.0 / (double)run->device_ns;
    }
    if (run->cap < 1) run->cap = 1;
}

// The cap is one for all occurrences of a pattern, also those inside a longer run.
static void share_cap(ProfReport *report, ProfRun *run) {
    ProfRun all = *run;
    for (uint32_t i = 0; i < report->runs.len; i++) {
        const ProfRun *other = &report->runs.at[i];
        bool same = other != run && run->kind == RUN_FUSION && other->kind == RUN_FUSION &&
                    other->contiguous == run->contiguous &&
                    strcmp(other->pattern, run->pattern) == 0;
        if (!same) continue;
        all.device_ns += other->device_ns;
        all.gap_ns += other->gap_ns;
        all.bytes += other->bytes;
        bool counted = all.counted_bytes > 0 && other->counted_bytes > 0;
        all.counted_bytes = counted ? all.counted_bytes + other->counted_bytes : 0;
        all.external_bytes += other->external_bytes;
        all.flops += other->flops;
        all.count += other->count;
    }
    limit_run(&all, &report->chip);
    run->cap = all.cap;
}

static ProfBound bound_of_run(const ProfRun *run, const ProfChip *chip) {
    if (run->gap_ns > run->device_ns) return BOUND_LAUNCH;
    double kernels = (double)run->count * (run->kernels ? run->kernels : 1);
    double us = (double)run->device_ns / 1000.0 / kernels;
    if (chip->launch_us > 0 && us <= 2 * chip->launch_us) return BOUND_LAUNCH;
    double intensity = run->bytes > 0 ? run->flops / run->bytes : 0;
    bool known = chip->bytes_per_us > 0 && chip->flops_per_us > 0;
    if (run->bytes <= 0) return BOUND_UNKNOWN;
    if (run->flops <= 0) return BOUND_MEMORY;
    if (!known) return BOUND_UNKNOWN;
    return intensity * chip->bytes_per_us > chip->flops_per_us ? BOUND_COMPUTE : BOUND_MEMORY;
}

// "4.97 GB": three digits are enough to read.
static Str bytes_text(Arena *arena, double bytes) {
    static const char *const units[] = {"bytes", "KB", "MB", "GB", "TB"};
    size_t unit = 0;
    for (; bytes >= 999.5 && unit + 1 < COUNT(units); unit++) bytes /= 1000;
    int decimals = unit == 0 || bytes >= 99.95 ? 0 : bytes >= 9.995 ? 1 : 2;
    return arena_printf(arena, "%.*f %s", decimals, bytes, units[unit]);
}

static Str evidence_of(Arena *arena, const ProfRun *run, const ProfChip *chip) {
    double calls = run->count ? (double)run->count : 1;
    Str text = arena_printf(arena, "%.3f us of kernels and %.3f us of gaps a call",
                            (double)run->device_ns / 1000.0 / calls,
                            (double)run->gap_ns / 1000.0 / calls);
    if (run->external_bytes > 0) {
        text = arena_printf(arena, "%.*s; by shapes %.*s a call now, %.*s when fused",
                            STR_FMT(text), STR_FMT(bytes_text(arena, run->bytes / calls)),
                            STR_FMT(bytes_text(arena, run->external_bytes / calls)));
    }
    if (run->counted_bytes > 0) {
        text = arena_printf(arena, "%.*s; counted in main memory %.*s a call", STR_FMT(text),
                            STR_FMT(bytes_text(arena, run->counted_bytes / calls)));
    }
    if (run->has_cap && !run->is_relative) {
        text = arena_printf(arena, "%.*s; at %.4g GB/s and %.4g TFLOP/s, at least %.3f us a call",
                            STR_FMT(text), chip->bytes_per_us / 1e3, chip->flops_per_us / 1e6,
                            run->roof_us / calls);
    }
    return text;
}

void bound_runs(ProfReport *report, Arena *arena) {
    for (uint32_t i = 0; i < report->runs.len; i++) {
        ProfRun *run = &report->runs.at[i];
        limit_run(run, &report->chip);
        share_cap(report, run);
        run->blend = blend_of(report, run);
        run->bound = run->kind == RUN_AFFINITY ? run->bound : bound_of_run(run, &report->chip);
        double ns = (double)(run->device_ns + run->gap_ns);
        run->share = report->span_ns ? ns / (double)report->span_ns : 0;
        if (run->share > 1) run->share = 1;
        bool amdahl = run->has_cap && run->cap > 0 && !run->part_of;
        run->step_speedup = amdahl ? 1 / (1 - run->share * (1 - 1 / run->cap)) : 0;
        run->evidence = evidence_of(arena, run, &report->chip);
    }
}
