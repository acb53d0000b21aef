// json_read.h - reading JSON: a thin wrapper of yyjson.
//
// A value is borrowed from the arena that it was read into and never changes.
// Every getter takes NULL, and reads a value of another type as absent, so a
// reader asks for what it needs and checks what it must have. Of a key that
// stands twice the first one counts.
#ifndef NPUFUSE_JSON_READ_H
#define NPUFUSE_JSON_READ_H

#include "base/arena.h"
#include "base/err.h"
#include "model/json.h"

typedef struct yyjson_val JsonVal;

// `text` is copied. The message is "'path':line:column: what is wrong".
MUST_CHECK bool json_read(const JsonVal **out, Arena *arena, Str text,
                          const char *path, Err *err);
MUST_CHECK bool json_read_file(const JsonVal **out, Arena *arena,
                               const char *path, size_t max_bytes, Err *err);

// One value of a file of lines; NaN and Infinity are numbers here, as Python's
// json writes them. The message does not name the file.
MUST_CHECK bool json_read_loose(const JsonVal **out, Arena *arena, Str text, Err *err);

bool json_is_object(const JsonVal *v);
bool json_is_array(const JsonVal *v);
bool json_is_text(const JsonVal *v);
bool json_is_number(const JsonVal *v);
bool json_is_null(const JsonVal *v); // the value null; not an absent one

const JsonVal *json_member(const JsonVal *object, const char *name);
// Members of an object, elements of an array; else 0.
uint32_t json_count(const JsonVal *v);
// Takes time by the index: loops use json_first and json_next.
const JsonVal *json_at(const JsonVal *array, uint32_t index);

Str json_text(const JsonVal *v); // "" if it is no string
double json_number(const JsonVal *v, double fallback);
int64_t json_int(const JsonVal *v, int64_t fallback); // fractions: fallback
bool json_truth(const JsonVal *v, bool fallback);

// for (JsonIter it = json_first(v); it.value; json_next(&it))
typedef struct JsonIter {
    const JsonVal *value; // NULL: the end
    Str key;              // of an object's member
    const JsonVal *next;
    uint32_t left;
    bool has_keys;
} JsonIter;

JsonIter json_first(const JsonVal *v);
void json_next(JsonIter *it);

// Writes a read value, in the layout of what it is put into.
void json_copy(Json *out, const JsonVal *v);

#endif
