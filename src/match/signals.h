// signals.h - what the scanned files do as a whole that bears on a candidate:
// they compile, capture graphs, train, open regions of autocast, or pad each
// batch to its own length.
//
// None of it decides a match or a verdict. It is shown with the place where it
// stands, so that a reader knows what to look at.
#ifndef NPUFUSE_SIGNALS_H
#define NPUFUSE_SIGNALS_H

#include "flow/flow.h"
#include "model/finding.h"

typedef enum SignalKind {
    SIGNAL_COMPILE,  // torch.compile
    SIGNAL_GRAPH,    // torch.export, torch.jit, captured graphs
    SIGNAL_TRAIN,    // .backward(), an optimizer
    SIGNAL_AUTOCAST, // a region of autocast
    SIGNAL_PADDING,  // a batch as long as its longest member
    SIGNAL_AVAILABLE, // a function or constant that tells whether an NPU is usable
    SIGNAL_KINDS,
} SignalKind;

typedef struct Signal {
    SignalKind kind;
    Span where;
} Signal;

typedef VEC(Signal) Signals;

// Marks the names with which signals are written; before any file is parsed.
void signals_mark(SymTable *symbols, uint32_t mark);
// Appends those of a module, in `run`.
void signals_collect(Signals *out, Arena *run, Flow *flow, Module *module);
// Completes the facts of every finding that is no reject: what its own
// function leaves open is said from the signals of all files.
void signals_settle(FindingSet *set, Arena *run, Signals *all);

#endif
