// runs.h - what mining a profile finds: runs of kernels that one fused operator
// can replace, and for each kernel what bounds it.
//
// A run is proven by the flow of shapes and dtypes from kernel to kernel; the
// types only name the operators. All lives in the arena given to runs_mine.
#ifndef NPUFUSE_RUNS_H
#define NPUFUSE_RUNS_H

#include "prof/profile.h"

typedef enum RunKind {
    RUN_FUSION,   // a known run with a fused operator
    RUN_AFFINITY, // kernels that the chip is slow at, with another way to write them
    RUN_CUSTOM,   // hot, repeated, and no operator is known
} RunKind;

typedef enum RunDirection { RUN_FORWARD, RUN_BACKWARD, RUN_OPTIMIZER, RUN_ANY } RunDirection;

typedef enum ProfBound {
    BOUND_UNKNOWN, BOUND_COMPUTE, BOUND_MEMORY, BOUND_LAUNCH, BOUND_COMM, BOUND_AICPU,
} ProfBound;

// What the kernels of a run are: says what fusing saves.
typedef enum RunBlend { BLEND_CUBE_VECTOR, BLEND_VECTOR, BLEND_SMALL } RunBlend;

// Limits of the chip. 0: not known, then there are no caps in absolute time.
typedef struct ProfChip {
    Str name;
    double bytes_per_us, flops_per_us, launch_us;
} ProfChip;

typedef struct RunRange {
    uint32_t first, last; // 0-based data rows of the file, both inside
} RunRange;

enum { RUN_NEAR_MAX = 3 };

// The occurrences of a run on equal shapes.
typedef struct RunVariant {
    Str shape;
    uint64_t count, device_ns, gap_ns;
} RunVariant;

typedef struct ProfRun {
    RunKind kind;
    const char *pattern; // a rule id; "custom" for RUN_CUSTOM
    const char *api, *note;
    const char *part_of; // the pattern of the longer run around it, or NULL
    RunDirection direction;
    bool contiguous;
    bool module_inferred; // no trace: the boundary is by repetition
    Str module, site;     // of the first occurrence, where a trace says so
    RunRange *at;         // by first row
    uint32_t count;
    uint32_t kernels;     // of the first occurrence
    Str sequence;         // types of the first occurrence
    uint64_t device_ns, gap_ns;
    double bytes, external_bytes, flops;
    double counted_bytes; // of main memory, by counters; 0 where not all kernels have them
    ProfBound bound;
    RunBlend blend;
    bool has_cap, is_relative; // relative: to the rate of now, the chip unknown
    double cap, roof_us;  // roof_us: the time no fused kernel can beat
    double share;         // of the steps' time
    double step_speedup;  // Amdahl, with the cap
    Str evidence;
    RunVariant *variants;
    uint32_t variant_count;
    Str near[RUN_NEAR_MAX]; // of RUN_CUSTOM: operators whose texts speak of its kernels
    uint32_t near_count;
} ProfRun;

typedef struct KindBound {
    ProfBound bound;
    double cap_us; // the time of one call by the chip's limits; 0: not known
    const char *evidence;
} KindBound;

typedef struct ProfNote {
    Str text;
} ProfNote;

enum { SHAPE_PLACES = 20 };

// A call site whose shapes change: one place of the steps, or kernels of one name.
typedef struct ShapePlace {
    uint32_t rows[3]; // with different shapes
    uint32_t shapes;  // different ones, 16 are told apart
    uint32_t steps;   // that were compared
    bool by_name;
    uint64_t device_ns;
} ShapePlace;

typedef struct ShapeChanges {
    ShapePlace *places; // the longest of them
    uint32_t place_count;
    uint32_t count, compared, steps; // places that change, of so many, in at most so many steps
} ShapeChanges;

typedef struct ProfReport {
    const Profile *profile;
    ProfChip chip;
    VEC(ProfRun) runs;    // by attributed time, longest first
    KindBound *bounds;    // one per kind of the profile
    uint64_t kernel_ns;   // of all kernels but communication
    uint64_t comm_ns, span_ns; // span: the steps' time, or from first to last
    uint64_t claimed_ns;  // device time of the runs, each row once
    uint32_t dynamic_kinds, static_kinds;
    ShapeChanges changes;
    uint32_t late_kinds;  // first seen after the second step
    Str near_source;      // where operators near to runs were looked up; empty: nowhere
    VEC(Str) notes;       // what was skipped or is missing, with its effect
} ProfReport;

typedef struct MineOptions {
    ProfChip chip;
    uint32_t custom_max; // hot unknown runs to report
    uint32_t jobs;
} MineOptions;

void runs_mine(ProfReport *out, Arena *arena, const Profile *profile,
               const MineOptions *options);

#endif
