// derive.h - candidates derived anew from the source.
//
// What findings.json says is a claim: anybody may have edited the file, or the
// code. So nothing is confirmed, verified or applied before the same scan has
// been made again and has found the same.
#ifndef NPUFUSE_DERIVE_H
#define NPUFUSE_DERIVE_H

#include "base/err.h"
#include "model/finding.h"
#include "patch/journal.h"

typedef struct DeriveRequest {
    const FindingSet *claimed; // as read from findings.json
    const char *folder;        // the work folder, never scanned
    // Files that hold applied candidates are read as they were scanned; may be
    // NULL.
    const Journal *journal;
} DeriveRequest;

// Scans the recorded paths with the recorded rules. Everything is in `run`.
MUST_CHECK bool derive_scan(FindingSet *out, Arena *run, const DeriveRequest *request,
                            Err *err);
// The finding of `derived` with the id of `claimed`, if it says the same: place,
// rule, verdict, original, replacement, additions, inputs and outputs, switch,
// reasons and risks. The message says what differs and to scan again.
MUST_CHECK bool derive_match(const Finding **out, const FindingSet *derived,
                             const Finding *claimed, Err *err);

// The finding with an id, NULL if there is none.
const Finding *find_finding(const FindingSet *set, Str id);

// Both for several candidates: out[i] is the one derived for claimed[i].
typedef struct DeriveList {
    const Finding *const *claimed;
    const Finding **out;
    uint32_t len;
} DeriveList;

MUST_CHECK bool derive_check(DeriveList list, Arena *run, const DeriveRequest *request,
                             Err *err);

#endif
