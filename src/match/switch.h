// switch.h - a switch of the scanned project that a candidate can reuse.
#ifndef NPUFUSE_SWITCH_H
#define NPUFUSE_SWITCH_H

#include "match/evidence.h"

// A boolean of the project that turns fused code of the rule's family on, and
// that can be read where the candidate stands: an attribute of self, a field of a
// configuration that is at hand, or a constant of the module, which may come from the
// environment. False if there is none.
bool find_switch(RepoSwitch *out, Arena *run, const Place *place, const Rule *rule);

#endif
