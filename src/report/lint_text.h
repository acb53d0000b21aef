// lint_text.h - lint findings for people, as data, and for a workflow.
#ifndef NPUFUSE_LINT_TEXT_H
#define NPUFUSE_LINT_TEXT_H

#include "base/buf.h"
#include "model/lint_finding.h"

void lint_text_write(Buf *out, const LintSet *set);
void lint_json_write(Buf *out, const LintSet *set);
void lint_github_write(Buf *out, const LintSet *set);

#endif
