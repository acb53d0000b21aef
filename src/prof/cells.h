// cells.h - a line of a CSV file taken apart, many bytes at a time.
#ifndef NPUFUSE_CELLS_H
#define NPUFUSE_CELLS_H

#include "base/base.h"

enum {
    CELLS_MAX = 512,
    CELLS_SLACK = 64, // bytes behind a line that have to be readable
};

// Cell i is line[end[i - 1] + 1 .. end[i]), the first begins at 0.
typedef struct Cells {
    uint32_t count;
    bool quote_open; // the line ends inside quotes
    bool too_many;
    uint32_t end[CELLS_MAX + 72];
} Cells;

// Cells that stand side by side.
typedef struct CellSpan {
    uint16_t first, last;
} CellSpan;

// What a line is expected to have: `key` is the bytes of the spans one behind the
// other, span_len[i] those of the i-th.
typedef struct CellsGuess {
    const CellSpan *spans;
    const uint16_t *span_len;
    const char *key;
    uint32_t span_count;
    uint32_t needed; // cells
} CellsGuess;

// A separator inside double quotes is none. `line` has no line end.
void cells_split(Cells *out, Str line, char separator);
// The same for the first `wanted` cells; where no quote is behind them, the others stay
// in one piece (*whole is false then).
void cells_split_first(Cells *out, Str line, char separator, uint32_t wanted, bool *whole);
// Whether the line at the beginning of `text` is as expected, and plain besides: then
// the ends of its cells are filled (in a span that of the last) and `len` is the line
// without its line end. False says nothing: take it apart.
bool cells_follow(Cells *out, size_t *len, Str text, char separator, const CellsGuess *guess);
// Cell `index` without the blanks around it and the quotes around that.
Str cells_text(const Cells *cells, Str line, uint32_t index);
// `cell` without blanks, tabs and one pair of quotes around it, again and again:
// what is left of """4,2\t""" is 4,2.
Str cell_strip(Str cell);

#endif
