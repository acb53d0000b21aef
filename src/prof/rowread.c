// rowread.c - one pass over the bytes of a block: a line is taken apart, its times
// become integers, its kind is looked up, its counters are added to the kind.
// A line is a row: no cell of a profile has a line end in it, so that a quote that
// was cut costs one row and not the rest of the file.
#include "base/base.h"

#include "prof/decimal.h"
#include "prof/rowread.h"

#include <errno.h>
#include <unistd.h>

enum {
    // Rows of a kind in a block whose counters are read, in files of few blocks and of many.
    SAMPLES = 4, SAMPLES_OF_MANY = 1, MANY_BLOCKS = 64,
    STEP_BITS = (1 << 20) - 1,
    MORE_BYTES = LINE_MAX_BYTES + CELLS_SLACK,
};

// The cell of an id in the row before, and its number: most rows repeat it.
typedef struct LastId {
    Str cell;
    int64_t id;
} LastId;

typedef struct RowWork {
    RowReader *reader;
    RowBlock *block;
    const Columns *columns;
    uint64_t index;
    uint32_t samples;
    Cells cells;
    bool is_whole; // all cells are there, not only those that every row needs
    LastId last[COL_STREAM + 1];
    Str line;
} RowWork;

void row_reader_init(RowReader *reader) {
    *reader = (RowReader){0};
    arena_init(&reader->arena);
    kinds_init(&reader->kinds);
    reader->buffer = arena_raw(&reader->arena, 1 + BLOCK_BYTES + MORE_BYTES + CELLS_SLACK);
}

void row_reader_free(RowReader *reader) {
    kinds_free(&reader->kinds);
    arena_free(&reader->arena);
}

static uint32_t id_slot(const IdTable *table, int64_t id) {
    uint64_t hash = (uint64_t)id * UINT64_C(0x9E3779B97F4A7C15);
    uint32_t slot = (uint32_t)(hash >> 32) & (table->cap * 2 - 1);
    while (table->slots[slot] && table->ids[table->slots[slot] - 1] != id) {
        slot = (slot + 1) & (table->cap * 2 - 1);
    }
    return slot;
}

static void grow_ids(IdTable *table, Arena *arena) {
    uint32_t cap = table->cap ? table->cap * 2 : 16;
    table->ids = arena_grow(arena, table->ids, table->cap * 8, (size_t)cap * 8);
    table->first = arena_grow(arena, table->first, table->cap * 8, (size_t)cap * 8);
    table->slots = NEW_N(arena, uint32_t, cap * 2);
    table->cap = cap;
    for (uint32_t i = 0; i < table->len; i++) {
        table->slots[id_slot(table, table->ids[i])] = i + 1;
    }
}

uint32_t id_table_index(IdTable *table, Arena *arena, int64_t id, uint64_t first) {
    if (table->len && table->ids[table->last] == id) return table->last;
    if (table->len == table->cap) grow_ids(table, arena);
    uint32_t slot = id_slot(table, id);
    if (table->slots[slot]) {
        table->last = table->slots[slot] - 1;
        return table->last;
    }
    if (table->len == ID_MAX) return ID_MAX - 1;
    table->ids[table->len] = id;
    table->first[table->len] = first;
    table->slots[slot] = table->len + 1;
    table->last = table->len++;
    return table->last;
}

static inline Str raw_cell(const RowWork *work, int cell) {
    const uint32_t *end = work->cells.end;
    uint32_t from = cell ? end[cell - 1] + 1 : 0;
    return (Str){work->line.at + from, end[cell] - from};
}

static int64_t id_of(Str cell) {
    uint64_t value;
    if (decimal_read(&value, cell, 0) != DECIMAL_OK) return PROF_NONE;
    return value >= INT32_MAX ? PROF_NONE : (int64_t)value;
}

// A small whole number; PROF_NONE for N/A and what does not fit.
static int64_t read_id(RowWork *work, Column column) {
    int at = work->columns->at[column];
    if (at == PROF_NONE) return PROF_NONE;
    Str cell = raw_cell(work, at);
    LastId *last = &work->last[column];
    bool same = cell.len == last->cell.len && last->cell.at;
    for (size_t i = 0; i < cell.len && same; i++) same = cell.at[i] == last->cell.at[i];
    if (!same) last->id = id_of(cell);
    last->cell = cell;
    return last->id;
}

static bool is_header(const RowWork *work) {
    Str header = work->columns->header, line = work->line;
    if (line.len >= 3 && memcmp(line.at, "\xEF\xBB\xBF", 3) == 0) {
        line = (Str){line.at + 3, line.len - 3};
    }
    return str_eq(line, header);
}

static void add_fault(RowWork *work, ProfFault fault) {
    RowBlock *block = work->block;
    if (is_header(work)) return; // of the next slice
    if (block->faults.count[fault]++ == 0) block->faults.first_row[fault] = block->count;
}

