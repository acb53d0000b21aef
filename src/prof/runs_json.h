// runs_json.h - a mined profile as JSON; docs/formats.md names the members.
#ifndef NPUFUSE_RUNS_JSON_H
#define NPUFUSE_RUNS_JSON_H

#include "base/buf.h"
#include "prof/runs.h"

// `source`: what to call the file.
void runs_json_write(Buf *out, const ProfReport *report, Str source);
const char *runs_direction_name(RunDirection direction);

#endif
