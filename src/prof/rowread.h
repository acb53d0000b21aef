// rowread.h - blocks of a profile file to rows, on several threads.
#ifndef NPUFUSE_ROWREAD_H
#define NPUFUSE_ROWREAD_H

#include "prof/kinds.h"

enum {
    BLOCK_BYTES = 1024 * 1024,
    LINE_MAX_BYTES = 60000, // a longer line is no row
    ID_MAX = 60000,         // streams, and steps
    FIRST_PAGE_ROWS = 1 << 13, LAST_PAGE_ROWS = 1 << 18, // each page twice the one before
};

// The rows whose line begins in one block of the file.
typedef struct RowBlock {
    ProfRow *rows; // kind, lane and step are indices into the reader's own tables
    uint32_t count;
    uint32_t reader;
    ProfFaults faults; // first_row counts from the block's first row
} RowBlock;

// Numbers seen so far, and their indices by order of appearance. Beyond ID_MAX all
// new ones count as the last.
typedef struct IdTable {
    int64_t *ids;
    uint64_t *first; // block << 32 | row
    uint32_t *slots; // index + 1
    uint32_t len, cap, last;
} IdTable;

// What one thread has of its own.
typedef struct RowReader {
    Arena arena;
    KindTable kinds;
    IdTable lanes, steps; // a lane's id is device << 32 | stream
    char *buffer;
    ProfRow *page; // where rows are put: those of a block side by side
    uint32_t page_rows, page_used;
    bool rounded, crlf, tab;
} RowReader;

// What all threads share; the callers own it.
typedef struct RowFile {
    int fd;
    uint64_t first, size; // of the data: behind the header
    const Columns *columns;
} RowFile;

void row_reader_init(RowReader *reader);
void row_reader_free(RowReader *reader);
// Reads block `index`; false with errno where the disk failed.
bool row_reader_block(RowReader *reader, RowBlock *out, const RowFile *file, uint64_t index);
uint32_t id_table_index(IdTable *table, Arena *arena, int64_t id, uint64_t first);

#define LANE_ID(device, stream) \
    ((int64_t)(((uint64_t)(uint32_t)(device) << 32) | (uint32_t)(stream)))

#endif
