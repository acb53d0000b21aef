// profile.c - `npufuse profile`: where a training step's device time goes, and
// what fusing can give at most.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/output.h"
#include "cli/profile_collect.h"
#include "cli/profile_diff.h"
#include "cli/profile_load.h"
#include "cli/profile_near.h"
#include "cli/profile_text.h"
#include "cli/report_page.h"
#include "prof/chips.h"
#include "prof/runs.h"
#include "prof/runs_json.h"
#include "prof/runs_page.h"

#include <math.h>
#include <stdlib.h>

typedef struct ProfileArgs {
    const char *format, *chip, *bandwidth, *peak, *launch, *jobs, *python, *docs_path;
    const char *html, *lang, *collect, *steps, *skip, *timeout;
    bool diff, quiet, verbose;
} ProfileArgs;

#define FIELD(name) offsetof(ProfileArgs, name)

static const Option options[] = {
    {"format", 0, OPTION_TEXT, "text|json|md", "what is printed (text)", FIELD(format)},
    {"html", 0, OPTION_TEXT, "FILE", "write a page with a roofline and tables to FILE",
     FIELD(html)},
    {"lang", 'l', OPTION_TEXT, "zh|en",
     "language of the page (by LC_ALL, LC_MESSAGES, LANG)", FIELD(lang)},
    {"chip", 0, OPTION_TEXT, "NAME",
     "whose limits to use: 910A, 910B1, 910B2, 910B3, 910B4, 910_93, 310P", FIELD(chip)},
    {"bandwidth", 0, OPTION_TEXT, "GB/S",
     "memory bandwidth of the chip in GB/s", FIELD(bandwidth)},
    {"peak", 0, OPTION_TEXT, "TFLOP/S",
     "half precision peak of the matrix unit in TFLOP/s", FIELD(peak)},
    {"launch", 0, OPTION_TEXT, "US",
     "least time of a launch in microseconds\n(the shortest kernel of the profile)",
     FIELD(launch)},
    {"diff", 0, OPTION_FLAG, NULL,
     "compare two profiles: did the fused kernels come, and what went", FIELD(diff)},
    {"collect", 0, OPTION_TEXT, "DIR",
     "run COMMAND with a profiler around some of its steps,\nthen mine what is in DIR",
     FIELD(collect)},
    {"steps", 0, OPTION_TEXT, "N", "steps to collect (3)", FIELD(steps)},
    {"skip", 0, OPTION_TEXT, "N", "steps before them, one more warms up (2)", FIELD(skip)},
    {"timeout", 0, OPTION_TEXT, "SECONDS",
     "a COMMAND without output for so long hangs (1800)", FIELD(timeout)},
    {"jobs", 'j', OPTION_TEXT, "N", "threads (one for each processor)", FIELD(jobs)},
    {"python", 0, OPTION_TEXT, "EXE",
     "which Python reads a database, and whose torch_npu is asked\n"
     "(of VIRTUAL_ENV, or python3)", FIELD(python)},
    {"docs-path", 0, OPTION_TEXT, "PATH",
     "the torch_npu whose texts are searched for operators near to\n"
     "runs of unknown kind: see 'npufuse api --help'", FIELD(docs_path)},
    {"quiet", 'q', OPTION_FLAG, NULL, "only data and errors", FIELD(quiet)},
    {"verbose", 'v', OPTION_FLAG, NULL, "show all runs and kernels", FIELD(verbose)},
};

