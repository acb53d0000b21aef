// columns.c - the header in all its dialects: kernel_details and op_summary, old
// and new names, one kind of core or two.
#include "base/base.h"

#include "prof/columns.h"

#include <strings.h>

typedef struct ColumnName {
    const char *name;
    Column column;
} ColumnName;

static const ColumnName names[] = {
    {"Step Id", COL_STEP}, {"Step ID", COL_STEP},
    {"Device_id", COL_DEVICE}, {"Device Id", COL_DEVICE},
    {"Stream ID", COL_STREAM}, {"Stream Id", COL_STREAM},
    {"Name", COL_NAME}, {"Op Name", COL_NAME},
    {"Type", COL_TYPE}, {"OP Type", COL_TYPE}, {"Op Type", COL_TYPE},
    {"OP State", COL_STATE}, {"Op State", COL_STATE},
    {"Accelerator Core", COL_CORE}, {"Task Type", COL_CORE},
    {"Start Time(us)", COL_START}, {"Task Start Time(us)", COL_START},
    {"Duration(us)", COL_DURATION}, {"Task Duration(us)", COL_DURATION},
    {"Wait Time(us)", COL_WAIT}, {"Task Wait Time(us)", COL_WAIT},
    {"Input Shapes", COL_IN_SHAPES}, {"Input Data Types", COL_IN_DTYPES},
    {"Input Formats", COL_IN_FORMATS}, {"Output Shapes", COL_OUT_SHAPES},
    {"Output Data Types", COL_OUT_DTYPES}, {"Output Formats", COL_OUT_FORMATS},
    {"aic_mac_ratio", COL_PMU + PMU_MAC}, {"mac_ratio", COL_PMU + PMU_MAC},
    {"mac_exe_ratio", COL_PMU + PMU_MAC}, {"aic_mac_exe_ratio", COL_PMU + PMU_MAC},
    {"aic_mac_fp16_ratio", COL_PMU + PMU_MAC}, {"mac_fp16_ratio", COL_PMU + PMU_MAC},
    {"aic_scalar_ratio", COL_PMU + PMU_CUBE_SCALAR},
    {"scalar_ratio", COL_PMU + PMU_CUBE_SCALAR},
    {"aic_mte1_ratio", COL_PMU + PMU_MTE1}, {"mte1_ratio", COL_PMU + PMU_MTE1},
    {"aic_mte2_ratio", COL_PMU + PMU_MTE2}, {"mte2_ratio", COL_PMU + PMU_MTE2},
    {"aic_fixpipe_ratio", COL_PMU + PMU_FIXPIPE},
    {"fixpipe_ratio", COL_PMU + PMU_FIXPIPE},
    {"aiv_vec_ratio", COL_PMU + PMU_VEC}, {"vec_ratio", COL_PMU + PMU_VEC},
    {"vec_exe_ratio", COL_PMU + PMU_VEC}, {"aiv_vec_exe_ratio", COL_PMU + PMU_VEC},
    {"aiv_scalar_ratio", COL_PMU + PMU_VEC_SCALAR},
    {"aiv_mte2_ratio", COL_PMU + PMU_VEC_MTE2},
    {"aiv_mte3_ratio", COL_PMU + PMU_MTE3}, {"mte3_ratio", COL_PMU + PMU_MTE3},
    {"cube_utilization(%)", COL_PMU + PMU_CUBE_USE},
    {"read_main_memory_datas(KB)", COL_PMU + PMU_READ_KB},
    {"aic_read_main_memory_datas(KB)", COL_PMU + PMU_READ_KB},
    {"write_main_memory_datas(KB)", COL_PMU + PMU_WRITE_KB},
    {"aic_write_main_memory_datas(KB)", COL_PMU + PMU_WRITE_KB},
    {"aiv_read_main_memory_datas(KB)", COL_PMU + PMU_VEC_READ_KB},
    {"aiv_write_main_memory_datas(KB)", COL_PMU + PMU_VEC_WRITE_KB},
};

static bool is_name(Str cell, const char *name) {
    return cell.len == strlen(name) && strncasecmp(cell.at, name, cell.len) == 0;
}

// Of two columns with the same meaning the first counts.
static void take_column(Columns *columns, Str cell, uint32_t index) {
    for (size_t i = 0; i < COUNT(names); i++) {
        if (!is_name(cell, names[i].name)) continue;
        int16_t *at = &columns->at[names[i].column];
        if (*at == PROF_NONE) *at = (int16_t)index;
        return;
    }
}

// A spreadsheet may have saved with ';' or tabs.
static char guess_separator(Str header) {
    static const char marks[] = {',', ';', '\t'};
    size_t best = 0, most = 0;
    for (size_t m = 0; m < COUNT(marks); m++) {
        size_t seen = 0;
        for (size_t i = 0; i < header.len; i++) seen += header.at[i] == marks[m];
        if (seen > most) best = m, most = seen;
    }
    return marks[best];
}

