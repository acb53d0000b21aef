// trace_kernels.c - the kernels of a trace as a table, for a profile of which only
// the trace is left.
#include "base/base.h"

#include "prof/trace.h"

#include "base/buf.h"
#include "prof/trace_impl.h"

#include <errno.h>
#include <stdio.h>

typedef struct Writer {
    FILE *file;
    TraceKernels *out;
} Writer;

// A cell of the table: quoted, quotes doubled, on one line.
static void write_text(FILE *file, Str text) {
    fputc('"', file);
    for (size_t i = 0; i < text.len; i++) {
        char c = text.at[i];
        if (c == '"') fputc('"', file);
        fputc(c == '\n' || c == '\r' ? ' ' : c, file);
    }
    fputc('"', file);
}

static void take_kernel(void *data, const JsonVal *event) {
    Writer *writer = data;
    int64_t stream, device, start, duration;
    if (!str_is(json_text(json_member(event, "ph")), "X") ||
        !trace_kernel(&stream, &device, event) ||
        !event_ns(&start, json_member(event, "ts")) ||
        !event_ns(&duration, json_member(event, "dur"))) {
        return;
    }
    writer->out->kernels++;
    fprintf(writer->file, "%lld,%lld,", (long long)device, (long long)stream);
    write_text(writer->file, json_text(json_member(event, "name")));
    fputs(",N/A,", writer->file);
    write_text(writer->file, json_text(json_member(json_member(event, "args"), "Task Type")));
    fprintf(writer->file, ",%lld.%03lld,%lld.%03lld\n", (long long)(start / 1000),
            (long long)(start % 1000), (long long)(duration / 1000),
            (long long)(duration % 1000));
}

bool trace_write_kernels(TraceKernels *out, const char *csv, const TraceOptions *options,
                         Err *err) {
    *out = (TraceKernels){0};
    Writer writer = {fopen(csv, "w"), out};
    if (!writer.file) return err_set(err, "cannot write '%s': %s", csv, strerror(errno));
    fputs("Device_id,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n",
          writer.file);
    EventReader reader = {take_kernel, &writer, options->progress, options->data};
    bool ok = events_read(&out->events, options->path, &reader, err);
    bool is_written = !ferror(writer.file);
    if ((fclose(writer.file) != 0 || !is_written) && ok) {
        return err_set(err, "cannot write '%s': %s", csv, strerror(errno));
    }
    return ok;
}