// One of the two times; false if the row has none.
static bool read_time(RowWork *work, uint64_t *out, Column column) {
    static const ProfFault faults[] = {
        [DECIMAL_NONE] = FAULT_TIME, [DECIMAL_NEGATIVE] = FAULT_NEGATIVE,
        [DECIMAL_RANGE] = FAULT_RANGE,
    };
    Str cell = raw_cell(work, work->columns->at[column]);
    DecimalAnswer answer = decimal_read(out, cell, 3);
    if (answer == DECIMAL_ROUNDED) work->reader->rounded = true;
    uint64_t limit = column == COL_START ? INT64_MAX / 2 : (UINT64_C(1) << 44) - 1;
    if (answer == DECIMAL_OK || answer == DECIMAL_ROUNDED) {
        if (*out <= limit) return true;
        answer = DECIMAL_RANGE;
    }
    add_fault(work, faults[answer]);
    return false;
}

static void add_counters(RowWork *work, KindTally *tally) {
    const Columns *columns = work->columns;
    if (columns->pmu_count == 0) return;
    if (tally->sampled_in != work->index + 1) {
        tally->sampled_in = work->index + 1;
        tally->samples = 0;
    }
    if (tally->samples++ >= work->samples) return;
    if (!work->is_whole) cells_split(&work->cells, work->line, columns->separator);
    work->is_whole = true;
    for (uint32_t i = 0; i < columns->pmu_count; i++) {
        uint64_t value;
        uint32_t cell = (uint32_t)columns->at[COL_PMU + columns->pmu[i]];
        if (cell >= work->cells.count) continue;
        if (decimal_read(&value, raw_cell(work, (int)cell), 6) != DECIMAL_OK) continue;
        tally->pmu[columns->pmu[i]].millionths += value;
        tally->pmu[columns->pmu[i]].rows++;
    }
}

// By the cells that make a kind.
static uint32_t intern_kind(RowWork *work) {
    const Columns *columns = work->columns;
    KindKey key; // large: only what is used of it is set
    key.count = columns->span_count;
    for (uint32_t i = 0; i < columns->span_count; i++) {
        CellSpan span = columns->spans[i];
        Str first = raw_cell(work, span.first);
        key.part[i] = (Str){first.at, (size_t)(work->line.at + work->cells.end[span.last] -
                                               first.at)};
    }
    return kinds_intern(&work->reader->kinds, &key);
}

static void count_row(RowWork *work, uint32_t kind, uint64_t duration) {
    KindTally *tally = &work->reader->kinds.tallies.at[kind];
    if (tally->count++ == 0) tally->first = work->index << 32 | work->block->count;
    tally->total_ns += duration;
    if (duration < tally->min_ns) tally->min_ns = duration;
    if (duration > tally->max_ns) tally->max_ns = duration;
    add_counters(work, tally);
}

static bool is_cut(RowWork *work) {
    const Cells *cells = &work->cells;
    if (cells->too_many) add_fault(work, FAULT_LONG);
    else if (cells->quote_open) add_fault(work, FAULT_QUOTE);
    else if (cells->count < work->columns->needed) add_fault(work, FAULT_SHORT);
    else return false;
    return true;
}

// Whether the line is taken apart, and is a row.
static bool split_line(RowWork *work) {
    if (work->line.len > LINE_MAX_BYTES) {
        add_fault(work, FAULT_LONG);
        return false;
    }
    cells_split_first(&work->cells, work->line, work->columns->separator,
                      work->columns->needed, &work->is_whole);
    return !is_cut(work);
}

// Fills `out`; a line that is no row leaves it without a kind. `kind`: what the row is
// expected to be, with its cells; PROF_NO_KIND: nothing is known of the line.
static void read_row(RowWork *work, ProfRow *out, uint32_t kind) {
    uint64_t start, duration;
    *out = (ProfRow){.kind = PROF_NO_KIND};
    if (kind == PROF_NO_KIND && !split_line(work)) return;
    if (!read_time(work, &start, COL_START) || !read_time(work, &duration, COL_DURATION)) return;
    RowReader *reader = work->reader;
    uint64_t place = work->index << 32 | work->block->count;
    int64_t lane = LANE_ID(read_id(work, COL_DEVICE), read_id(work, COL_STREAM));
    uint32_t step = id_table_index(&reader->steps, &reader->arena, read_id(work, COL_STEP),
                                   place);
    out->start_ns = (int64_t)start;
    out->duration_ns = duration & ((UINT64_C(1) << 44) - 1);
    out->step = step & STEP_BITS;
    out->lane = (uint16_t)id_table_index(&reader->lanes, &reader->arena, lane, place);
    if (kind == PROF_NO_KIND) kind = intern_kind(work);
    else kinds_take(&reader->kinds, kind);
    out->kind = kind;
    count_row(work, kind, duration);
}