static bool is_kind_cell(const Columns *columns, uint32_t cell) {
    for (int c = COL_KIND_FIRST; c <= COL_KIND_LAST; c++) {
        if (columns->at[c] == (int16_t)cell) return true;
    }
    return false;
}

static void find_spans(Columns *columns) {
    for (uint32_t cell = 0; cell < columns->count; cell++) {
        if (!is_kind_cell(columns, cell)) continue;
        bool joins = columns->span_count &&
                     columns->spans[columns->span_count - 1].last + 1u == cell;
        if (joins) columns->spans[columns->span_count - 1].last = (uint16_t)cell;
        else columns->spans[columns->span_count++] = (CellSpan){(uint16_t)cell, (uint16_t)cell};
    }
}

static void find_pmu(Columns *columns) {
    for (int i = 0; i < PMU_COUNT; i++) {
        if (columns->at[COL_PMU + i] == PROF_NONE) continue;
        columns->pmu[columns->pmu_count++] = (uint16_t)i;
    }
}

static bool has(const Columns *columns, int column) {
    return columns->at[column] != PROF_NONE;
}

// Whether a name of the header begins with `prefix`.
static bool has_prefix(const Cells *cells, Str header, const char *prefix) {
    for (uint32_t i = 0; i < cells->count; i++) {
        if (str_starts(cells_text(cells, header, i), prefix)) return true;
    }
    return false;
}

static void note_presence(const Columns *columns, ProfHas *out) {
    out->step = has(columns, COL_STEP);
    out->device = has(columns, COL_DEVICE);
    out->stream = has(columns, COL_STREAM);
    out->type = has(columns, COL_TYPE);
    out->core = has(columns, COL_CORE);
    out->state = has(columns, COL_STATE);
    out->in_shapes = has(columns, COL_IN_SHAPES);
    out->out_shapes = has(columns, COL_OUT_SHAPES);
    out->in_dtypes = has(columns, COL_IN_DTYPES);
    out->out_dtypes = has(columns, COL_OUT_DTYPES);
    out->formats = has(columns, COL_IN_FORMATS);
    out->wait = has(columns, COL_WAIT);
    out->pipes = has(columns, COL_PMU + PMU_MTE2) || has(columns, COL_PMU + PMU_VEC_MTE2);
    out->memory_bytes = has(columns, COL_PMU + PMU_READ_KB) ||
                        has(columns, COL_PMU + PMU_VEC_READ_KB);
}

static bool check(const Columns *columns, const char *path, Err *err) {
    static const struct {
        Column column;
        const char *name;
    } musts[] = {
        {COL_NAME, "Name"}, {COL_START, "Start Time(us)"}, {COL_DURATION, "Duration(us)"},
    };
    for (size_t i = 0; i < COUNT(musts); i++) {
        if (has(columns, musts[i].column)) continue;
        return err_set(err, "'%s', line 1: no column '%s': give a kernel_details.csv or "
                       "op_summary.csv of the Ascend profiler", path, musts[i].name);
    }
    return true;
}

// Cells of the kind beyond the last one that is there may be missing in a line.
static uint32_t last_needed(const Columns *columns) {
    int last = 0;
    for (int c = 0; c < COL_WAIT; c++) {
        if (columns->at[c] > last) last = columns->at[c];
    }
    return (uint32_t)last + 1;
}

bool columns_read(Columns *out, ProfHas *seen, Str header, const char *path, Err *err) {
    char line[16 * 1024 + CELLS_SLACK] = {0};
    if (header.len > sizeof(line) - CELLS_SLACK) {
        return err_set(err, "'%s', line 1: the header has %zu bytes: this is no kernel profile",
                       path, header.len);
    }
    memcpy(line, header.at, header.len);
    Str text = {line, header.len};
    Cells cells;
    *out = (Columns){.header = header, .separator = guess_separator(header)};
    for (int i = 0; i < COL_COUNT; i++) out->at[i] = PROF_NONE;
    cells_split(&cells, text, out->separator);
    out->count = cells.count;
    for (uint32_t i = 0; i < cells.count; i++) take_column(out, cells_text(&cells, text, i), i);
    if (!check(out, path, err)) return false;
    find_spans(out);
    find_pmu(out);
    out->needed = last_needed(out);
    note_presence(out, seen);
    seen->split = has_prefix(&cells, text, "aic_") || has_prefix(&cells, text, "aiv_");
    seen->arithmetic = has_prefix(&cells, text, "aic_mac_fp16") ||
                       has_prefix(&cells, text, "mac_fp16") ||
                       has_prefix(&cells, text, "aiv_vec_fp32") ||
                       has_prefix(&cells, text, "vec_fp32");
    return true;
}
