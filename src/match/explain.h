// explain.h - how far each rule came at one line, and why it stopped.
#ifndef NPUFUSE_EXPLAIN_H
#define NPUFUSE_EXPLAIN_H

#include "match/candidate.h"
#include "match/scan.h"

// Tells, for the values computed at the asked line in the frame's function, what every
// rule whose root could stand there made of them: matched (with the verdict's
// grounds), or the first differing operator.
void explain_line(const ScanOptions *options, Frame *frame, const RuleSet *rules);
// Tells every candidate of the function with its requirements.
void explain_function(const ScanOptions *options, Frame *frame, const RuleSet *rules);
// Tells that a function was not read, and why.
void explain_filtered(const ScanOptions *options, Str qualname);

#endif
