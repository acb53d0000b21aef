// steps.c - `npufuse steps`: a training log to one JSON object a step.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/output.h"
#include "trial/steps.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

typedef struct StepsArgs {
    bool quiet;
} StepsArgs;

static const Option options[] = {
    {"quiet", 'q', OPTION_FLAG, NULL, "only data and errors", offsetof(StepsArgs, quiet)},
};

static const Usage usage = {
    .name = "steps",
    .operands = "LOG",
    .purpose =
        "Finds the training steps in a log and prints one JSON object for each: step,\n"
        "loss, step_time in seconds. LOG is a file, or - for standard input.\n\n"
        "Understood are lines with a step and a loss as most loops print them\n"
        "(`step 12 | loss 0.5 | step_time_ms 31`), JSON lines, the dicts of the Hugging\n"
        "Face Trainer (4 and 5) with its progress bar, and the lines of Megatron-LM and\n"
        "MindSpeed. Of lines that speak of one step the last one counts.",
    .example = "npufuse steps train.log > steps.jsonl",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {[EXIT_NO] = "the log has no step"},
};

// Holds the last record back: another line may speak of its step.
typedef struct Writer {
    Buf out;
    StepRecord last;
    bool has_last, failed;
    uint64_t count, not_finite, backwards, skipped, nans;
    Err err;
} Writer;

static void flush_last(Writer *writer) {
    if (!writer->has_last) return;
    step_write_json(&writer->out, &writer->last);
    writer->count++;
    writer->not_finite += writer->last.has_loss && !isfinite(writer->last.loss);
    writer->skipped += writer->last.skipped;
    writer->nans += writer->last.nans;
    if (writer->out.len > 64 * 1024) {
        writer->failed |= !output_write(buf_str(&writer->out), &writer->err);
        buf_clear(&writer->out);
    }
}

static void take_step(void *data, const StepRecord *step) {
    Writer *writer = data;
    if (writer->has_last && writer->last.step == step->step) {
        step_merge(&writer->last, step);
        return;
    }
    writer->backwards += writer->has_last && step->step < writer->last.step;
    flush_last(writer);
    writer->last = *step;
    writer->has_last = true;
}

static bool read_log(Writer *writer, FILE *file) {
    StepParser parser;
    char block[64 * 1024];
    size_t got;
    step_parser_init(&parser, take_step, writer);
    while (!writer->failed && (got = fread(block, 1, sizeof(block), file)) > 0) {
        step_parser_feed(&parser, (Str){block, got});
    }
    step_parser_end(&parser);
    flush_last(writer);
    return !ferror(file);
}

static const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

static void tell(const Writer *writer, const char *name) {
    Buf line = {0};
    unsigned long long count = writer->count, odd = writer->not_finite, back = writer->backwards;
    buf_addf(&line, "%s: %llu step%s\n", name, count, plural(count));
    if (odd) {
        buf_addf(&line, "%s: the loss of %llu step%s is nan or infinite\n", name, odd,
                 plural(odd));
    }
    if (back) {
        buf_addf(&line, "%s: the step goes back %llu time%s: a restart, or several ranks\n", name,
                 back, plural(back));
    }
    if (writer->skipped || writer->nans) {
        buf_addf(&line, "%s: the log tells of %llu skipped and %llu nan iterations\n", name,
                 (unsigned long long)writer->skipped, (unsigned long long)writer->nans);
    }
    output_talk(buf_str(&line));
    buf_free(&line);
}

static int finish(Writer *writer, const char *name, bool quiet) {
    if (!writer->failed) writer->failed = !output_write(buf_str(&writer->out), &writer->err);
    if (writer->failed) return output_fail(EXIT_USAGE, "%s", writer->err.text);
    if (!writer->count) {
        return output_fail(EXIT_NO, "'%s': no step found; a step is a line with a step number and "
                           "a loss: plain text, JSON, a Trainer's dict, Megatron", name);
    }
    if (!quiet) tell(writer, name);
    return EXIT_DONE;
}

int steps_command(const Args *args) {
    StepsArgs given = {0};
    ArgList operands = {0};
    int code;
    if (!options_read(&given, &operands, &usage, args, &code)) return code;
    if (operands.len != 1) return output_fail(EXIT_USAGE, "steps takes one LOG");
    const char *name = operands.at[0];
    bool is_stdin = strcmp(name, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(name, "re");
    if (!file) return output_fail(EXIT_USAGE, "cannot open '%s': %s", name, strerror(errno));
    Writer writer = {0};
    bool ok = read_log(&writer, file);
    int fault = errno;
    if (!is_stdin) fclose(file);
    code = ok ? finish(&writer, is_stdin ? "standard input" : name, given.quiet)
              : output_fail(EXIT_USAGE, "cannot read '%s': %s", name, strerror(fault));
    buf_free(&writer.out);
    return code;
}
