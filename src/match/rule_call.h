// rule_call.h - whether a rule calls its operator as it is registered.
#ifndef NPUFUSE_RULE_CALL_H
#define NPUFUSE_RULE_CALL_H

#include "apidoc/schema.h"
#include "match/rule.h"

// Checks every call of the rule's operator in replacement() against the schema
// in ops/: its arguments exist, what has no default is given, and by position,
// so that it is right under the documented name as well; one call at least is made
// by the operator's own name. Fails, naming the line. A rule without an operator's
// file, or whose schema is no schema, passes.
MUST_CHECK bool rule_check_calls(const Rule *rule, Arena *arena, Err *err);

// Whether some call of the operator in replacement() gives the argument, or gives it
// by keyword or position, or leaves it out. Names of the schema in ops/.
typedef struct RuleArgUse {
    bool given, keyword, position, left_out;
} RuleArgUse;
RuleArgUse rule_arg_use(const Rule *rule, const Schema *schema, Str arg);

#endif
