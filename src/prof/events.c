// events.c - a scanner for the brackets of a trace file. It knows text and
// depth; what an object holds is read by the JSON reader, one object at a time.
#include "base/base.h"

#include "prof/events.h"

#include "base/buf.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 20, EVENT_MAX_BYTES = 4 << 20 };

typedef struct Scanner {
    const EventReader *reader;
    EventStats *stats;
    Arena scratch;
    Buf event;         // the part of it that earlier chunks had
    uint64_t offset;   // of the chunk in the file
    uint64_t event_at; // of the event at hand
    uint32_t depth;
    uint32_t list_depth; // depth inside a list of events: 1, or 2 in an object
    bool in_text, is_escaped, in_event, is_too_long, has_list, is_closed;
} Scanner;

static void note_fault(Scanner *scanner) {
    if (!scanner->stats->faults++) scanner->stats->first_fault = scanner->event_at;
}

static void give_event(Scanner *scanner) {
    const JsonVal *event;
    Err ignored;
    ArenaMark mark = arena_mark(&scanner->scratch);
    if (scanner->is_too_long ||
        !json_read_loose(&event, &scanner->scratch, buf_str(&scanner->event), &ignored)) {
        note_fault(scanner);
    } else {
        scanner->stats->events++;
        scanner->reader->take(scanner->reader->data, event);
    }
    arena_reset(&scanner->scratch, mark);
    buf_clear(&scanner->event);
    scanner->in_event = scanner->is_too_long = false;
}

static void keep(Scanner *scanner, const char *at, size_t len) {
    if (scanner->event.len + len > EVENT_MAX_BYTES) scanner->is_too_long = true;
    if (!scanner->is_too_long) buf_add(&scanner->event, (Str){at, len});
}

// What an opening bracket means.
static void open_bracket(Scanner *scanner, char c, uint64_t at) {
    bool starts = c == '{' && scanner->list_depth && scanner->depth == scanner->list_depth;
    if (c == '[' && !scanner->in_event && scanner->depth < 2) {
        scanner->list_depth = scanner->depth + 1;
        scanner->has_list = true;
        scanner->is_closed = false;
    }
    if (starts) {
        scanner->in_event = true;
        scanner->event_at = at;
    }
    scanner->depth++;
}

// Whether the event at hand ends here.
static bool close_bracket(Scanner *scanner) {
    if (scanner->depth) scanner->depth--;
    if (scanner->in_event) return scanner->depth == scanner->list_depth;
    if (scanner->list_depth && scanner->depth < scanner->list_depth) {
        scanner->list_depth = 0;
        scanner->is_closed = true;
    }
    return false;
}

// Goes over text to the byte behind its end.
static const char *skip_text(Scanner *scanner, const char *at, const char *end) {
    while (at < end) {
        char c = *at++;
        if (scanner->is_escaped) scanner->is_escaped = false;
        else if (c == '\\') scanner->is_escaped = true;
        else if (c == '"') {
            scanner->in_text = false;
            break;
        }
    }
    return at;
}

static void scan_chunk(Scanner *scanner, const char *at, size_t len) {
    const char *begin = at, *end = at + len, *from = at;
    while (at < end) {
        if (scanner->in_text) {
            at = skip_text(scanner, at, end);
            continue;
        }
        char c = *at++;
        if (c == '"') {
            scanner->in_text = true;
        } else if (c == '{' || c == '[') {
            bool was_in = scanner->in_event;
            open_bracket(scanner, c, scanner->offset + (uint64_t)(at - 1 - begin));
            if (!was_in && scanner->in_event) from = at - 1;
        } else if ((c == '}' || c == ']') && close_bracket(scanner)) {
            keep(scanner, from, (size_t)(at - from));
            give_event(scanner);
        }
    }
    if (scanner->in_event) keep(scanner, from, (size_t)(end - from));
    scanner->offset += len;
}

static void tell_progress(const Scanner *scanner, uint64_t size) {
    const EventReader *reader = scanner->reader;
    if (!reader->progress || !size) return;
    uint64_t done = scanner->offset * 100 / size;
    reader->progress(reader->progress_data, done < 100 ? (uint32_t)done : 100, 100);
}

static bool scan_file(Scanner *scanner, int fd, const char *path, Err *err) {
    struct stat st;
    if (fstat(fd, &st) != 0) return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode)) return err_set(err, "'%s' is not a regular file", path);
    char *chunk = arena_alloc(&scanner->scratch, CHUNK_BYTES);
    for (;;) {
        ssize_t got = read(fd, chunk, CHUNK_BYTES);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return err_set(err, "cannot read '%s': %s", path, strerror(errno));
        if (got == 0) return true;
        scan_chunk(scanner, chunk, (size_t)got);
        tell_progress(scanner, (uint64_t)st.st_size);
    }
}

static bool finish(Scanner *scanner, const char *path, Err *err) {
    if (scanner->in_event) note_fault(scanner);
    scanner->stats->is_cut = scanner->has_list && !scanner->is_closed;
    if (scanner->has_list) return true;
    return err_set(err, scanner->offset ? "'%s' is no trace: there is no list of events in it"
                                        : "'%s' is empty", path);
}

bool events_read(EventStats *out, const char *path, const EventReader *reader, Err *err) {
    Scanner scanner = {.reader = reader, .stats = out};
    *out = (EventStats){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return err_set(err, "cannot open '%s': %s", path, strerror(errno));
    arena_init(&scanner.scratch);
    bool ok = scan_file(&scanner, fd, path, err) && finish(&scanner, path, err);
    arena_free(&scanner.scratch);
    buf_free(&scanner.event);
    close(fd);
    return ok;
}

// ---- time --------------------------------------------------------------------------

enum { US_MAX_DIGITS = 16 }; // of whole microseconds; their nanoseconds fit

static bool text_ns(int64_t *out, Str text) {
    uint64_t us = 0, part = 0, weight = 100;
    size_t i = 0;
    while (i < text.len && text.at[i] >= '0' && text.at[i] <= '9') {
        us = us * 10 + (uint64_t)(text.at[i++] - '0');
        if (i > US_MAX_DIGITS) return false;
    }
    if (i == 0) return false;
    if (i < text.len && text.at[i] == '.') {
        for (i++; i < text.len && text.at[i] >= '0' && text.at[i] <= '9'; i++) {
            part += weight * (uint64_t)(text.at[i] - '0');
            weight /= 10;
        }
    }
    while (i < text.len && (text.at[i] == '\t' || text.at[i] == ' ')) i++;
    if (i < text.len || us > INT64_MAX / 1000 - 1) return false;
    *out = (int64_t)(us * 1000 + part);
    return true;
}

bool event_ns(int64_t *out, const JsonVal *v) {
    if (json_is_text(v)) return text_ns(out, json_text(v));
    double us = json_number(v, -1);
    if (!(us >= 0 && us < 9e15)) return false;
    double whole = floor(us);
    *out = (int64_t)whole * 1000 + (int64_t)floor((us - whole) * 1000 + 0.5);
    return true;
}
