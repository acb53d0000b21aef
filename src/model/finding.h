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

// A piece of text that the file needs besides the span itself, put before line
// `line` of the file as it was scanned. The pieces of all candidates that are
// applied to a file are sorted by (line, order, text), equal ones taken once.
enum {
    INSERT_IMPORT,         // import os, import torch
    INSERT_GUARDED_IMPORT, // try: import torch_npu
    INSERT_SWITCH,         // its definition
    INSERT_PREDICATE,      // def npu_fused_ready
    INSERT_HELPER,         // functions that the replacement calls
    INSERT_TAIL,           // blank lines before what follows
};

typedef struct Insert {
    uint32_t line, order;
    Str text;
} Insert;

typedef VEC(Insert) Inserts;

// How a run of kernels in a profile was found to be that of a finding.
typedef enum JoinedBy { JOINED_LINE, JOINED_MODULE, JOINED_API } JoinedBy;

// Kernels of a profile that are the code of a finding, or of none.
typedef struct Measured {
    Str pattern, api, direction; // api: empty where no operator is known
    JoinedBy joined_by;
    uint32_t shared; // findings that this is the time of, all together
    uint64_t calls;
    double device_us, gap_us, share; // share: of the profile's steps
    double cap;                      // at most so many times faster; 0: not known
    bool cap_is_relative;            // by bytes alone, the chip is not known
    Str bound;                       // "memory", "compute", ...
    Str place, module;               // of the first call, where a trace says so
    uint32_t first_row, last_row;    // of the first call
} Measured;

typedef VEC(Measured) MeasuredList;

typedef struct Finding {
    Str id; // family:path:qualname:8 hex [#n]
    Str family, api, rule, variant;
    Str rule_version; // 12 hex of the rule's and its operator's file
    Verdict verdict;
    Priority priority;
    Str file;
    Str file_sha256; // of the whole file
    uint32_t start_line, end_line; // 1-based, inclusive: the replaced lines
    Str qualname;
    VEC(Fact) facts;
    VEC(Str) reasons;  // one sentence each; the first is the summary row's
    Str original;      // the lines verbatim
    Str replacement;   // what they become; empty for a reject
    Inserts inserts;
    VEC(Port) inputs, outputs;
    Switch switch_;
    VEC(Str) risks;
    Str gain;        // expected gain
    Str gain_ground; // what the estimate rests on
    VEC(Span) references; // fused code, wrappers, switches in the repository
    VEC(Span) sites;   // other places with the same code (modular twin, copies)
    VEC(Span) helpers; // other functions that hold part of the computation
    Str op_signature, op_summary, op_source; // API facts and their source
    MeasuredList measured; // with a profile; the longest first
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

// What was asked for, so that the scan can be done again.
typedef struct ScanRecord {
    VEC(Str) paths, rules; // operands and folders of --rules, as given
    Str rule, python;      // --rule, --python; empty if not given
} ScanRecord;

typedef struct FindingSet {
    Str root; // as given, shown in reports
    ScanRecord scan;
    Str tool_version;
    Str torch_npu; // the installed one, "torch_npu 2.13.0"; empty: none was found
    uint32_t file_count, function_count, line_count;
    VEC(Str) families; // looked for, in rule order; may be empty
    VEC(Finding) findings; // sorted by file, line, family
    VEC(Existing) existing;
    VEC(Skipped) skipped;
    Str profile;              // the file of kernels; empty: none was given
    double profile_us;        // of its steps
    MeasuredList unexplained; // hot runs that are no finding's, the longest first
    VEC(Str) profile_notes;   // what the profile lacks, and its effect
} FindingSet;

const char *verdict_name(Verdict verdict);       // "recommend"
// Whether the family is among those that models are made of: norms, gated
// activations, rotary embedding, attention, experts.
bool family_is_main(Str family);
const char *fact_state_name(FactState state);    // "proven"
// Whether it tells what stands around the code: an unknown one leaves no
// question about the code itself open.
bool fact_is_context(const Fact *fact);
const char *priority_name(Priority priority);    // "high"
const char *switch_kind_name(SwitchKind kind);   // "existing", ...
const char *joined_by_name(JoinedBy by);         // "line", "module", "api"

#endif
