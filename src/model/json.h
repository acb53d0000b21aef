// json.h - a streaming JSON writer.
//
// Values go out in the order of the calls; commas, colons and indentation
// are the writer's. A member is json_key followed by one value. Text is safe
// inside an HTML page too: `<`, U+2028, U+2029 and whatever a viewer would
// not show are escaped, invalid UTF-8 becomes U+FFFD.
#ifndef NPUFUSE_JSON_H
#define NPUFUSE_JSON_H

#include "base/buf.h"

enum { JSON_MAX_DEPTH = 96 };

typedef enum JsonLayout {
    JSON_BLOCK, // each element on its own line
    JSON_LINE,  // the whole value on one line, with all inside it
} JsonLayout;

typedef struct Json {
    Buf *out;
    uint32_t depth;
    uint32_t line_depth; // depth at which JSON_LINE began, 0 if not
    bool has_element[JSON_MAX_DEPTH]; // the open value at this depth has one
    char closers[JSON_MAX_DEPTH];
    bool after_key;
} Json;

void json_init(Json *json, Buf *out);
void json_object(Json *json, JsonLayout layout);
void json_array(Json *json, JsonLayout layout);
// Ends the innermost open object or array.
void json_end(Json *json);
void json_key(Json *json, const char *name);
void json_key_str(Json *json, Str name);
void json_str(Json *json, Str text);
void json_uint(Json *json, uint64_t number);
void json_int_write(Json *json, int64_t number);
// null for NaN and infinities, which JSON does not have.
void json_double(Json *json, double number);
void json_double_if(Json *json, bool has, double number); // else null
void json_bool(Json *json, bool value);
void json_null(Json *json);

// A member of an object: its key and its value.
void json_add_str(Json *json, const char *name, Str text);
void json_add_word(Json *json, const char *name, const char *word);
void json_add_uint(Json *json, const char *name, uint64_t number);
void json_add_int(Json *json, const char *name, int64_t number);
void json_add_double(Json *json, const char *name, double number);
void json_add_bool(Json *json, const char *name, bool value);

#endif
