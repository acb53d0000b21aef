// json.c - the writer. Its one idea: every value, key or end first calls
// `begin`, which knows from the open container what separator is due.
#include "base/base.h"

#include "model/json.h"
#include "model/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

void json_init(Json *json, Buf *out) {
    *json = (Json){.out = out};
}

static void new_line(Json *json) {
    buf_add_char(json->out, '\n');
    for (uint32_t i = 0; i < json->depth; i++) buf_add(json->out, STR("  "));
}

// Writes what stands between the previous element and this one.
static void begin(Json *json) {
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->depth == 0) return;
    bool *has = &json->has_element[json->depth - 1];
    if (*has) buf_add_char(json->out, ',');
    if (!json->line_depth) {
        new_line(json);
    } else if (*has) {
        buf_add_char(json->out, ' ');
    }
    *has = true;
}

static void open(Json *json, char opener, char closer, JsonLayout layout) {
    if (json->depth == JSON_MAX_DEPTH) BUG("json nested too deep");
    begin(json);
    buf_add_char(json->out, opener);
    json->closers[json->depth] = closer;
    json->has_element[json->depth] = false;
    json->depth++;
    if (layout == JSON_LINE && !json->line_depth) {
        json->line_depth = json->depth;
    }
}

void json_object(Json *json, JsonLayout layout) {
    open(json, '{', '}', layout);
}

void json_array(Json *json, JsonLayout layout) {
    open(json, '[', ']', layout);
}

void json_end(Json *json) {
    if (json->depth == 0 || json->after_key) BUG("json_end out of place");
    bool on_line = json->line_depth != 0;
    if (json->line_depth == json->depth) json->line_depth = 0;
    json->depth--;
    if (json->has_element[json->depth] && !on_line) new_line(json);
    buf_add_char(json->out, json->closers[json->depth]);
    if (json->depth == 0) buf_add_char(json->out, '\n');
}

static void add_escaped(Buf *out, uint32_t code) {
    static const char shorts[][2] = {
        {'"', '"'}, {'\\', '\\'}, {'\n', 'n'}, {'\r', 'r'}, {'\t', 't'},
    };
    for (size_t i = 0; i < COUNT(shorts); i++) {
        if (code != (unsigned char)shorts[i][0]) continue;
        buf_add(out, (Str){(const char[]){'\\', shorts[i][1]}, 2});
        return;
    }
    if (code >= 0x10000) {
        code -= 0x10000;
        buf_addf(out, "\\u%04x", (unsigned)(0xD800 + (code >> 10)));
        code = 0xDC00 + (code & 0x3FF);
    }
    buf_addf(out, "\\u%04x", (unsigned)code);
}

// How much of the text stands for itself: mostly all of it.
static size_t plain_length(Str text) {
    size_t n = 0;
    while (n < text.len) {
        unsigned char c = (unsigned char)text.at[n];
        if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\' || c == '<') break;
        n++;
    }
    return n;
}

static void add_quoted(Buf *out, Str text) {
    buf_add_char(out, '"');
    while (text.len) {
        size_t plain = plain_length(text);
        buf_add(out, (Str){text.at, plain});
        text = (Str){text.at + plain, text.len - plain};
        if (!text.len) break;
        uint32_t code = utf8_take(&text);
        bool escape = code == '"' || code == '\\' || code == '<' ||
                      code < 0x20 || utf8_is_unsafe(code);
        if (escape) {
            add_escaped(out, code);
        } else {
            utf8_add(out, code);
        }
    }
    buf_add_char(out, '"');
}

void json_key_str(Json *json, Str name) {
    if (json->after_key) BUG("json key '%.*s' after a key", STR_FMT(name));
    begin(json);
    add_quoted(json->out, name);
    buf_add(json->out, STR(": "));
    json->after_key = true;
}

void json_key(Json *json, const char *name) {
    json_key_str(json, str_of(name));
}

void json_str(Json *json, Str text) {
    begin(json);
    add_quoted(json->out, text);
}

// `number` / 10^decimals.
static void add_decimal(Buf *out, bool negative, uint64_t number, uint32_t decimals) {
    char text[48];
    size_t at = sizeof(text);
    for (uint32_t i = 0; number || i <= decimals; i++) {
        if (i && i == decimals) text[--at] = '.';
        text[--at] = (char)('0' + number % 10);
        number /= 10;
    }
    if (negative) text[--at] = '-';
    buf_add(out, (Str){text + at, sizeof(text) - at});
}

void json_uint(Json *json, uint64_t number) {
    begin(json);
    add_decimal(json->out, false, number, 0);
}

void json_int_write(Json *json, int64_t number) {
    begin(json);
    uint64_t size = number < 0 ? -(uint64_t)number : (uint64_t)number;
    add_decimal(json->out, number < 0, size, 0);
}

// The short numbers that printf would write as well, only sooner: what has at most
// 15 digits and is not so large or small that an exponent is due.
static bool add_short(Buf *out, double number) {
    double size = fabs(number), ten_to = 1;
    if (size < 1e-4 || size >= 1e6) return false;
    for (uint32_t decimals = 0; size * ten_to < 1e15; decimals++, ten_to *= 10) {
        uint64_t digits = (uint64_t)(size * ten_to + 0.5);
        if ((double)digits / ten_to != size) continue;
        add_decimal(out, number < 0, digits, decimals);
        return true;
    }
    return false;
}

void json_double(Json *json, double number) {
    if (!isfinite(number)) {
        json_null(json);
        return;
    }
    begin(json);
    if (add_short(json->out, number)) return;
    char text[32];
    // The shortest of the forms that read back as the same number.
    static const int digits[] = {6, 15, 16, 17};
    for (size_t i = 0; i < COUNT(digits); i++) {
        snprintf(text, sizeof(text), "%.*g", digits[i], number);
        if (strtod(text, NULL) == number) break;
    }
    buf_add(json->out, str_of(text));
}

void json_double_if(Json *json, bool has, double number) {
    if (has) json_double(json, number);
    else json_null(json);
}

void json_bool(Json *json, bool value) {
    begin(json);
    buf_add(json->out, value ? STR("true") : STR("false"));
}

void json_null(Json *json) {
    begin(json);
    buf_add(json->out, STR("null"));
}

void json_add_str(Json *json, const char *name, Str text) {
    json_key(json, name);
    json_str(json, text);
}

void json_add_word(Json *json, const char *name, const char *word) {
    json_add_str(json, name, str_of(word));
}

void json_add_uint(Json *json, const char *name, uint64_t number) {
    json_key(json, name);
    json_uint(json, number);
}

void json_add_int(Json *json, const char *name, int64_t number) {
    json_key(json, name);
    json_int_write(json, number);
}

void json_add_double(Json *json, const char *name, double number) {
    json_key(json, name);
    json_double(json, number);
}

void json_add_bool(Json *json, const char *name, bool value) {
    json_key(json, name);
    json_bool(json, value);
}
