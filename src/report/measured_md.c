// measured_md.c - every time here names its rows in the file of kernels.
#include "base/base.h"

#include "report/measured_md.h"

static void add_ms(const Page *page, double us) {
    buf_addf(page->out, "%.3f", us / 1e3);
}

static void add_cap(const Page *page, const Measured *measured) {
    if (measured->cap <= 0) {
        page_phrase(page, SAY_NOT_KNOWN);
        return;
    }
    buf_addf(page->out, "%.2fx", measured->cap);
    if (!measured->cap_is_relative) return;
    page_add(page, " (");
    page_phrase(page, SAY_RELATIVE);
    page_add(page, ")");
}

static void add_joined(const Page *page, const Measured *measured) {
    static const Phrase phrases[] = {
        [JOINED_LINE] = SAY_JOINED_LINE, [JOINED_MODULE] = SAY_JOINED_MODULE,
        [JOINED_API] = SAY_JOINED_API,
    };
    if (measured->shared < 2) {
        page_phrase(page, phrases[measured->joined_by]);
        return;
    }
    Str count[] = {number_str(page->scratch, measured->shared)};
    say(page->out, page->lang, SAY_JOINED_SHARED, count);
}

// The cells that both tables have, from the calls to the rows.
static void add_numbers(const Page *page, const Measured *measured) {
    buf_addf(page->out, " | %llu | ", (unsigned long long)measured->calls);
    add_ms(page, measured->device_us);
    page_add(page, " | ");
    add_ms(page, measured->gap_us);
    buf_addf(page->out, " | %.1f %% | ", 100 * measured->share);
    add_cap(page, measured);
    page_add(page, " | ");
    md_text(page->out, MD_CELL, measured->bound);
    buf_addf(page->out, " | %u-%u |", measured->first_row, measured->last_row);
}

static void add_measured_row(const Page *page, const Finding *finding,
                             const Measured *measured) {
    page_add(page, "| ");
    page_place(page, MD_CELL, finding->file, finding->start_line, finding->end_line);
    page_add(page, " | ");
    md_code(page->out, MD_CELL, measured->pattern);
    page_add(page, " | ");
    add_joined(page, measured);
    add_numbers(page, measured);
    page_add(page, "\n");
}

static void add_findings(const Page *page, const FindingSet *set) {
    static const int columns[] = {SAY_WHERE, SAY_RUN, SAY_JOINED, SAY_CALLS, SAY_DEVICE_MS,
                                  SAY_GAPS_MS, SAY_OF_STEPS, SAY_AT_MOST, SAY_BOUND, SAY_ROWS};
    bool has_any = false;
    for (uint32_t i = 0; i < set->findings.len; i++) {
        const Finding *finding = &set->findings.at[i];
        for (uint32_t k = 0; k < finding->measured.len; k++) {
            if (!has_any) page_table(page, columns, COUNT(columns));
            has_any = true;
            add_measured_row(page, finding, &finding->measured.at[k]);
        }
    }
    if (!has_any) {
        page_phrase(page, SAY_NOTHING_MEASURED);
        page_add(page, "\n");
    }
}

static void add_source(const Page *page, const Measured *measured) {
    if (measured->place.len) md_code(page->out, MD_CELL, measured->place);
    else if (measured->module.len) md_code(page->out, MD_CELL, measured->module);
    else page_phrase(page, SAY_NOT_KNOWN);
}

static void add_unexplained(const Page *page, const MeasuredList *list) {
    static const int columns[] = {SAY_RUN, SAY_API, SAY_WHERE, SAY_CALLS, SAY_DEVICE_MS,
                                  SAY_GAPS_MS, SAY_OF_STEPS, SAY_AT_MOST, SAY_BOUND, SAY_ROWS};
    if (!list->len) return;
    page_heading(page, 3, SAY_UNEXPLAINED);
    page_phrase(page, SAY_UNEXPLAINED_INTRO);
    page_add(page, "\n\n");
    page_table(page, columns, COUNT(columns));
    for (uint32_t i = 0; i < list->len; i++) {
        const Measured *measured = &list->at[i];
        page_add(page, "| ");
        md_code(page->out, MD_CELL, measured->pattern);
        page_add(page, " | ");
        if (measured->api.len) md_code(page->out, MD_CELL, measured->api);
        else page_phrase(page, SAY_NO_OPERATOR);
        page_add(page, " | ");
        add_source(page, measured);
        add_numbers(page, measured);
        page_add(page, "\n");
    }
}

static void add_notes(const Page *page, const FindingSet *set) {
    if (!set->profile_notes.len) return;
    page_add(page, "\n");
    page_phrase(page, SAY_PROFILE_LACKS);
    page_add(page, "\n\n");
    for (uint32_t i = 0; i < set->profile_notes.len; i++) {
        page_add(page, "- ");
        md_text(page->out, MD_LINE, set->profile_notes.at[i]);
        page_add(page, "\n");
    }
}

void measured_md(const Page *page, const FindingSet *set) {
    Buf source = {0};
    if (!set->profile.len) return;
    page_heading(page, 2, SAY_MEASURED);
    md_code(&source, MD_LINE, set->profile);
    Str args[] = {buf_str(&source), arena_printf(page->scratch, "%.3f", set->profile_us / 1e3)};
    say(page->out, page->lang, SAY_MEASURED_OF, args);
    page_add(page, "\n\n");
    buf_free(&source);
    add_findings(page, set);
    add_unexplained(page, &set->unexplained);
    add_notes(page, set);
}

// - **Measured device time**: `rms_norm` 8 calls, 2.177 + 0.027 ms, 2.2 %, 9.00x; ...
void measured_md_lines(const Page *page, const Finding *finding) {
    for (uint32_t i = 0; i < finding->measured.len; i++) {
        const Measured *measured = &finding->measured.at[i];
        page_add(page, "- ");
        page_label(page, SAY_MEASURED);
        md_code(page->out, MD_LINE, measured->pattern);
        buf_addf(page->out, " %llu x, %.3f + %.3f ms, %.1f %%; ",
                 (unsigned long long)measured->calls, measured->device_us / 1e3,
                 measured->gap_us / 1e3, 100 * measured->share);
        page_phrase(page, SAY_AT_MOST);
        page_add(page, " ");
        add_cap(page, measured);
        page_add(page, "; ");
        add_joined(page, measured);
        page_add(page, "\n");
    }
}
