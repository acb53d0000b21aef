// steps.h - training steps out of a log, whatever wrote it.
//
// The parser is fed with bytes as they come and needs constant memory. Each
// log format is one row of a table in steps.c; steps_json.c has the JSON lines.
#ifndef NPUFUSE_STEPS_H
#define NPUFUSE_STEPS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

enum { STEP_LINE_MAX = 64 * 1024, STEP_PHASE_MAX = 12, STEP_EPOCHS_MAX = 8 };

typedef struct StepRecord {
    int64_t step;
    double loss;        // may be NaN or infinite
    bool has_loss;
    double quantum;     // what the last printed digit of the loss is worth; 0: exact
    double step_time_s;
    double time_quantum_s; // as quantum, of the time
    bool has_time;
    uint32_t skipped, nans; // iterations that were skipped, or nan, as Megatron counts
    char phase[STEP_PHASE_MAX]; // "", "wait", "warmup", "active", "tail"
} StepRecord;

// Where the steps of an epoch lie, in logs that count anew in each.
typedef struct StepEpoch {
    double number;
    int64_t first;  // as printed
    int64_t offset; // what is added to it
    int64_t last;   // the highest so far, offset included
} StepEpoch;

typedef struct StepParser {
    void (*take)(void *data, const StepRecord *step);
    void *data;
    Buf line;          // the unfinished one
    bool is_long;      // it is beyond STEP_LINE_MAX: the rest is dropped
    uint32_t seconds[256];  // a bit for each second letter of keys that begin so
    uint8_t first_key[256]; // the first one that does
    int64_t last; // step
    StepEpoch epochs[STEP_EPOCHS_MAX]; // the latest ones: one rank is ahead of another
    uint32_t epoch_count;
    int64_t shown;     // of `shown/total` in a progress bar; -1: none yet
    double shown_time_s; // its rate; 0: none
    double shown_quantum_s;
    int64_t shown_total; // 0: none yet
    int64_t bar_last, bar_offset; // of bars that tell the loss: the last `shown`
    int64_t total;       // of the bar that steps were counted by; 0: none yet
} StepParser;

void step_parser_init(StepParser *parser, void (*take)(void *data, const StepRecord *step),
                      void *data);
void step_parser_feed(StepParser *parser, Str chunk);
// The last line may lack its end; frees what the parser holds.
void step_parser_end(StepParser *parser);

// Steps by number; of records of one step the last one counts.
typedef VEC(StepRecord) StepList; // sorted

// What a later record says of the same step; what it leaves out stays.
void step_merge(StepRecord *into, const StepRecord *step);
void step_list_add(StepList *list, Arena *arena, const StepRecord *step);
const StepRecord *step_list_find(const StepList *list, int64_t step); // NULL if none

// One JSON object a line: {"step", "loss", "step_time"} and, where there is
// something to say, "phase" and "loss_text" ("nan", "inf", "-inf"; loss: null).
void step_write_json(Buf *out, const StepRecord *step);
void steps_write_jsonl(Buf *out, const StepList *list);
// The message names file and line.
MUST_CHECK bool steps_read_jsonl(StepList *out, Arena *arena, const char *path, Err *err);

#endif
