// profile_text.c - the report to read: what the step is made of, the runs with
// their caps and rows, the kernels with their bounds, and what was not looked at.
#include "base/base.h"

#include "cli/output.h"
#include "cli/profile_text.h"
#include "model/utf8.h"
#include "prof/bound.h"
#include "prof/runs_json.h"
#include "report/md.h"

#include <stdlib.h>

enum { RUNS_SHOWN = 20, KERNELS_SHOWN = 10, SEQUENCE_SHOWN = 120 };

static double ms(uint64_t ns) {
    return (double)ns / 1e6;
}

static double percent(uint64_t part, uint64_t whole) {
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void add_cap(Buf *out, const ProfRun *run) {
    if (!run->has_cap) buf_add(out, STR("-"));
    else buf_addf(out, "%s%.2fx", run->is_relative ? "~" : "", run->cap);
}

static void add_head(Buf *out, const ProfReport *report, const ProfileStyle *style) {
    const Profile *profile = report->profile;
    buf_addf(out, "%.*s: %u rows, %u kinds of kernels\n", STR_FMT(style->source),
             (unsigned)profile->row_count, (unsigned)profile->kind_count);
    buf_addf(out, "kernels %.3f ms, communication %.3f ms, steps %.3f ms; "
             "%.1f%% of the kernels' time is in runs that a fused operator can replace\n",
             ms(report->kernel_ns), ms(report->comm_ns), ms(report->span_ns),
             percent(report->claimed_ns, report->kernel_ns));
}

static Str shown_sequence(const ProfRun *run) {
    Str text = run->sequence;
    if (text.len > SEQUENCE_SHOWN) text.len = SEQUENCE_SHOWN;
    return text;
}

static void add_near(Buf *out, const ProfRun *run, Str source) {
    if (!run->near_count) return;
    buf_addf(out, "      near, by the texts of %.*s:", STR_FMT(source));
    for (uint32_t i = 0; i < run->near_count; i++) {
        buf_addf(out, "%s %.*s", i ? "," : "", STR_FMT(run->near[i]));
    }
    buf_add(out, STR(" (npufuse api show NAME)\n"));
}

// "row 29", "rows 14-21": the first occurrence.
static void add_rows(Buf *out, const ProfRun *run, bool is_cell) {
    unsigned first = (unsigned)run->at[0].first, last = (unsigned)run->at[0].last;
    if (!is_cell) buf_add(out, first == last ? STR("row ") : STR("rows "));
    buf_addf(out, "%u", first);
    if (last != first) buf_addf(out, "-%u", last);
}

static void add_run(Buf *out, const ProfRun *run, Str near_source) {
    buf_addf(out, "  %-24s %8u  %12.3f %10.3f  %5.1f%%  ", run->pattern, (unsigned)run->count,
             ms(run->device_ns), ms(run->gap_ns), 100 * run->share);
    add_cap(out, run);
    buf_addf(out, "  %s\n", bound_name(run->bound));
    const char *what = run->api ? run->api : run->note ? run->note : "custom fused kernel";
    buf_addf(out, "      %s", what);
    if (run->part_of) buf_addf(out, " (part of %s)", run->part_of);
    if (!run->contiguous) buf_add(out, STR(", not contiguous"));
    if (run->module.len) buf_addf(out, ", %.*s", STR_FMT(run->module));
    if (run->site.len) buf_addf(out, ", %.*s", STR_FMT(run->site));
    if (run->api && run->note) buf_addf(out, "\n      %s", run->note);
    buf_addf(out, "\n      %.*s%s\n", STR_FMT(shown_sequence(run)),
             run->sequence.len > SEQUENCE_SHOWN ? " ..." : "");
    add_near(out, run, near_source);
    buf_add(out, STR("      first at "));
    add_rows(out, run, false);
    buf_addf(out, "; %.*s\n", STR_FMT(run->evidence));
    if (run->step_speedup < 1.005) return; // nothing that two digits show
    buf_addf(out, "      the step at most %.2fx as fast%s\n", run->step_speedup,
             bound_rule_of_thumb(run) > 0 ? "; fusing a run bound by memory usually gives about 2x"
                                          : "");
}

static void add_runs(Buf *out, const ProfReport *report, const ProfileStyle *style) {
    uint32_t shown = report->runs.len;
    if (!style->all && shown > RUNS_SHOWN) shown = RUNS_SHOWN;
    if (!shown) {
        buf_add(out, STR("\nNo run of kernels was found that a fused operator can replace.\n"));
        return;
    }
    buf_addf(out, "\n  %-24s %8s  %12s %10s  %6s  %s\n", "run", "calls", "device ms", "gaps ms",
             "step", "cap   bound");
    for (uint32_t i = 0; i < shown; i++) add_run(out, &report->runs.at[i], report->near_source);
    if (shown < report->runs.len) {
        buf_addf(out, "  and %u more (-v shows them)\n", (unsigned)(report->runs.len - shown));
    }
}

typedef struct KernelOrder {
    const ProfKind *kind;
    const KindBound *bound;
} KernelOrder;

static int compare_kernels(const void *a, const void *b) {
    const ProfKind *x = ((const KernelOrder *)a)->kind, *y = ((const KernelOrder *)b)->kind;
    if (x->total_ns != y->total_ns) return x->total_ns > y->total_ns ? -1 : 1;
    return x->first_row < y->first_row ? -1 : x->first_row > y->first_row;
}

// The kernels by time, in `scratch`; communication is left out.
static KernelOrder *order_kernels(uint32_t *count, Arena *scratch, const ProfReport *report) {
    const Profile *profile = report->profile;
    KernelOrder *order = NEW_N(scratch, KernelOrder, profile->kind_count);
    *count = 0;
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        if (profile->kinds[i].core == CORE_COMM) continue;
        order[(*count)++] = (KernelOrder){&profile->kinds[i], &report->bounds[i]};
    }
    if (*count) qsort(order, *count, sizeof(*order), compare_kernels);
    return order;
}

