// sarif.h - findings as SARIF 2.1.0, which code hosts and editors show.
#ifndef NPUFUSE_SARIF_H
#define NPUFUSE_SARIF_H

#include "base/buf.h"
#include "model/finding.h"

// Appends the log: one rule for each rule that found something, one result for
// each finding, with the edits as its fix. Equal sets give equal bytes.
void sarif_write(Buf *out, const FindingSet *set);

#endif
