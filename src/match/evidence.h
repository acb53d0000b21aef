// evidence.h - a candidate as a Finding: facts, verdict, reasons, ports.
#ifndef NPUFUSE_EVIDENCE_H
#define NPUFUSE_EVIDENCE_H

#include "match/candidate.h"
#include "match/rewrite.h"
#include "model/finding.h"

// A switch that the scanned project has, or none (then an environment
// variable is made).
typedef struct RepoSwitch {
    Str expr;  // condition in scope at the candidate
    Str name;  // as the user sets it
    Span where;
} RepoSwitch;

// Writes the finding of a candidate. Everything lives in `run`.
void make_finding(Finding *out, Arena *run, const Candidate *candidate,
                  Str qualname, const RepoSwitch *existing);

// family:path:qualname:hash of the original.
void set_finding_id(Finding *out, Arena *run);

// A place in a module as a Span of the report.
Span make_span(Arena *run, const Module *module, const Node *node);

#endif