static void add_kernels(Buf *out, const ProfReport *report, const ProfileStyle *style) {
    Arena scratch;
    uint32_t count;
    arena_init(&scratch);
    KernelOrder *order = order_kernels(&count, &scratch, report);
    uint32_t shown = style->all || count < KERNELS_SHOWN ? count : KERNELS_SHOWN;
    buf_add(out, STR("\n  kernel                      calls     device ms  bound          "
                     "evidence; first row, its input\n"));
    for (uint32_t i = 0; i < shown; i++) {
        const ProfKind *kind = order[i].kind;
        Str shapes = kind->in_shapes;
        if (shapes.len > 60) shapes.len = 60;
        buf_addf(out, "  %-24.*s %8llu  %12.3f  %-13s  %s; row %u", STR_FMT(kind->type),
                 (unsigned long long)kind->count, ms(kind->total_ns),
                 bound_name(order[i].bound->bound), order[i].bound->evidence,
                 (unsigned)kind->first_row);
        if (shapes.len) buf_addf(out, ", %.*s", STR_FMT(shapes));
        buf_add_char(out, '\n');
    }
    if (shown < count) buf_addf(out, "  and %u more (-v shows them)\n", (unsigned)(count - shown));
    arena_free(&scratch);
}

void profile_text_write(Buf *out, const ProfReport *report, const ProfileStyle *style) {
    add_head(out, report, style);
    add_runs(out, report, style);
    if (report->profile->kind_count) add_kernels(out, report, style);
    for (uint32_t i = 0; i < report->notes.len; i++) {
        buf_addf(out, "%snote: %.*s\n", i ? "" : "\n", STR_FMT(report->notes.at[i]));
    }
}

// Where the source is, by the trace: the line, else the module.
static void add_md_place(Buf *out, const ProfRun *run) {
    if (run->site.len) md_code(out, MD_CELL, run->site);
    else if (run->module.len) md_code(out, MD_CELL, run->module);
}

static void add_md_remarks(Buf *out, const ProfRun *run) {
    const char *part = run->part_of ? run->part_of : "";
    buf_addf(out, "%s%s", run->part_of ? "part of " : "", part);
    if (!run->contiguous) buf_addf(out, "%snot contiguous", run->part_of ? "; " : "");
    if (!run->api || !run->note) return;
    if (run->part_of || !run->contiguous) buf_add(out, STR("; "));
    md_text(out, MD_CELL, str_of(run->note));
}

