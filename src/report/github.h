// github.h - findings as annotations of a GitHub workflow.
#ifndef NPUFUSE_GITHUB_H
#define NPUFUSE_GITHUB_H

#include "base/buf.h"
#include "model/finding.h"

// Appends one line `::notice file=...,line=...::...` for each candidate; what
// must not be replaced is left out.
void github_write(Buf *out, const FindingSet *set);

// Text of a workflow command; `property`: in front of the "::", where a colon and a
// comma end what is said.
void github_escape(Buf *out, Str text, bool property);

#endif
