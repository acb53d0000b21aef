// columns.h - which cell of a line holds what: by the names of the header.
#ifndef NPUFUSE_COLUMNS_H
#define NPUFUSE_COLUMNS_H

#include "prof/cells.h"
#include "prof/profile.h"

typedef enum Column {
    COL_STEP, COL_DEVICE, COL_STREAM, COL_START, COL_DURATION,
    // What makes a kind, COL_KIND_FIRST..COL_KIND_LAST.
    COL_NAME, COL_TYPE, COL_STATE, COL_CORE, COL_IN_SHAPES, COL_IN_DTYPES,
    COL_IN_FORMATS, COL_OUT_SHAPES, COL_OUT_DTYPES, COL_OUT_FORMATS,
    COL_WAIT, COL_PMU, // COL_PMU + a ProfPmu
    COL_COUNT = COL_PMU + PMU_COUNT,
    COL_KIND_FIRST = COL_NAME, COL_KIND_LAST = COL_OUT_FORMATS,
} Column;

enum { COLUMNS_MAX_SPANS = COL_KIND_LAST - COL_KIND_FIRST + 1 };

typedef struct Columns {
    int16_t at[COL_COUNT]; // cell, PROF_NONE: there is no such column
    uint32_t count;        // cells of the header
    uint32_t needed;       // a line with fewer cells is cut
    CellSpan spans[COLUMNS_MAX_SPANS];
    uint32_t span_count;
    uint16_t pmu[PMU_COUNT]; // those ProfPmu that have a column
    uint32_t pmu_count;
    char separator;
    Str header; // the line, without BOM and line end
} Columns;

// Fails where the header is none of a kernel profile; says which column is missing.
MUST_CHECK bool columns_read(Columns *out, ProfHas *has, Str header, const char *path,
                             Err *err);

#endif
