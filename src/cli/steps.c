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
        "MindSpeed. Of lines that speak of one step the last one counts; after a restart\n"
        "that goes far back a step comes twice.",
    .example = "npufuse steps train.log > steps.jsonl",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {[EXIT_NO] = "the log has no step"},
};

enum { HELD = 64 };

// Holds the last steps back: other lines, and other ranks, may speak of them.
typedef struct Writer {
    Buf out;
    StepRecord held[HELD]; // sorted
    uint32_t held_count;
    int64_t last;
    bool has_last, failed;
    uint64_t count, not_finite, backwards, skipped, nans;
    Err err;
} Writer;

static void write_step(Writer *writer, const StepRecord *step) {
    step_write_json(&writer->out, step);
    writer->count++;
    writer->not_finite += step->has_loss && !isfinite(step->loss);
    writer->skipped += step->skipped;
    writer->nans += step->nans;
    if (writer->out.len > 64 * 1024) {
        writer->failed |= !output_write(buf_str(&writer->out), &writer->err);
        buf_clear(&writer->out);
    }
}

static void let_go(Writer *writer, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) write_step(writer, &writer->held[i]);
    writer->held_count -= count;
    memmove(writer->held, writer->held + count, writer->held_count * sizeof(*writer->held));
}

static void hold(Writer *writer, uint32_t place, const StepRecord *step) {
    StepRecord *at = writer->held + place;
    memmove(at + 1, at, (writer->held_count++ - place) * sizeof(*at));
    *at = *step;
}

static void take_step(void *data, const StepRecord *step) {
    Writer *writer = data;
    writer->backwards += writer->has_last && step->step < writer->last;
    writer->last = step->step;
    writer->has_last = true;
    uint32_t place = writer->held_count;
    while (place > 0 && writer->held[place - 1].step > step->step) place--;
    if (place > 0 && writer->held[place - 1].step == step->step) {
        step_merge(&writer->held[place - 1], step);
        return;
    }
    if (writer->held_count == HELD) {
        bool is_near = place >= HELD / 2; // else it is far back: a restart
        let_go(writer, is_near ? HELD / 2 : HELD);
        place = is_near ? place - HELD / 2 : 0;
    }
    hold(writer, place, step);
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
    let_go(writer, writer->held_count);
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