static const Usage usage = {
    .name = "profile",
    .operands = "PATH | --diff BASE FUSED | --collect DIR -- COMMAND...",
    .purpose =
        "Finds in a profile of the Ascend PyTorch profiler the runs of kernels that one\n"
        "fused operator can replace, what bounds each kernel, and what fusing can give at\n"
        "most. PATH is a *_ascend_pt folder, ASCEND_PROFILER_OUTPUT, or one file of them:\n"
        "kernel_details.csv, op_summary_*.csv, trace_view.json, ascend_pytorch_profiler.db.\n"
        "What is there is used; what is missing is said, and what that costs.\n\n"
        "A run is proven by the shapes and dtypes that its kernels hand on. Without\n"
        "--chip, or --bandwidth and --peak, caps are relative: kernels and gaps now\n"
        "against the same kernels with the bytes that a fused one has to move.",
    .example = "npufuse profile --chip 910B2 kernel_details.csv",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_NO] = "some lines could not be read; the others are reported\n"
                    "     --diff: no fused kernel came",
        [EXIT_BLOCKED] = "COMMAND did not step, or it ran without an NPU",
    },
};

static bool read_positive(double *out, const char *option, const char *text, Err *err) {
    char *end = NULL;
    if (!text) return true;
    *out = strtod(text, &end);
    if (*end || end == text || !isfinite(*out) || *out <= 0 || *out > 1e9) {
        return err_set(err, "'--%s' takes a number above 0, not '%s'", option, text);
    }
    return true;
}

static bool read_chip(ProfChip *out, const ProfileArgs *args, Err *err) {
    double bandwidth = 0, peak = 0;
    if (args->chip && !chip_find(out, args->chip)) {
        return err_set(err, "unknown chip '%s': one of %s, or give --bandwidth and --peak",
                       args->chip, chip_names());
    }
    if (!read_positive(&bandwidth, "bandwidth", args->bandwidth, err) ||
        !read_positive(&peak, "peak", args->peak, err) ||
        !read_positive(&out->launch_us, "launch", args->launch, err)) {
        return false;
    }
    if (bandwidth > 0) out->bytes_per_us = bandwidth * 1e3;
    if (peak > 0) out->flops_per_us = peak * 1e6;
    return true;
}

static bool read_jobs(uint32_t *out, const char *text, Err *err) {
    char *end = NULL;
    unsigned long jobs = text ? strtoul(text, &end, 10) : 0;
    if (text && (*end || end == text || jobs == 0 || jobs > 1024)) {
        return err_set(err, "'--jobs' takes a number from 1 to 1024, not '%s'", text);
    }
    *out = (uint32_t)jobs;
    return true;
}

static bool print(const ProfReport *report, const ProfileArgs *args, Str source, Err *err) {
    Buf out = {0};
    ProfileStyle style = {.source = source, .all = args->verbose};
    if (strcmp(args->format, "json") == 0) runs_json_write(&out, report, source);
    else if (strcmp(args->format, "md") == 0) profile_md_write(&out, report, &style);
    else profile_text_write(&out, report, &style);
    bool ok = output_write(buf_str(&out), err);
    buf_free(&out);
    return ok;
}

static bool write_page(const ProfReport *report, const ProfileArgs *args, Str source, Arena *run,
                       Err *err) {
    Buf data = {0};
    if (!args->html) return true;
    RunsPage page = {.source = source, .version = NPUFUSE_VERSION,
                     .is_chinese = output_lang(args->lang) == LANG_ZH};
    runs_page_write(&data, report, &page);
    bool ok = page_fill(run, args->html, "profile.html", buf_str(&data), err);
    buf_free(&data);
    return ok;
}

static bool has_fault(const Profile *profile) {
    for (int i = 0; i < FAULT_COUNT; i++) {
        if (profile->faults.count[i]) return true;
    }
    return false;
}

static bool load(ProfileLoaded *loaded, ProfReport *report, const ProfileArgs *args, Arena *run,
                 const char *path) {
    Err err;
    MineOptions mine = {.custom_max = 20};
    ProfileSource source = {.path = path, .python = args->python};
    source.has_progress = output_has_progress() && !args->quiet;
    bool ok = read_chip(&mine.chip, args, &err) && read_jobs(&source.jobs, args->jobs, &err) &&
              profile_load(loaded, run, &source, &err);
    if (!ok) {
        output_complain("%s", err.text);
        return false;
    }
    mine.jobs = source.jobs;
    profile_mine(report, run, loaded, &mine);
    return true;
}

