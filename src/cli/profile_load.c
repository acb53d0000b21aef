// profile_load.c - whatever is there becomes one table and, if there is one, a
// trace: a database by Python's sqlite3, slices by putting them behind each other.
#include "base/base.h"

#include "cli/profile_load.h"

#include "base/file.h"
#include "base/proc.h"
#include "cli/environment.h"
#include "cli/output.h"
#include "cli/paths_python.h"
#include "model/json_read.h"
#include "prof/chips.h"
#include "prof/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TAIL_BYTES = 400,
    COPY_BYTES = 1 << 16,
    HEADER_BYTES = 1 << 16,
    DB_LIMIT_S = 3600,
    COMPILES_TOLD = 20, // fewer are the warming up
};

typedef struct Load {
    ProfileLoaded *out;
    Arena *run;
    const ProfileSource *source;
    const char *folder; // of temporary files; NULL: none was needed
    const char *table, *trace;
} Load;

static void note(Load *load, Str text) {
    vec_push(load->run, &load->out->inputs.notes, text);
}

static bool make_folder(Load *load, Err *err) {
    const char *place = getenv("TMPDIR");
    if (load->folder) return true;
    Str path = arena_printf(load->run, "%s/npufuse-profile-XXXXXX",
                            place && *place ? place : "/tmp");
    char *made = mkdtemp(arena_cstr(load->run, path));
    if (!made) {
        return err_set(err, "cannot make the folder '%.*s': %s", STR_FMT(path), strerror(errno));
    }
    load->folder = made;
    return true;
}

static const char *temporary(const Load *load, const char *name) {
    return path_join(load->run, str_of(load->folder), str_of(name));
}

// ---- a database -------------------------------------------------------------------

static ProcAnswer keep_text(void *data, Str chunk) {
    Buf *text = data;
    if (text->len < FILE_MAX_BYTES / 64) buf_add(text, chunk);
    return PROC_GO;
}

static const char *const *python_environment(Arena *run, Str hook) {
    const char **env = NEW_N(run, const char *, 3);
    const char *old = getenv("PYTHONPATH");
    env[0] = arena_printf(run, "PYTHONPATH=%.*s%s%s", STR_FMT(hook), old && *old ? ":" : "",
                          old ? old : "").at;
    env[1] = "NPUFUSE_LOAD=1";
    return env;
}

// Takes what the reader prints in its last line.
static void take_told(Load *load, Str text) {
    const JsonVal *told;
    Err ignored;
    while (text.len && text.at[text.len - 1] == '\n') text.len--;
    while (memchr(text.at, '\n', text.len)) str_take(&text, '\n');
    if (!json_read_loose(&told, load->run, text, &ignored)) return;
    for (JsonIter it = json_first(json_member(told, "missing")); it.value; json_next(&it)) {
        note(load, arena_str(load->run, json_text(it.value)));
    }
}

static bool run_reader(Load *load, Buf *text, Err *err) {
    Str hook;
    Environment environment;
    ProcResult result;
    environment_read(&environment, load->run, load->source->python);
    if (!environment.python.len) {
        return err_set(err, "'%s' is a database, which Python reads, and there is none: name one "
                       "with --python, or export the profile as text", load->out->inputs.db);
    }
    if (!python_find_hook(&hook, load->run, err)) return false;
    const char *const argv[] = {arena_cstr(load->run, environment.python), "-m",
                                "npufuse.profile_db", load->out->inputs.db, load->folder, NULL};
    ProcSpec spec = {.argv = argv, .env = python_environment(load->run, hook), .take = keep_text,
                     .data = text, .limit_s = DB_LIMIT_S};
    if (!proc_run(&result, &spec, err)) return false;
    if (result.end == PROC_EXITED && result.code == 0) return true;
    Str said = buf_str(text);
    while (said.len && said.at[said.len - 1] == '\n') said.len--;
    if (said.len > TAIL_BYTES) said = (Str){said.at + said.len - TAIL_BYTES, TAIL_BYTES};
    if (str_starts(said, "npufuse: ")) said = (Str){said.at + 9, said.len - 9};
    if (!said.len) return err_set(err, "reading '%s' was ended", load->out->inputs.db);
    return err_set(err, "%.*s", STR_FMT(said));
}

static bool read_database(Load *load, Err *err) {
    Buf text = {0};
    ProfInputs *inputs = &load->out->inputs;
    bool ok = make_folder(load, err) && run_reader(load, &text, err);
    if (ok) {
        take_told(load, buf_str(&text));
        load->table = temporary(load, "kernel_details.csv");
        const char *trace = temporary(load, "trace_view.json");
        if (!load->trace && file_kind(trace) == FILE_REGULAR) load->trace = trace;
        const JsonVal *info;
        const char *path = temporary(load, "info.json");
        if (!inputs->device.len && file_kind(path) == FILE_REGULAR &&
            json_read_file(&info, load->run, path, FILE_MAX_BYTES, err)) {
            const JsonVal *device = json_at(json_member(info, "DeviceInfo"), 0);
            inputs->device = json_text(json_member(device, "name"));
        }
    }
    buf_free(&text);
    return ok;
}

