// doctor.c - `npufuse doctor`: what this machine can and cannot do, and why.
#include "base/base.h"

#include "cli/commands.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "model/utf8.h"

#include <stdlib.h>

typedef struct DoctorArgs {
    const char *python, *format;
} DoctorArgs;

#define FIELD(name) offsetof(DoctorArgs, name)

static const Option options[] = {
    {"python", 0, OPTION_TEXT, "EXE", "whose packages count (VIRTUAL_ENV, python3)",
     FIELD(python)},
    {"format", 0, OPTION_TEXT, "text|json", "what is printed (text)", FIELD(format)},
};

static const Usage usage = {
    .name = "doctor",
    .operands = "",
    .purpose =
        "Says what this machine has (Python, torch, torch_npu, CANN, driver, devices) and\n"
        "what can be done with it. It reads files; it imports nothing and starts no Python.",
    .example = "npufuse doctor",
    .options = options,
    .option_count = COUNT(options),
};

typedef struct Job {
    const char *name;
    const char *state; // "yes", "emulated", "no"
    Str why, advice;
} Job;

enum { JOBS = 6 };

typedef struct Lack { // of a working NPU; empty where there is one
    Str why, advice;
} Lack;

static Lack find_lack(Arena *run, const Environment *e) {
    if (!e->torch_npu.len) {
        return (Lack){STR("torch_npu is not installed"),
                      STR("on a machine with an NPU: pip install the torch_npu of your torch")};
    }
    if (!str_eq(environment_release(e->torch), environment_release(e->torch_npu))) {
        return (Lack){arena_printf(run, "torch %.*s and torch_npu %.*s do not belong together",
                                   STR_FMT(e->torch), STR_FMT(e->torch_npu)),
                      STR("install the pair of one release")};
    }
    if (!e->devices.len) {
        return (Lack){STR("there is no NPU (/dev/davinci*)"),
                      STR("go to a machine with an NPU, or give the container its devices")};
    }
    // They are counted among those that the container was given.
    if (e->visible.len && strtoul(e->visible.at, NULL, 10) >= e->devices.len) {
        return (Lack){arena_printf(run, "ASCEND_RT_VISIBLE_DEVICES=%.*s, of %u device%s",
                                   STR_FMT(e->visible), (unsigned)e->devices.len,
                                   e->devices.len == 1 ? "" : "s"),
                      STR("name devices that are there, from 0")};
    }
    if (!e->driver.len) {
        return (Lack){STR("the NPU's driver is not found"),
                      STR("install it, or mount /usr/local/Ascend/driver into the container")};
    }
    if (!e->cann.len) {
        return (Lack){STR("CANN is not found"),
                      STR("install the toolkit and source its set_env.sh")};
    }
    return (Lack){STR(""), STR("")};
}

static void list_jobs(Job jobs[JOBS], Arena *run, const Environment *e) {
    Lack npu = find_lack(run, e);
    Lack torch = {STR(""), STR("")};
    if (!e->python.len) {
        torch = (Lack){STR("no Python was found"), STR("install Python, or name one: --python")};
    } else if (!e->torch.len) {
        torch = (Lack){STR("torch is not installed"),
                       STR("pip install torch, or name another Python: --python")};
    }
    const char *precision = torch.why.len ? "no" : npu.why.len ? "emulated" : "yes";
    Lack missing = torch.why.len ? torch : npu;
    jobs[0] = (Job){"scan", "yes", STR(""), STR("")};
    jobs[1] = (Job){"confirm, apply", "yes", STR(""), STR("")};
    jobs[2] = (Job){"capture", torch.why.len ? "no" : "yes", torch.why, torch.advice};
    jobs[3] = (Job){"unit precision", precision, missing.why, missing.advice};
    jobs[4] = (Job){"loss comparison", precision, missing.why, missing.advice};
    jobs[5] = (Job){"step time", missing.why.len ? "no" : "yes", missing.why, missing.advice};
}

static void add_fact(Buf *out, const char *name, Str value, const char *absent) {
    Arena arena;
    arena_init(&arena);
    buf_addf(out, "%-16s ", name);
    buf_add(out, value.len ? utf8_one_line(&arena, value) : str_of(absent));
    arena_free(&arena);
    buf_add_char(out, '\n');
}

static void write_text(Buf *out, Arena *run, const Environment *e) {
    Str python = e->python;
    if (e->python_version.len) {
        python = arena_printf(run, "%.*s  %.*s", STR_FMT(e->python_version), STR_FMT(e->python));
    }
    add_fact(out, "npufuse", STR(NPUFUSE_VERSION), "");
    add_fact(out, "python", python, "not found");
    add_fact(out, "torch", e->torch, "not installed");
    add_fact(out, "torch_npu", e->torch_npu, "not installed");
    add_fact(out, "CANN", e->cann, "not found");
    add_fact(out, "driver", e->driver, "not found");
    add_fact(out, "product", e->product, "unknown");
    Buf devices = {0};
    for (uint32_t i = 0; i < e->devices.len; i++) {
        buf_addf(&devices, i ? " %.*s" : "%.*s", STR_FMT(e->devices.at[i]));
    }
    add_fact(out, "devices", buf_str(&devices), "none");
    buf_free(&devices);
    if (e->visible.len) add_fact(out, "visible devices", e->visible, "");
    buf_add_char(out, '\n');
    Job jobs[JOBS];
    list_jobs(jobs, run, e);
    for (size_t i = 0; i < JOBS; i++) {
        buf_addf(out, "%-16s %s", jobs[i].name, jobs[i].state);
        Str why = utf8_one_line(run, jobs[i].why);
        if (why.len) buf_addf(out, ": %.*s", STR_FMT(why));
        buf_add_char(out, '\n');
        if (jobs[i].advice.len) buf_addf(out, "%-16s   %.*s\n", "", STR_FMT(jobs[i].advice));
    }
}

static void write_json(Buf *out, Arena *run, const Environment *e) {
    Json json;
    Job jobs[JOBS];
    list_jobs(jobs, run, e);
    json_init(&json, out);
    json_object(&json, JSON_BLOCK);
    json_key(&json, "environment");
    environment_write(&json, e);
    json_key(&json, "jobs");
    json_array(&json, JSON_BLOCK);
    for (size_t i = 0; i < JOBS; i++) {
        json_object(&json, JSON_LINE);
        json_key(&json, "name");
        json_str(&json, str_of(jobs[i].name));
        json_key(&json, "state");
        json_str(&json, str_of(jobs[i].state));
        json_key(&json, "why");
        json_str(&json, jobs[i].why);
        json_key(&json, "advice");
        json_str(&json, jobs[i].advice);
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
}

int doctor_command(const Args *args) {
    DoctorArgs given = {.format = "text"};
    ArgList operands = {0};
    Environment environment;
    Err err;
    int code;
    if (!options_read(&given, &operands, &usage, args, &code)) return code;
    if (operands.len) {
        return output_fail(EXIT_USAGE, "doctor takes no operand, not '%s'", operands.at[0]);
    }
    environment_read(&environment, args->run, given.python);
    if (given.python && !environment.python.len) {
        return output_fail(EXIT_USAGE, "cannot find the Python '%s'", given.python);
    }
    Buf out = {0};
    if (strcmp(given.format, "json") == 0) write_json(&out, args->run, &environment);
    else write_text(&out, args->run, &environment);
    bool ok = output_write(buf_str(&out), &err);
    buf_free(&out);
    return ok ? EXIT_DONE : output_fail(EXIT_USAGE, "%s", err.text);
}