static int run_profile(const ProfileArgs *args, Arena *run, const char *path) {
    Err err;
    ProfileLoaded loaded;
    ProfReport report;
    BookChoice choice = {.python = args->python, .docs_path = args->docs_path};
    if (!load(&loaded, &report, args, run, path)) return EXIT_USAGE;
    if (!profile_near(&report, run, &choice, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    if (!write_page(&report, args, loaded.shown, run, &err) ||
        !print(&report, args, loaded.shown, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    if (!args->quiet && strcmp(args->format, "text") != 0) profile_tell_notes(&report);
    return has_fault(&loaded.profile) ? EXIT_NO : EXIT_DONE;
}

static int run_diff(const ProfileArgs *args, Arena *run, const ArgList *paths) {
    Err err;
    ProfileLoaded loaded[2];
    ProfReport reports[2];
    PairReport pair;
    Buf out = {0};
    for (int s = 0; s < 2; s++) {
        if (!load(&loaded[s], &reports[s], args, run, paths->at[s])) return EXIT_USAGE;
    }
    pair_compare(&pair, run, &reports[0], &reports[1]);
    if (strcmp(args->format, "json") == 0) {
        pair_json_write(&out, &pair, loaded[0].shown, loaded[1].shown);
    } else {
        pair_text_write(&out, &pair, args->verbose);
    }
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    if (!ok) return output_fail(EXIT_USAGE, "%s", err.text);
    return pair_has_fused(&pair) ? EXIT_DONE : EXIT_NO;
}

// The command is run first, where --collect is given; *path is what to mine.
static int collect(const char **path, const ProfileArgs *args, const Launch *launch, Arena *run) {
    Err err;
    double steps = 3, skip = 2, timeout = 1800;
    if (!launch_number(&steps, args->steps, "steps", 1, &err) ||
        !launch_number(&skip, args->skip, "skip", 0, &err) ||
        !launch_number(&timeout, args->timeout, "timeout", 0.1, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    if (!launch->argv.len) {
        return output_fail(EXIT_USAGE, "'--collect' takes the command behind '--', as in 'npufuse "
                           "profile --collect DIR -- python train.py'");
    }
    if (steps > 1000 || skip > 1e6) {
        return output_fail(EXIT_USAGE, "'--steps' is at most 1000, '--skip' 1000000");
    }
    Collect request = {.folder = args->collect, .launch = launch, .steps = (uint32_t)steps,
                       .skip = (uint32_t)skip, .timeout_s = timeout, .is_quiet = args->quiet};
    return profile_collect(path, run, &request);
}

int profile_command(const Args *args) {
    ProfileArgs read = {.format = "text"};
    ArgList operands = {0};
    Launch launch = {0};
    int code;
    Args ours = launch_split(args, &launch);
    if (!options_read(&read, &operands, &usage, &ours, &code)) return code;
    uint32_t needed = read.collect ? 0 : read.diff ? 2 : 1;
    if (operands.len != needed || (launch.argv.len && !read.collect)) {
        return output_fail(EXIT_USAGE, "'profile' takes one PATH, or --diff and two, or --collect "
                           "DIR and a command ('npufuse profile --help')");
    }
    if (read.diff && (read.collect || read.html || strcmp(read.format, "md") == 0)) {
        return output_fail(EXIT_USAGE, "'--diff' goes with neither '--collect', '--html' nor "
                           "'--format md'");
    }
    if (read.quiet && read.verbose) {
        return output_fail(EXIT_USAGE, "'-q' and '-v' exclude each other");
    }
    if (read.diff) return run_diff(&read, args->run, &operands);
    const char *path = operands.len ? operands.at[0] : NULL;
    if (read.collect && (code = collect(&path, &read, &launch, args->run))) return code;
    return run_profile(&read, args->run, path);
}