// Kernels come in the same order over and over: whether the line at the beginning of
// `text` is of one of the kinds that came next before. Sets the line and its cells.
static uint32_t expect_kind(RowWork *work, Str text) {
    const Columns *columns = work->columns;
    const KindTable *kinds = &work->reader->kinds;
    for (uint32_t nth = 0; nth < 2; nth++) {
        uint32_t kind = kinds_guess(kinds, nth);
        if (kind == PROF_NO_KIND) break;
        const KindTally *tally = &kinds->tallies.at[kind];
        CellsGuess guess = {columns->spans, tally->span_len, tally->key, columns->span_count,
                            columns->needed};
        size_t len;
        if (!cells_follow(&work->cells, &len, text, columns->separator, &guess)) continue;
        work->line = (Str){text.at, len};
        work->is_whole = false;
        return len <= LINE_MAX_BYTES ? kind : PROF_NO_KIND;
    }
    return PROF_NO_KIND;
}

// A page of rows twice as large; the block at work takes its rows along.
static void turn_page(RowWork *work) {
    RowReader *reader = work->reader;
    RowBlock *block = work->block;
    uint32_t rows = reader->page_rows * 2;
    if (rows < FIRST_PAGE_ROWS) rows = FIRST_PAGE_ROWS;
    if (rows > LAST_PAGE_ROWS) rows = LAST_PAGE_ROWS;
    if (rows < block->count * 2) rows = block->count * 2;
    ProfRow *page = arena_raw(&reader->arena, rows * sizeof(ProfRow));
    if (block->count) memcpy(page, block->rows, block->count * sizeof(ProfRow));
    reader->page = block->rows = page;
    reader->page_rows = rows;
    reader->page_used = block->count;
}

static ProfRow *next_row(RowWork *work) {
    RowReader *reader = work->reader;
    if (reader->page_used == reader->page_rows) turn_page(work);
    return &reader->page[reader->page_used++];
}

static void read_lines(RowWork *work, Str bytes, const char *stop) {
    const char *at = bytes.at, *end = bytes.at + bytes.len;
    while (at < stop) {
        uint32_t kind = expect_kind(work, (Str){at, (size_t)(end - at)});
        if (kind == PROF_NO_KIND) {
            const char *newline = memchr(at, '\n', (size_t)(end - at));
            work->line = (Str){at, (size_t)((newline ? newline : end) - at)};
        }
        at += work->line.len + 1;
        if (work->line.len && work->line.at[work->line.len - 1] == '\r') work->line.len--;
        if (work->line.len) {
            read_row(work, next_row(work), kind);
            work->block->count++;
        }
    }
}

static bool read_at(Str *out, const RowFile *file, char *buffer, uint64_t from, size_t bytes) {
    size_t got = 0;
    while (got < bytes) {
        ssize_t n = pread(file->fd, buffer + got, bytes - got, (off_t)(from + got));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return false;
        if (n == 0) break;
        got += (size_t)n;
    }
    memset(buffer + got, 0, CELLS_SLACK);
    *out = (Str){buffer, got};
    return true;
}

// The last line of the block may go on behind it: reads on until it ends.
static bool read_rest(Str *bytes, const RowFile *file, uint64_t from) {
    Str more;
    const char *last = bytes->at + bytes->len;
    if (bytes->len && last[-1] == '\n') return true;
    for (size_t have = 0; have < MORE_BYTES;) {
        size_t ask = have ? MORE_BYTES - have : 2048;
        if (ask > MORE_BYTES - have) ask = MORE_BYTES - have;
        char *to = (char *)(uintptr_t)last + have;
        if (!read_at(&more, file, to, from + have, ask)) return false;
        bytes->len += more.len;
        have += more.len;
        if (more.len < ask || memchr(to, '\n', more.len)) return true;
    }
    return true;
}

bool row_reader_block(RowReader *reader, RowBlock *out, const RowFile *file, uint64_t index) {
    uint64_t from = file->first + index * BLOCK_BYTES, left = file->size - from;
    size_t wanted = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
    RowWork work = {.reader = reader, .block = out, .columns = file->columns, .index = index};
    bool many = (file->size - file->first) / BLOCK_BYTES >= MANY_BLOCKS;
    work.samples = many ? SAMPLES_OF_MANY : SAMPLES;
    Str bytes;
    // One byte in front tells whether a line begins at the block's first byte.
    if (!read_at(&bytes, file, reader->buffer, from - 1, wanted + 1)) return false;
    const char *stop = bytes.at + bytes.len;
    if (from - 1 + bytes.len < file->size &&
        !read_rest(&bytes, file, from - 1 + bytes.len)) {
        return false;
    }
    *out = (RowBlock){.rows = reader->page ? reader->page + reader->page_used : NULL};
    const char *newline = bytes.len ? memchr(bytes.at, '\n', (size_t)(stop - bytes.at)) : NULL;
    if (!newline) return true;
    Str lines = {newline + 1, (size_t)(bytes.at + bytes.len - newline - 1)};
    read_lines(&work, lines, stop);
    return true;
}
