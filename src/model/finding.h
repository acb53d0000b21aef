// finding.h - the one record that crosses from the front half (py, flow,
// match, patch) to the back half (report, confirm, verify, apply).
//
// Everything here is plain text and numbers, in the *run* arena; nobody who
// reads a Finding needs a tree or a graph. docs/formats.md gives the JSON form.
#ifndef NPUFUSE_FINDING_H
#define NPUFUSE_FINDING_H

#include "base/arena.h"

enum { FINDINGS_SCHEMA = 1 };

typedef enum Verdict { VERDICT_RECOMMEND, VERDICT_CAUTION, VERDICT_REJECT } Verdict;
typedef enum FactState { FACT_PROVEN, FACT_REFUTED, FACT_UNKNOWN } FactState;
typedef enum Priority { PRIORITY_HIGH, PRIORITY_MEDIUM, PRIORITY_LOW } Priority;

// A place in the source, and what it says there.
typedef struct Span {
    Str file; // relative to the scan's root
    uint32_t start_line, end_line;
    Str text; // the first line, trimmed; may be empty
} Span;

// A claim with its state and the chain of places where it was learnt, e.g.
// activation: attribute -> constructor -> config class -> default.
typedef struct Fact {
    Str name;  // "activation", "axis", "dtype_out", "same_shape", ...
    Str claim; // a sentence in English
    FactState state;
    Str guard; // the Python term that holds it at run time; empty if none
    VEC(Span) chain;
} Fact;

typedef struct Port { // an input or output of the fused operator
    Str name;  // of the rule's parameter
    Str expr;  // Python expression at the place of the replacement
    Str dtype; // "float32", "dtype of hidden_states", "unknown"
    Str shape; // "(..., head_dim)", "unknown"
} Port;

typedef enum SwitchKind {
    SWITCH_EXISTING, // a switch of the scanned project, reused
    SWITCH_PARAMETER, SWITCH_ENVIRONMENT, SWITCH_DEVICE_ONLY,
} SwitchKind;

typedef struct Switch {
    SwitchKind kind;
    Str expr;  // Python condition, empty for SWITCH_DEVICE_ONLY
    Str name;  // "--use-fused-norm", "NPUFUSE_RMS_NORM"
    Span where; // of an existing one; file empty otherwise
} Switch;

// One place of the file to change besides the span itself (the guarded
// import, the device predicate): insert `text` before line `line`.
typedef struct Insert {
    uint32_t line;
    Str text;
} Insert;

typedef struct Finding {
    Str id; // family:path:qualname:8 hex [#n]
    Str family, api, rule, variant;
    Verdict verdict;
    Priority priority;
    Str file;
    uint32_t start_line, end_line; // 1-based, inclusive: the replaced lines
    Str qualname;
    VEC(Fact) facts;
    VEC(Str) reasons;  // one sentence each; the first is the summary row's
    Str original;      // the lines verbatim
    Str replacement;   // what they become; empty for a reject
    VEC(Insert) inserts;
    VEC(Port) inputs, outputs;
    Switch switch_;
    VEC(Str) risks;
    Str gain;        // expected gain
    Str gain_ground; // what the estimate rests on
    VEC(Span) references; // fused code, wrappers, switches in the repository
    VEC(Span) sites;   // other places with the same code (modular twin, copies)
    VEC(Span) helpers; // other functions that hold part of the computation
    Str op_signature, op_summary, op_source; // API facts and their source
} Finding;

typedef struct Existing { // code that is fused already
    Str file;
    uint32_t start_line, end_line;
    Str api, qualname;
} Existing;

typedef struct Skipped {
    Str file, reason;
    uint32_t line; // 0 if the whole file
} Skipped;

typedef struct FindingSet {
    Str root; // as given, shown in reports
    Str tool_version;
    uint32_t file_count, function_count, line_count;
    VEC(Str) families; // looked for, in rule order; may be empty
    VEC(Finding) findings; // sorted by file, line, family
    VEC(Existing) existing;
    VEC(Skipped) skipped;
} FindingSet;

const char *verdict_name(Verdict verdict);       // "recommend"
const char *fact_state_name(FactState state);    // "proven"
const char *priority_name(Priority priority);    // "high"
const char *switch_kind_name(SwitchKind kind);   // "existing", ...

#endif
