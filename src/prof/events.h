// events.h - the events of a trace file (Chrome's format), one at a time.
//
// A trace has hundreds of MB: it is read in pieces, and only the event at hand
// is in memory. The list of events may be the file itself or the member
// "traceEvents"; its end may be missing, as after an export that was killed.
#ifndef NPUFUSE_EVENTS_H
#define NPUFUSE_EVENTS_H

#include "model/json_read.h"

typedef struct EventReader {
    void (*take)(void *data, const JsonVal *event); // dropped after the call
    void *data;
    void (*progress)(void *data, uint32_t done, uint32_t count); // percent; or NULL
    void *progress_data;
} EventReader;

typedef struct EventStats {
    uint64_t events;
    uint64_t faults;  // texts that are no JSON, or larger than an event may be
    uint64_t first_fault; // offset in the file of the first of them
    bool is_cut;      // the list has no end
} EventStats;

// False if the file cannot be read or has no list of events.
MUST_CHECK bool events_read(EventStats *out, const char *path, const EventReader *reader,
                            Err *err);
// Microseconds in decimal, as text or number, to nanoseconds. A double holds the
// time of day to a quarter of a microsecond only. False if it is no such number.
MUST_CHECK bool event_ns(int64_t *out, const JsonVal *v);

#endif
