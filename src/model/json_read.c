// json_read.c - yyjson behind the types of this program. Its memory is the
// arena's, so a document needs no end.
#include "base/base.h"

#include "model/json_read.h"

#include "base/file.h"

#include <yyjson.h>

static void *take(void *arena, size_t size) {
    return arena_raw(arena, size);
}

static void *grow(void *arena, void *old, size_t old_size, size_t size) {
    return arena_grow(arena, old, old_size, size);
}

static void give_back(void *arena, void *old) {
    (void)arena;
    (void)old;
}

// Line and column, from 1, of the byte at `at`.
static void find_place(Str text, size_t at, unsigned *line, unsigned *column) {
    *line = *column = 1;
    for (size_t i = 0; i < at && i < text.len; i++) {
        ++*column;
        if (text.at[i] == '\n') {
            ++*line;
            *column = 1;
        }
    }
}

// A document of 32 levels is the deepest that we write; copying recurses.
enum { DEPTH_MAX = 64 };

// Where the string that begins at `i` ends: its closing quote, or the text's end.
static size_t string_end(Str text, size_t i) {
    for (;;) {
        const char *quote = i < text.len ? memchr(text.at + i, '"', text.len - i) : NULL;
        if (!quote) return text.len;
        size_t slashes = 0, end = (size_t)(quote - text.at);
        while (end - slashes > i && text.at[end - slashes - 1] == '\\') slashes++;
        if (slashes % 2 == 0) return end;
        i = end + 1;
    }
}

static bool is_too_deep(Str text) {
    uint32_t depth = 0;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '"') {
            i = string_end(text, i + 1);
        } else if (c == '{' || c == '[') {
            if (++depth > DEPTH_MAX) return true;
        } else if ((c == '}' || c == ']') && depth) {
            depth--;
        }
    }
    return false;
}

bool json_read(const JsonVal **out, Arena *arena, Str text, const char *path,
               Err *err) {
    yyjson_alc memory = {take, grow, give_back, arena};
    yyjson_read_err fault = {0};
    if (is_too_deep(text)) {
        return err_set(err, "'%s': nested deeper than %d levels", path, DEPTH_MAX);
    }
    if (str_starts(text, "\xef\xbb\xbf")) text = (Str){text.at + 3, text.len - 3};
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.at, text.len,
                                       YYJSON_READ_NOFLAG, &memory, &fault);
    if (!doc) {
        unsigned line, column;
        find_place(text, fault.pos, &line, &column);
        return err_set(err, "'%s':%u:%u: not valid JSON: %s", path, line, column,
                       text.len ? fault.msg : "the file is empty");
    }
    *out = yyjson_doc_get_root(doc);
    return true;
}

bool json_read_loose(const JsonVal **out, Arena *arena, Str text, Err *err) {
    yyjson_alc memory = {take, grow, give_back, arena};
    yyjson_read_err fault = {0};
    if (is_too_deep(text)) return err_set(err, "nested deeper than %d levels", DEPTH_MAX);
    yyjson_doc *doc = yyjson_read_opts((char *)(uintptr_t)text.at, text.len,
                                       YYJSON_READ_ALLOW_INF_AND_NAN, &memory, &fault);
    if (!doc) {
        return err_set(err, "not valid JSON: %s (column %zu)", fault.msg, fault.pos + 1);
    }
    *out = yyjson_doc_get_root(doc);
    return true;
}

bool json_read_file(const JsonVal **out, Arena *arena, const char *path,
                    size_t max_bytes, Err *err) {
    Str text;
    return file_read(&text, arena, path, max_bytes, err) &&
           json_read(out, arena, text, path, err);
}

static yyjson_val *mutable_val(const JsonVal *v) {
    return (yyjson_val *)(uintptr_t)v;
}

bool json_is_object(const JsonVal *v) {
    return yyjson_is_obj(mutable_val(v));
}

bool json_is_array(const JsonVal *v) {
    return yyjson_is_arr(mutable_val(v));
}

bool json_is_text(const JsonVal *v) {
    return yyjson_is_str(mutable_val(v));
}

bool json_is_number(const JsonVal *v) {
    return yyjson_is_num(mutable_val(v));
}

bool json_is_null(const JsonVal *v) {
    return yyjson_is_null(mutable_val(v));
}

const JsonVal *json_member(const JsonVal *object, const char *name) {
    return yyjson_obj_get(mutable_val(object), name);
}

uint32_t json_count(const JsonVal *v) {
    size_t count = json_is_object(v) ? yyjson_obj_size(mutable_val(v))
                                     : yyjson_arr_size(mutable_val(v));
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

const JsonVal *json_at(const JsonVal *array, uint32_t index) {
    return yyjson_arr_get(mutable_val(array), index);
}

Str json_text(const JsonVal *v) {
    if (!json_is_text(v)) return (Str){"", 0};
    return (Str){yyjson_get_str(mutable_val(v)), yyjson_get_len(mutable_val(v))};
}

double json_number(const JsonVal *v, double fallback) {
    return json_is_number(v) ? yyjson_get_num(mutable_val(v)) : fallback;
}

int64_t json_int(const JsonVal *v, int64_t fallback) {
    yyjson_val *number = mutable_val(v);
    if (yyjson_is_sint(number)) return yyjson_get_sint(number);
    if (!yyjson_is_uint(number)) return fallback;
    uint64_t value = yyjson_get_uint(number);
    return value > INT64_MAX ? fallback : (int64_t)value;
}

bool json_truth(const JsonVal *v, bool fallback) {
    return yyjson_is_bool(mutable_val(v)) ? yyjson_get_bool(mutable_val(v)) : fallback;
}

// Moves to the element whose value or key `next` is.
static void step(JsonIter *it) {
    it->value = NULL;
    it->key = (Str){"", 0};
    if (!it->left) return;
    it->left--;
    const JsonVal *at = it->next;
    if (it->has_keys) {
        it->key = json_text(at);
        at = unsafe_yyjson_get_next(mutable_val(at));
    }
    it->value = at;
    it->next = unsafe_yyjson_get_next(mutable_val(at));
}

JsonIter json_first(const JsonVal *v) {
    JsonIter it = {.left = json_count(v), .has_keys = json_is_object(v)};
    if (it.left) it.next = unsafe_yyjson_get_first(mutable_val(v));
    step(&it);
    return it;
}

void json_next(JsonIter *it) {
    step(it);
}

static void copy_number(Json *out, const JsonVal *v) {
    if (yyjson_is_uint(mutable_val(v))) {
        json_uint(out, yyjson_get_uint(mutable_val(v)));
    } else if (yyjson_is_sint(mutable_val(v))) {
        json_int_write(out, yyjson_get_sint(mutable_val(v)));
    } else {
        json_double(out, yyjson_get_real(mutable_val(v)));
    }
}

void json_copy(Json *out, const JsonVal *v) {
    if (json_is_object(v) || json_is_array(v)) {
        if (json_is_object(v)) json_object(out, JSON_BLOCK);
        else json_array(out, JSON_BLOCK);
        for (JsonIter it = json_first(v); it.value; json_next(&it)) {
            if (it.has_keys) json_key_str(out, it.key);
            json_copy(out, it.value);
        }
        json_end(out);
    } else if (json_is_text(v)) {
        json_str(out, json_text(v));
    } else if (json_is_number(v)) {
        copy_number(out, v);
    } else if (yyjson_is_bool(mutable_val(v))) {
        json_bool(out, json_truth(v, false));
    } else {
        json_null(out);
    }
}
