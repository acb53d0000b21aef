// trace_impl.h - the parts of a trace that its readers share: what was collected,
// in ids of texts.
#ifndef NPUFUSE_TRACE_IMPL_H
#define NPUFUSE_TRACE_IMPL_H

#include "base/sym.h"
#include "prof/trace.h"

// Texts by number; 0 is the empty one.
typedef struct TextTable {
    SymTable syms;
    VEC(const Sym *) list;
} TextTable;

typedef enum SpanKind { SPAN_MODULE, SPAN_CODE, SPAN_OP } SpanKind;

// A span of a thread of the host.
typedef struct TraceSpan {
    int64_t start, end;
    uint32_t thread;
    uint32_t text;   // of a module its name; of code file:line; of an operator the
                     // line that its own call stack names
    uint32_t module; // of an operator: its own module hierarchy
    uint32_t kind;   // SpanKind
    int64_t sequence; // of an operator; below 0: none
} TraceSpan;

// One end of an arrow from an operator to a kernel.
typedef struct FlowEnd {
    uint64_t id;
    int64_t time;
    uint32_t track; // of the host a thread, of the device a lane
    uint32_t context; // of the host: where it stands, found by trace_nest
} FlowEnd;

// What stands around a place of the host.
typedef struct Context {
    uint32_t module, site; // texts
    int64_t sequence;      // of the operator around it
    int64_t start;
} Context;

typedef struct TraceLane {
    uint32_t track;
    int64_t stream, device; // PROF_NONE: not known
} TraceLane;

// What a call stack tells: texts, 0 for nothing.
typedef struct StackFact {
    uint32_t site, module;
} StackFact;

typedef struct Trace {
    Arena arena;
    TextTable texts;  // names, paths, lines
    TextTable tracks; // "pid tid"
    TextTable stacks; // call stacks as they are: many operators have the same one
    VEC(StackFact) stack_facts; // by the stack's number
    VEC(TraceSpan) spans;
    VEC(FlowEnd) starts, ends;
    VEC(TraceLane) lanes;
    VEC(Context) contexts; // [0]: nothing is known
    TraceLink *link;
} Trace;

uint32_t text_id(TextTable *table, Arena *arena, Str text);
Str text_at(const TextTable *table, uint32_t id);
// Fills the contexts of the flows' starts; a backward one gets its forward's.
void trace_nest(Trace *trace);
// The stream and the device of a kernel's event; false if it is none.
bool trace_kernel(int64_t *stream, int64_t *device, const JsonVal *event);

#endif
