// stats.h - is one arm's step time lower than the other's, and how sure is that?
#ifndef NPUFUSE_STATS_H
#define NPUFUSE_STATS_H

#include "base/arena.h"
#include "model/json.h"
#include "model/task.h"
#include "trial/steps.h"

enum { STATS_RUNS_MAX = 32 };

typedef struct TimedRun {
    const char *name;   // "A1", "B1", ...
    bool is_fused;
    double *times;      // seconds, in the order of the steps; kept in the arena
    double quantum_s;   // what the last digit of the log's times is worth; 0: exact
    uint32_t count;
    uint32_t dropped;   // of them at the start: warm-up; set by stats_judge
    double median, p95; // of what is left; set by stats_judge
    double drift;       // of it, the last third against the first: 0.1 is 10 % slower
} TimedRun;

typedef struct Stats {
    Speed speed;
    double ratio, low, high; // fused / baseline with its 95 % interval
    double noise;            // spread of the baseline runs against each other
    double minimum_effect;   // 0.01
    double resolution;       // of the logs, as a part of a step; the interval has it in
    double drift;            // the middle of the runs' drifts
    uint64_t seed;
    uint32_t runs_needed;    // a side, where undecided; 0: unknown
    Str reason;              // a sentence, in the arena
} Stats;

// The times of a run's steps, without those of no time. False if it has none.
bool timed_run_init(TimedRun *out, Arena *arena, const StepList *steps, const char *name,
                    bool is_fused);
void stats_judge(Stats *out, Arena *arena, TimedRun *runs, uint32_t count, uint64_t seed);
// The object "performance" of a report.
void stats_write(Json *json, const Stats *stats, const TimedRun *runs, uint32_t count);

#endif
