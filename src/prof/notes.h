// notes.h - what a report leaves out, and why: said, never passed over.
#ifndef NPUFUSE_NOTES_H
#define NPUFUSE_NOTES_H

#include "prof/runs.h"

// `stopped`: the search for repeated runs did not look at everything.
void notes_add(ProfReport *report, Arena *arena, bool stopped);
// "cut inside a quoted cell", for one sort of bad line.
const char *notes_fault_name(ProfFault fault);

#endif
