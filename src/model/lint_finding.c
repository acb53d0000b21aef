// lint_finding.c - the words of a lint finding.
#include "base/base.h"

#include "model/lint_finding.h"

const char *lint_severity_name(LintSeverity severity) {
    switch (severity) {
    case LINT_ERROR: return "error";
    case LINT_WARNING: return "warning";
    case LINT_NOTE: return "note";
    }
    BUG("severity %d", (int)severity);
}
