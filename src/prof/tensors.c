// tensors.c - "1,2048,4096;1" and "FLOAT;INT64" into tensors. A tensor in
// FRACTAL_NZ has its matrix in tiles, (.., n1, m1, m0, n0); it is read as the
// (.., m1 * m0, n1 * n0) that it stands for, so that shapes can be compared.
#include "base/base.h"

#include "prof/cells.h"
#include "prof/tensors.h"

#include <strings.h>

static const struct {
    const char *name;
    ProfDtype dtype;
} dtypes[] = {
    {"FLOAT", DT_FP32}, {"FLOAT32", DT_FP32}, {"FP32", DT_FP32}, {"FLOAT16", DT_FP16},
    {"FP16", DT_FP16}, {"HALF", DT_FP16}, {"BF16", DT_BF16}, {"BFLOAT16", DT_BF16},
    {"INT64", DT_INT64}, {"INT32", DT_INT32}, {"BOOL", DT_BOOL}, {"UINT8", DT_UINT8},
    {"INT8", DT_INT8}, {"INT16", DT_INT16}, {"UINT16", DT_UINT16}, {"UINT32", DT_UINT32},
    {"UINT64", DT_UINT64}, {"DOUBLE", DT_FP64}, {"FLOAT64", DT_FP64}, {"FP64", DT_FP64},
    {"COMPLEX64", DT_COMPLEX64}, {"COMPLEX128", DT_COMPLEX128},
    {"UNDEFINED", DT_NONE}, {"N/A", DT_NONE}, {"NULL", DT_NONE},
};

static const struct {
    const char *name;
    uint32_t bytes;
} dtype_facts[] = {
    [DT_NONE] = {"?", 0}, [DT_BOOL] = {"bool", 1}, [DT_INT8] = {"int8", 1},
    [DT_UINT8] = {"uint8", 1}, [DT_INT16] = {"int16", 2}, [DT_UINT16] = {"uint16", 2},
    [DT_FP16] = {"fp16", 2}, [DT_BF16] = {"bf16", 2}, [DT_INT32] = {"int32", 4},
    [DT_UINT32] = {"uint32", 4}, [DT_FP32] = {"fp32", 4}, [DT_INT64] = {"int64", 8},
    [DT_UINT64] = {"uint64", 8}, [DT_FP64] = {"fp64", 8}, [DT_COMPLEX64] = {"complex64", 8},
    [DT_COMPLEX128] = {"complex128", 16}, [DT_OTHER] = {"other", 0},
};

const char *prof_dtype_name(ProfDtype dtype) {
    return dtype_facts[dtype].name;
}

uint32_t prof_dtype_bytes(ProfDtype dtype) {
    return dtype_facts[dtype].bytes;
}

uint64_t prof_tensor_bytes(const ProfTensor *tensor) {
    uint32_t each = prof_dtype_bytes((ProfDtype)tensor->dtype);
    if (tensor->is_absent || each == 0) return 0;
    return tensor->count > UINT64_MAX / 16 ? UINT64_MAX / 16 : tensor->count * each;
}

ProfDtype tensors_dtype(Str name) {
    name = cell_strip(name);
    if (name.len > 3 && strncasecmp(name.at, "DT_", 3) == 0) {
        name = (Str){name.at + 3, name.len - 3};
    }
    if (name.len == 0) return DT_NONE;
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        bool same = name.len == strlen(dtypes[i].name) &&
                    strncasecmp(name.at, dtypes[i].name, name.len) == 0;
        if (same) return dtypes[i].dtype;
    }
    return DT_OTHER;
}

static bool read_dim(int64_t *out, Str text) {
    text = cell_strip(text);
    bool minus = text.len && text.at[0] == '-'; // -1: not known before it ran
    int64_t value = 0;
    for (size_t i = minus; i < text.len; i++) {
        unsigned digit = (unsigned char)(text.at[i] - '0');
        if (digit > 9 || value > INT64_MAX / 100) return false;
        value = value * 10 + (int64_t)digit;
    }
    *out = minus ? -value : value;
    return text.len > (size_t)minus;
}

static bool read_dims(ProfTensor *out, Str text) {
    text = cell_strip(text);
    if (text.len >= 2 && text.at[0] == '[' && text.at[text.len - 1] == ']') {
        text = (Str){text.at + 1, text.len - 2};
    }
    while (text.len) {
        Str dim = str_take(&text, ',');
        if (out->rank == PROF_MAX_RANK || !read_dim(&out->dims[out->rank], dim)) return false;
        out->rank++;
    }
    return true;
}

// NZ keeps 16 rows and 16 (or 32, of int8) columns together.
static void untile(ProfTensor *t) {
    if (t->rank < 4) return;
    int64_t *d = t->dims + t->rank - 4;
    bool tiled = d[2] == 16 && (d[3] == 16 || d[3] == 32) && d[0] > 0 && d[1] > 0 &&
                 d[0] < (1 << 26) && d[1] < (1 << 26);
    if (!tiled) return;
    int64_t rows = d[1] * d[2], columns = d[0] * d[3];
    d[0] = rows;
    d[1] = columns;
    t->rank -= 2;
    t->is_tiled = true;
}

static uint64_t count_elements(const ProfTensor *t) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        uint64_t dim = t->dims[i] < 0 ? 0 : (uint64_t)t->dims[i];
        if (dim && count > UINT64_MAX / 64 / dim) return UINT64_MAX / 64;
        count *= dim;
    }
    return count;
}

static bool is_tiled_format(Str format) {
    return str_contains(format, STR("FRACTAL_NZ")) || str_is(format, "NZ");
}

static bool is_nothing(Str text) {
    return text.len == 0 || str_is(text, "N/A") || str_is(text, "NULL");
}

ProfTensor *tensors_read(uint8_t *count, Arena *arena, const TensorCells *cells) {
    ProfTensor found[PROF_MAX_TENSORS];
    uint8_t n = 0;
    Str shapes = cells->shapes, kinds = cells->dtypes, formats = cells->formats;
    *count = 0;
    if (is_nothing(shapes) && is_nothing(kinds)) return NULL;
    bool more = true;
    while (more && n < PROF_MAX_TENSORS) {
        more = shapes.len && memchr(shapes.at, ';', shapes.len) != NULL;
        ProfTensor t = {0};
        Str dims = str_take(&shapes, ';');
        t.dtype = (uint8_t)tensors_dtype(str_take(&kinds, ';'));
        if (!read_dims(&t, dims)) t = (ProfTensor){.is_absent = true};
        if (is_tiled_format(cell_strip(str_take(&formats, ';')))) untile(&t);
        t.is_absent |= t.rank == 0 && t.dtype == DT_NONE;
        t.count = count_elements(&t);
        found[n++] = t;
    }
    ProfTensor *out = NEW_N(arena, ProfTensor, n);
    memcpy(out, found, n * sizeof(*out));
    *count = n;
    return out;
}

Str prof_tensor_text(Arena *arena, const ProfTensor *tensor) {
    if (tensor->is_absent) return STR("-");
    Str text = STR("");
    for (uint32_t i = 0; i < tensor->rank; i++) {
        text = arena_printf(arena, "%.*s%s%lld", STR_FMT(text), i ? "," : "",
                            (long long)tensor->dims[i]);
    }
    return arena_printf(arena, "[%.*s] %s", STR_FMT(text),
                        prof_dtype_name((ProfDtype)tensor->dtype));
}
