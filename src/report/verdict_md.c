// verdict_md.c - what the page of a verification says at its top, for a terminal
// or a comment: the conclusion, each stage, and what they rest on. The words of
// the record (Pass, faster, blocked) stay as they are in the record.
#include "base/base.h"

#include "report/verdict_md.h"

#include "report/page.h"

static Str text_at(const JsonVal *object, const char *name) {
    return json_text(json_member(object, name));
}

static void add_text(const Page *page, MdPlace place, Str text) {
    if (text.len) md_text(page->out, place, text);
    else page_phrase(page, SAY_MISSING);
}

static void add_code(const Page *page, Str text) {
    if (text.len) md_code(page->out, MD_LINE, text);
    else page_phrase(page, SAY_MISSING);
}

static void add_number(const Page *page, const JsonVal *number) {
    if (json_is_number(number)) buf_addf(page->out, "%.4g", json_number(number, 0));
    else page_phrase(page, SAY_MISSING);
}

static void begin_item(const Page *page, Phrase label) {
    page_add(page, "- ");
    page_phrase(page, label);
    page_phrase(page, SAY_COLON);
}

static void add_emulated(const Page *page, const JsonVal *object) {
    if (!json_truth(json_member(object, "emulated"), false)) return;
    page_add(page, " (");
    page_phrase(page, SAY_EMULATED);
    page_add(page, ")");
}

static void add_head(const Page *page, const JsonVal *report) {
    const JsonVal *info = json_member(report, "basic_info");
    const JsonVal *end = json_member(report, "conclusion");
    page_add(page, "## ");
    add_text(page, MD_LINE, text_at(info, "final_conclusion"));
    add_emulated(page, end);
    page_phrase(page, SAY_COLON);
    add_code(page, text_at(info, "candidate_name"));
    page_add(page, "\n\n");
    begin_item(page, SAY_ANSWER);
    add_text(page, MD_LINE, text_at(end, "answer"));
    page_add(page, "\n");
    begin_item(page, SAY_REASON);
    add_text(page, MD_LINE, text_at(end, "reason"));
    page_add(page, "\n");
}

static void add_candidate(const Page *page, const JsonVal *report) {
    const JsonVal *candidate = json_member(report, "candidate");
    const JsonVal *by = json_member(report, "confirmation");
    begin_item(page, SAY_WHERE);
    Str place = arena_printf(page->scratch, "%.*s:%lld-%lld", STR_FMT(text_at(candidate, "file")),
                             (long long)json_int(json_member(candidate, "start_line"), 0),
                             (long long)json_int(json_member(candidate, "end_line"), 0));
    add_code(page, text_at(candidate, "file").len ? place : (Str){0});
    page_add(page, " → ");
    add_code(page, text_at(candidate, "api"));
    page_add(page, "\n");
    begin_item(page, SAY_CONFIRMED);
    add_text(page, MD_LINE, text_at(by, "by"));
    if (text_at(by, "statement").len) {
        page_add(page, ", \"");
        md_text(page->out, MD_LINE, text_at(by, "statement"));
        page_add(page, "\"");
    }
    page_add(page, "\n");
}

static void add_stages(const Page *page, const JsonVal *report) {
    static const int columns[] = {SAY_STAGE, SAY_OUTCOME, SAY_REASON};
    page_add(page, "\n");
    page_table(page, columns, COUNT(columns));
    for (JsonIter it = json_first(json_member(report, "stages")); it.value; json_next(&it)) {
        page_add(page, "| ");
        add_text(page, MD_CELL, text_at(it.value, "name"));
        page_add(page, " | ");
        add_text(page, MD_CELL, text_at(it.value, "status"));
        add_emulated(page, it.value);
        page_add(page, " | ");
        add_text(page, MD_CELL, text_at(it.value, "reason"));
        page_add(page, " |\n");
    }
    page_add(page, "\n");
}

static void add_losses(const Page *page, const JsonVal *report) {
    const JsonVal *limits = json_member(report, "thresholds");
    const JsonVal *first = json_member(limits, "first_fail_step");
    begin_item(page, SAY_WORST_DIFF);
    add_number(page, json_member(limits, "worst_rel_diff"));
    page_phrase(page, SAY_COMMA);
    page_phrase(page, SAY_LIMIT);
    page_add(page, " ");
    add_number(page, json_member(limits, "max_rel_diff"));
    page_phrase(page, SAY_COMMA);
    page_phrase(page, SAY_FIRST_FAIL);
    page_add(page, " ");
    if (json_is_null(first)) page_phrase(page, SAY_NO_STEP);
    else add_number(page, first);
    page_add(page, "\n");
}

static void add_times(const Page *page, const JsonVal *report) {
    const JsonVal *performance = json_member(report, "performance");
    begin_item(page, SAY_STEP_TIME);
    add_text(page, MD_LINE, text_at(json_member(report, "conclusion"), "speed"));
    if (json_is_number(json_member(performance, "ratio"))) {
        page_add(page, ", ");
        add_number(page, json_member(performance, "ratio"));
        page_add(page, " [");
        add_number(page, json_member(performance, "low"));
        page_add(page, ", ");
        add_number(page, json_member(performance, "high"));
        page_add(page, "]");
    }
    page_add(page, "\n");
}

void verdict_md_write(Buf *out, const JsonVal *report, Lang lang) {
    Arena scratch;
    arena_init(&scratch);
    Page page = {.out = out, .lang = lang, .scratch = &scratch};
    add_head(&page, report);
    add_candidate(&page, report);
    add_stages(&page, report);
    add_losses(&page, report);
    add_times(&page, report);
    page_add(&page, "\n"); // another one may follow
    arena_free(&scratch);
}