// ---- slices -----------------------------------------------------------------------

static bool copy_rest(FILE *to, FILE *from) {
    char block[COPY_BYTES];
    size_t got;
    int last = '\n';
    while ((got = fread(block, 1, sizeof(block), from)) > 0) {
        if (fwrite(block, 1, got, to) != got) return false;
        last = (unsigned char)block[got - 1];
    }
    if (last != '\n') fputc('\n', to);
    return !ferror(from) && !ferror(to);
}

// The slice behind what is written already; one with another header is left out.
static bool add_slice(Load *load, FILE *to, const char *path, char *header) {
    char line[HEADER_BYTES];
    FILE *from = fopen(path, "rb");
    bool ok = from && fgets(line, sizeof(line), from);
    if (ok && !header[0]) {
        memcpy(header, line, sizeof(line));
        fputs(line, to);
    }
    if (ok && strcmp(header, line) != 0) {
        note(load, arena_printf(load->run, "'%s' is left out: its columns are not those of the "
                                "slice before it", path));
    } else if (ok) {
        ok = copy_rest(to, from);
    }
    if (from) fclose(from);
    return ok;
}

static bool join_slices(Load *load, Err *err) {
    const ProfInputs *inputs = &load->out->inputs;
    if (!make_folder(load, err)) return false;
    load->table = temporary(load, "op_summary.csv");
    FILE *to = fopen(load->table, "wb");
    if (!to) return err_set(err, "cannot write '%s': %s", load->table, strerror(errno));
    char *header = NEW_N(load->run, char, HEADER_BYTES);
    bool ok = true;
    for (uint32_t i = 0; i < inputs->kernels.len && ok; i++) {
        const char *path = inputs->kernels.at[i];
        ok = add_slice(load, to, path, header) ||
             err_set(err, "cannot put the slice '%s' behind the others in '%s'", path,
                     load->table);
    }
    if (fclose(to) != 0 && ok) return err_set(err, "cannot write '%s'", load->table);
    if (ok) {
        note(load, arena_printf(load->run, "%u files of kernels are read as one; rows are counted "
                                "over all of them, in the order of their names",
                                inputs->kernels.len));
    }
    return ok;
}

// ---- the trace --------------------------------------------------------------------

static TraceOptions trace_options(const Load *load, const char *path) {
    TraceOptions options = {.path = path};
    if (load->source->has_progress) options.progress = output_progress;
    return options;
}

static bool kernels_of_trace(Load *load, Err *err) {
    TraceKernels kernels;
    if (!make_folder(load, err)) return false;
    load->table = temporary(load, "kernel_details.csv");
    TraceOptions options = trace_options(load, load->trace);
    if (!trace_write_kernels(&kernels, load->table, &options, err)) return false;
    if (kernels.kernels) return true;
    return err_set(err, "'%s' has no kernels of an NPU: profile where the device is "
                   "(torch_npu.profiler with ProfilerActivity.NPU)", load->trace);
}

static void tell_trace(Load *load, const TraceLink *link) {
    Arena *run = load->run;
    const EventStats *events = &link->events;
    if (events->is_cut) {
        note(load, STR("the trace has no end (its export was stopped): what it has is used"));
    }
    if (events->faults) {
        note(load, arena_printf(run, "%llu events of the trace cannot be read, the first at byte "
                                "%llu", (unsigned long long)events->faults,
                                (unsigned long long)events->first_fault));
    }
    if (!link->flows) {
        note(load, STR("the trace has no launches (async_npu): kernels cannot be joined to "
                       "modules and source lines"));
    } else if (!link->rows) {
        note(load, STR("no launch of the trace meets a kernel of the table: are they of one run?"));
    } else if (!link->with_site) {
        note(load, STR("the trace has no call stacks: no source lines; profile with "
                       "with_stack=True"));
    }
    if (link->rows && !link->with_module) {
        note(load, STR("the trace has no modules: they are inferred from repetition; profile "
                       "with with_stack=True or with_modules=True"));
    }
}

// torch_npu has these with all tensors of a group in one.
static bool has_fused_optimizer(const char *name) {
    static const char *const fused[] = {"AdamW", "SGD", "Adadelta", "Lamb", "AdamP", "BertAdam",
                                        "RMSprop", "RMSpropTF", "Adam"};
    for (size_t i = 0; i < COUNT(fused); i++) {
        if (strcmp(fused[i], name) == 0) return true;
    }
    return false;
}

static void tell_host(Load *load, const TraceLink *link) {
    for (uint32_t i = 0; i < link->optimizer_count; i++) {
        const TraceOptimizer *optimizer = &link->optimizers[i];
        if (!has_fused_optimizer(optimizer->name)) continue;
        note(load, arena_printf(load->run, "the optimizer is %s (%llu steps): "
                                "torch_npu.optim.NpuFused%s updates all tensors of a group in "
                                "one", optimizer->name, (unsigned long long)optimizer->steps,
                                optimizer->name));
    }
    if (link->compiles >= COMPILES_TOLD) {
        note(load, arena_printf(load->run, "kernels were compiled while the program ran, %llu "
                                "times (aclopCompileAndExecute): torch.npu.set_compile_mode("
                                "jit_compile=False), or lengths that do not change",
                                (unsigned long long)link->compiles));
    }
}

