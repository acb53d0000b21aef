// measure.h - joins a mined profile with the findings of a scan.
//
// A run of kernels belongs to a finding by the source line of its kernels, else by
// the class of their module, else by the operator that would replace both.
#ifndef NPUFUSE_MEASURE_H
#define NPUFUSE_MEASURE_H

#include "cli/profile_load.h"
#include "model/finding.h"

// Fills `measured` of the findings that are no rejects, and what the set has of the
// profile. Everything lives in `run`.
void measure_findings(FindingSet *set, Arena *run, const ProfileLoaded *loaded,
                      const ProfReport *report);

#endif
