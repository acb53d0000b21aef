// trace.h - what a trace of the host adds to the kernels of a profile: the
// modules and the source lines that they come from.
//
// The way from a kernel to its source: the flow that ends at the kernel's start
// begins in the operator that launched it; that stands inside the spans of its
// modules and of its Python functions. A backward operator has no such spans: its
// sequence number names the forward operator that it belongs to.
#ifndef NPUFUSE_TRACE_H
#define NPUFUSE_TRACE_H

#include "prof/events.h"
#include "prof/profile.h"

typedef struct TraceOptions {
    const char *path;
    void (*progress)(void *data, uint32_t done, uint32_t count); // or NULL
    void *data;
} TraceOptions;

enum { TRACE_OPTIMIZERS = 8, OPTIMIZER_NAME = 32 };

// An optimizer whose steps the trace has: "AdamW" of Optimizer.step#AdamW.step.
typedef struct TraceOptimizer {
    char name[OPTIMIZER_NAME];
    uint64_t steps;
} TraceOptimizer;

typedef struct TraceLink {
    EventStats events;
    uint64_t ops, frames, flows; // operators of the host, spans of Python, launches
    uint32_t rows;      // kernels whose launch was found
    uint32_t with_module, with_site;
    uint32_t by_forward; // kernels of the backward, by their forward operator
    uint64_t compiles;   // calls that compile a kernel before they run it
    TraceOptimizer optimizers[TRACE_OPTIMIZERS];
    uint32_t optimizer_count;
} TraceLink;

// Fills row_module, modules, row_site and sites of `profile`, in `arena`. They stay
// NULL where the trace has nothing of the kind.
MUST_CHECK bool trace_link(TraceLink *out, Profile *profile, Arena *arena,
                           const TraceOptions *options, Err *err);

typedef struct TraceKernels {
    EventStats events;
    uint64_t kernels;
} TraceKernels;

// The kernels of the device's lanes as a kernel_details.csv at `csv`, for where the
// trace is all that there is. A trace has no shapes.
MUST_CHECK bool trace_write_kernels(TraceKernels *out, const char *csv,
                                    const TraceOptions *options, Err *err);

#endif