// A trace that cannot be read costs the modules and lines, not the kernels.
static void link_trace(Load *load) {
    TraceLink link;
    Err err;
    TraceOptions options = trace_options(load, load->trace);
    if (trace_link(&link, &load->out->profile, load->run, &options, &err)) {
        tell_trace(load, &link);
        tell_host(load, &link);
    } else {
        note(load, arena_printf(load->run, "%s: no modules and no source lines", err.text));
    }
}

// ---- all --------------------------------------------------------------------------

static const char *shown_path(const ProfInputs *inputs) {
    if (inputs->kernels.len) return inputs->kernels.at[0];
    return inputs->db ? inputs->db : inputs->trace;
}

static bool make_table(Load *load, Err *err) {
    const ProfInputs *inputs = &load->out->inputs;
    if (inputs->kernels.len > 1) return join_slices(load, err);
    if (inputs->kernels.len == 1) {
        load->table = inputs->kernels.at[0];
        return true;
    }
    if (inputs->db) return read_database(load, err);
    return kernels_of_trace(load, err);
}

static bool read_all(Load *load, Err *err) {
    load->trace = load->out->inputs.trace;
    if (!make_table(load, err)) return false;
    ProfRead read = {.path = load->table, .jobs = load->source->jobs};
    if (load->source->has_progress) read.progress = output_progress;
    if (!profile_read(&load->out->profile, load->run, &read, err)) return false;
    if (!load->out->profile.row_count) {
        return err_set(err, "'%.*s' has no kernels: there is no row below its header",
                       STR_FMT(load->out->shown));
    }
    if (load->trace) link_trace(load);
    return true;
}

bool profile_load(ProfileLoaded *out, Arena *run, const ProfileSource *source, Err *err) {
    Load load = {.out = out, .run = run, .source = source};
    *out = (ProfileLoaded){0};
    if (!profile_inputs(&out->inputs, run, source->path, err)) return false;
    out->shown = str_of(shown_path(&out->inputs));
    bool ok = read_all(&load, err);
    Err ignored;
    if (load.folder && !file_remove(load.folder, &ignored)) {
        output_complain("cannot remove '%s'", load.folder);
    }
    return ok;
}

// The chip by the name that the profile tells, else by its cores and their clock; with a
// clock that no chip of the table has, the peak alone.
static bool find_device(ProfChip *out, ProfReport *report, Arena *run, const ProfInputs *inputs) {
    const char *name = arena_cstr(run, inputs->device);
    bool has_cores = inputs->core_count && inputs->core_mhz > 0;
    if (inputs->device.len && chip_find(out, name)) return true;
    if (!has_cores) return false;
    if (chip_guess(out, inputs->core_count, inputs->core_mhz)) {
        vec_push(run, &report->notes,
                 arena_printf(run, "by its %u cores at %.0f MHz the chip is taken for a %.*s; "
                              "--chip names another", (unsigned)inputs->core_count,
                              inputs->core_mhz, STR_FMT(out->name)));
        return true;
    }
    out->flops_per_us = chip_peak(inputs->core_count, inputs->core_mhz);
    vec_push(run, &report->notes,
             arena_printf(run, "the peak is that of %u cores at %.0f MHz; no chip of the table "
                          "has these, so the bandwidth is not known: give --bandwidth",
                          (unsigned)inputs->core_count, inputs->core_mhz));
    return true;
}

void profile_mine(ProfReport *out, Arena *run, const ProfileLoaded *loaded,
                  const MineOptions *options) {
    MineOptions with_chip = *options;
    ProfReport told = {0};
    ProfChip found = {0};
    bool has_limits = options->chip.bytes_per_us > 0 && options->chip.flops_per_us > 0;
    if (!has_limits && find_device(&found, &told, run, &loaded->inputs)) {
        if (options->chip.bytes_per_us > 0) found.bytes_per_us = options->chip.bytes_per_us;
        if (options->chip.flops_per_us > 0) found.flops_per_us = options->chip.flops_per_us;
        if (options->chip.launch_us > 0) found.launch_us = options->chip.launch_us;
        with_chip.chip = found;
    }
    runs_mine(out, run, &loaded->profile, &with_chip);
    ProfReport all = *out;
    memset(&all.notes, 0, sizeof(all.notes));
    for (uint32_t i = 0; i < loaded->inputs.notes.len; i++) {
        vec_push(run, &all.notes, loaded->inputs.notes.at[i]);
    }
    for (uint32_t i = 0; i < told.notes.len; i++) vec_push(run, &all.notes, told.notes.at[i]);
    for (uint32_t i = 0; i < out->notes.len; i++) vec_push(run, &all.notes, out->notes.at[i]);
    *out = all;
}
