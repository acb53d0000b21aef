#include "base/base.h"
#include "apidoc/schema.h"
bool schema_parse(Schema *out, Arena *arena, Str text, Err *err) { (void)arena; (void)err; *out = (Schema){.text = text}; return true; }
const SchemaArg *schema_arg(const Schema *schema, Str name) { (void)schema; (void)name; return NULL; }