static void add_md_run(Buf *out, const ProfRun *run) {
    buf_add(out, STR("| "));
    md_code(out, MD_CELL, str_of(run->pattern));
    buf_add(out, STR(" | "));
    if (run->api) md_code(out, MD_CELL, str_of(run->api));
    else md_text(out, MD_CELL, str_of(run->note ? run->note : "custom fused kernel"));
    for (uint32_t i = 0; i < run->near_count; i++) {
        buf_add(out, i ? STR(", ") : STR("; near: "));
        md_code(out, MD_CELL, run->near[i]);
    }
    buf_addf(out, " | %u | %.3f | %.3f | %.1f%% | ", (unsigned)run->count, ms(run->device_ns),
             ms(run->gap_ns), 100 * run->share);
    add_cap(out, run);
    buf_addf(out, " | %s | ", bound_name(run->bound));
    add_rows(out, run, true);
    buf_add(out, STR(" | "));
    add_md_place(out, run);
    buf_add(out, STR(" | "));
    add_md_remarks(out, run);
    buf_add(out, STR(" |\n"));
}

static void add_md_kernels(Buf *out, const ProfReport *report, const ProfileStyle *style) {
    Arena scratch;
    uint32_t count;
    arena_init(&scratch);
    KernelOrder *order = order_kernels(&count, &scratch, report);
    uint32_t shown = style->all || count < KERNELS_SHOWN ? count : KERNELS_SHOWN;
    buf_add(out, STR("\n| Kernel | Input | Calls | Device ms | Bound | Evidence | First row |\n"
                     "| --- | --- | ---: | ---: | --- | --- | ---: |\n"));
    for (uint32_t i = 0; i < shown; i++) {
        const ProfKind *kind = order[i].kind;
        buf_add(out, STR("| "));
        md_code(out, MD_CELL, kind->type);
        buf_add(out, STR(" | "));
        md_code(out, MD_CELL, kind->in_shapes);
        buf_addf(out, " | %llu | %.3f | %s | %s | %u |\n", (unsigned long long)kind->count,
                 ms(kind->total_ns), bound_name(order[i].bound->bound),
                 order[i].bound->evidence, (unsigned)kind->first_row);
    }
    arena_free(&scratch);
}

void profile_md_write(Buf *out, const ProfReport *report, const ProfileStyle *style) {
    buf_add(out, STR("## Measured device time\n\n"));
    md_text(out, MD_LINE, style->source);
    buf_addf(out, ": %u rows; kernels %.3f ms, communication %.3f ms, steps %.3f ms.\n\n",
             (unsigned)report->profile->row_count, ms(report->kernel_ns), ms(report->comm_ns),
             ms(report->span_ns));
    buf_add(out, STR("| Run | Fused operator | Calls | Device ms | Gaps ms | Of the step | "
                     "Cap | Bound | First rows | Where | |\n"
                     "| --- | --- | ---: | ---: | ---: | ---: | ---: | --- | --- | --- | --- |\n"));
    uint32_t shown = report->runs.len;
    if (!style->all && shown > RUNS_SHOWN) shown = RUNS_SHOWN;
    for (uint32_t i = 0; i < shown; i++) add_md_run(out, &report->runs.at[i]);
    if (shown < report->runs.len) {
        buf_addf(out, "\nAnd %u more (`-v` shows them).\n", (unsigned)(report->runs.len - shown));
    }
    buf_add(out, STR("\nA cap is a bound, no forecast: fusing a run bound by memory usually gives "
                     "about 2x.\n"));
    add_md_kernels(out, report, style);
    if (report->notes.len) buf_add_char(out, '\n');
    for (uint32_t i = 0; i < report->notes.len; i++) {
        buf_add(out, STR("- "));
        md_text(out, MD_LINE, report->notes.at[i]);
        buf_add_char(out, '\n');
    }
}

void profile_tell_notes(const ProfReport *report) {
    for (uint32_t i = 0; i < report->notes.len; i++) output_note(report->notes.at[i]);
}
