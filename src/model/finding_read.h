// finding_read.h - findings.json back into the record.
//
// The file may have been written by anybody: every field is checked before
// anything rests on it. What a candidate claims about the code is not checked
// here; cli/derive.h does that.
#ifndef NPUFUSE_FINDING_READ_H
#define NPUFUSE_FINDING_READ_H

#include "base/err.h"
#include "model/finding.h"

enum { FINDINGS_MAX_BYTES = 256 * 1024 * 1024 };

// Everything is in `arena`. The message is "'path': findings[3].start_line: is
// not a line number; scan again".
MUST_CHECK bool findings_read(FindingSet *out, Arena *arena, const char *path, Err *err);
// The same of a text that was read from `path`.
MUST_CHECK bool findings_parse(FindingSet *out, Arena *arena, Str text, const char *path,
                               Err *err);

// Whether `file` stays below the folder that it is relative to: not empty, not
// absolute, no `.` or `..` among its parts, no NUL.
bool finding_file_is_safe(Str file);

#endif
