// profile.h - the rows of a kernel profile: what ran on the device, when, on
// what shapes.
//
// A profile of a million rows has some hundred different kernels: one ProfKind
// each, with its name, shapes and sums. A row is 24 bytes and names its kind.
// Times are integer nanoseconds: a double cannot hold the time of day in them.
// All that a Profile points at lives in the arena given to the reader.
#ifndef NPUFUSE_PROFILE_H
#define NPUFUSE_PROFILE_H

#include "base/arena.h"
#include "base/err.h"

enum { PROF_MAX_RANK = 12, PROF_MAX_TENSORS = 24, PROF_NONE = -1 };

// Where a kernel ran.
typedef enum ProfCore {
    CORE_UNKNOWN, // no such column, or N/A
    CORE_CUBE,    // AI_CORE: the matrix unit, on chips with one kind of core any
    CORE_VECTOR,
    CORE_MIX,     // MIX_AIC, MIX_AIV
    CORE_AICPU,
    CORE_COMM,    // HCCL, COMMUNICATION: never part of a run
    CORE_OTHER,   // DSA, DVPP, memory copies
} ProfCore;

typedef enum ProfDtype {
    DT_NONE, DT_BOOL, DT_INT8, DT_UINT8, DT_INT16, DT_UINT16, DT_FP16, DT_BF16,
    DT_INT32, DT_UINT32, DT_FP32, DT_INT64, DT_UINT64, DT_FP64, DT_COMPLEX64,
    DT_COMPLEX128, DT_OTHER,
} ProfDtype;

typedef struct ProfTensor {
    int64_t dims[PROF_MAX_RANK];
    uint64_t count; // elements; 1 for a scalar
    uint8_t rank;
    uint8_t dtype;    // ProfDtype
    bool is_absent;   // an optional input that was not given
    bool is_tiled;    // FRACTAL_NZ on the device; dims are the plain ones again
} ProfTensor;

// The columns of the performance counters; aic_ and aiv_ are kept apart, the
// chips with one kind of core fill the first of a pair.
typedef enum ProfPmu {
    PMU_MAC, PMU_CUBE_SCALAR, PMU_MTE1, PMU_MTE2, PMU_FIXPIPE, // of the cube core
    PMU_VEC, PMU_VEC_SCALAR, PMU_VEC_MTE2, PMU_MTE3,           // of the vector core
    PMU_CUBE_USE, // cube_utilization(%), 0..100
    PMU_READ_KB, PMU_WRITE_KB, // main memory, with aic_metrics=MemoryAccess
    PMU_VEC_READ_KB, PMU_VEC_WRITE_KB, // the same of the vector core
    PMU_COUNT,
} ProfPmu;

typedef struct ProfSum {
    uint64_t millionths; // sum over `rows`
    uint64_t rows;       // that had a number; a sample of the rows of the kind
} ProfSum;

// One kind of kernel: equal name, type, core, state, shapes, dtypes, formats.
typedef struct ProfKind {
    Str name, type;      // type: by the name where the column says N/A
    Str in_shapes, out_shapes, in_dtypes, out_dtypes; // as in the file, unquoted
    ProfCore core;
    uint16_t op;         // ProfOp, the folded type
    bool is_dynamic, has_state; // OP State
    bool has_shapes;
    uint8_t in_count, out_count;
    ProfTensor *in, *out;
    uint64_t bytes;      // inputs and outputs once
    double flops;        // of a matrix product, else 0
    uint64_t count, total_ns, min_ns, max_ns;
    uint32_t first_row;
    ProfSum pmu[PMU_COUNT];
} ProfKind;

typedef struct ProfRow {
    int64_t start_ns;
    uint64_t duration_ns : 44; // up to 4.8 hours
    uint64_t step : 20;        // index into steps
    uint32_t kind;             // index into kinds; PROF_NO_KIND: the line was bad
    uint16_t lane;             // index into lanes
    uint16_t flags;
} ProfRow;

#define PROF_NO_KIND UINT32_MAX

// The kernels of one stream of one device in the order of time, communication
// left out.
typedef struct ProfLane {
    int64_t device, stream; // PROF_NONE: not said
    bool is_comm;           // communication alone; rows is empty
    uint32_t *rows;         // indices into Profile.rows
    uint32_t *kinds;        // of these rows
    uint32_t len;
} ProfLane;

typedef struct ProfStep {
    int64_t id;      // PROF_NONE: outside of steps, or no such column
    int64_t first_ns, last_ns; // from the first start to the last end
    uint64_t busy_ns;          // sum of the durations that are no communication
} ProfStep;

// What was wrong with lines: the first of a sort is kept with its line.
typedef enum ProfFault {
    FAULT_SHORT,    // too few cells
    FAULT_QUOTE,    // cut inside a quoted cell
    FAULT_TIME,     // no start, or no number
    FAULT_NEGATIVE,
    FAULT_RANGE,    // a time too large to hold
    FAULT_LONG,     // a line longer than the limit, or too many cells
    FAULT_COUNT,
} ProfFault;

typedef struct ProfFaults {
    uint64_t count[FAULT_COUNT];
    uint32_t first_row[FAULT_COUNT];
} ProfFaults;

// What the header has.
typedef struct ProfHas {
    bool step, device, stream, type, core, state, in_shapes, out_shapes, in_dtypes,
        out_dtypes, formats, wait, pipes, arithmetic, memory_bytes, tab, bom, crlf;
    bool rounded; // times in exponent form: a spreadsheet dropped digits
    bool split;   // aic_ and aiv_ columns: a chip with two kinds of core
} ProfHas;

typedef struct Profile {
    ProfRow *rows; // in the order of the file; index = 0-based data row
    uint32_t row_count;
    ProfKind *kinds; // by their first row
    uint32_t kind_count;
    ProfLane *lanes; // by their first row
    uint32_t lane_count;
    ProfStep *steps; // by their first row
    uint32_t step_count;
    ProfHas has;
    ProfFaults faults;
    // Filled where a trace is there; NULL: not known.
    const uint32_t *row_module; // per row, index into modules; 0: none
    const Str *modules;         // paths, modules[0] is empty
    const uint32_t *row_site;   // per row, index into sites; 0: none
    const Str *sites;           // file.py:line, sites[0] is empty
} Profile;

typedef struct ProfRead {
    const char *path;
    uint32_t jobs; // threads; 0: one for each processor
    void (*progress)(void *data, uint32_t done, uint32_t count); // or NULL
    void *data;
} ProfRead;

// Reads one kernel_details*.csv or op_summary*.csv of any dialect. Bad lines are
// counted in `faults` and keep their place; fails only where nothing can be read.
MUST_CHECK bool profile_read(Profile *out, Arena *arena, const ProfRead *read,
                             Err *err);
// The text a tensor has in reports: "[1,2048,4096] bf16".
Str prof_tensor_text(Arena *arena, const ProfTensor *tensor);
const char *prof_dtype_name(ProfDtype dtype);
// Bytes of one element; 0 where it is not known.
uint32_t prof_dtype_bytes(ProfDtype dtype);
uint64_t prof_tensor_bytes(const ProfTensor *tensor);

#endif
