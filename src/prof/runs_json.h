// runs_json.h - a mined profile as JSON; docs/formats.md names the members.
#ifndef NPUFUSE_RUNS_JSON_H
#define NPUFUSE_RUNS_JSON_H

#include "base/buf.h"
#include "model/json.h"
#include "prof/runs.h"

// `source`: what to call the file.
void runs_json_write(Buf *out, const ProfReport *report, Str source);
const char *runs_direction_name(RunDirection direction);
const char *runs_kind_name(RunKind kind);
// The member "dynamic": shapes that change.
void runs_json_dynamic(Json *json, const ProfReport *report);

#endif
