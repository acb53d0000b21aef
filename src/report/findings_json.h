// findings_json.h - a FindingSet as findings.json (docs/formats.md).
#ifndef NPUFUSE_FINDINGS_JSON_H
#define NPUFUSE_FINDINGS_JSON_H

#include "base/buf.h"
#include "model/finding.h"

// Appends the document. Equal sets give equal bytes: no clock, no machine.
void findings_json_write(Buf *out, const FindingSet *set);

#endif
