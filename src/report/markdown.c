// markdown.c - the frame of the report: head, summary, one section for each
// candidate (md_candidate.c), what was refused and why, what is fused
// already, what could not be read, the order of verification, and the stop.
#include "base/base.h"

#include "report/markdown.h"

#include "model/shell.h"
#include "report/groups.h"
#include "report/md_candidate.h"
#include "report/measured_md.h"
#include "report/page.h"

enum {
    SUMMARY_REFUSED_MAX = 12, // more refusals than this get a row per family
    ROW_PLACES_MAX = 10,      // places listed in one row
    SKIPPED_MAX = 50,
};

static void add_row_head(const Page *page, Phrase name) {
    page_add(page, "| ");
    page_phrase(page, name);
    page_add(page, " | ");
}

static Str number(const Page *page, uint32_t value) {
    return number_str(page->scratch, value);
}

// Families joined by commas, as code; `all` or only those without a finding.
static void list_families(Buf *out, const FindingSet *set, Lang lang,
                          bool all) {
    size_t start = out->len;
    for (uint32_t i = 0; i < set->families.len; i++) {
        Str family = set->families.at[i];
        bool found = false;
        for (uint32_t j = 0; j < set->findings.len && !all; j++) {
            found = found || str_eq(set->findings.at[j].family, family);
        }
        if (found) continue;
        if (out->len > start) {
            buf_add(out, str_of(phrase(lang, SAY_LIST_COMMA)));
        }
        md_code(out, MD_CELL, family);
    }
}

static void add_looked_for(const Page *page, const FindingSet *set) {
    if (set->families.len == 0) return;
    Buf all = {0}, none = {0};
    list_families(&all, set, page->lang, true);
    list_families(&none, set, page->lang, false);
    add_row_head(page, SAY_LOOKED_FOR);
    Str lists[] = {buf_str(&all), buf_str(&none)};
    if (none.len) {
        say(page->out, page->lang, SAY_NOT_FOUND_FAMILIES, lists);
    } else {
        buf_add(page->out, lists[0]);
    }
    page_add(page, " |\n");
    buf_free(&all);
    buf_free(&none);
}

static void add_head(const Page *page, const FindingSet *set,
                     const GroupList *groups) {
    const uint32_t *counts = groups->counts;
    Str size[] = {number(page, set->file_count),
                  number(page, set->function_count),
                  number(page, set->line_count)};
    Str result[] = {number(page, counts[VERDICT_RECOMMEND]),
                    number(page, counts[VERDICT_CAUTION]),
                    number(page, counts[VERDICT_REJECT])};
    Str also[] = {number(page, set->existing.len),
                  number(page, set->skipped.len)};
    page_add(page, "# ");
    page_phrase(page, SAY_TITLE);
    page_add(page, "\n\n");
    page_phrase(page, SAY_INTRO);
    page_add(page, "\n\n| | |\n|---|---|\n");
    add_row_head(page, SAY_TOOL);
    page_add(page, "npufuse ");
    md_text(page->out, MD_CELL, set->tool_version);
    page_add(page, " |\n");
    add_row_head(page, SAY_SCANNED);
    md_code(page->out, MD_CELL, set->root);
    page_add(page, " |\n");
    add_row_head(page, SAY_SIZE);
    say(page->out, page->lang, SAY_SIZE_IS, size);
    page_add(page, " |\n");
    add_row_head(page, SAY_OPERATORS);
    if (set->torch_npu.len) {
        say(page->out, page->lang, SAY_OPERATORS_OF, &set->torch_npu);
    } else {
        page_phrase(page, SAY_OPERATORS_UNCHECKED);
    }
    page_add(page, " |\n");
    add_row_head(page, SAY_RESULT);
    say(page->out, page->lang, SAY_RESULT_IS, result);
    Str beyond[] = {number(page, groups->beyond_count)};
    if (groups->beyond_count) say(page->out, page->lang, SAY_RESULT_BEYOND, beyond);
    page_add(page, " |\n");
    add_row_head(page, SAY_ALSO);
    say(page->out, page->lang, SAY_ALSO_IS, also);
    page_add(page, " |\n");
    add_looked_for(page, set);
}

// The first place, and how many more there are.
static void add_group_place(const Page *page, const Group *group) {
    const Finding *first = group_first(group);
    page_place(page, MD_CELL, first->file, first->start_line, first->end_line);
    if (group->members.len < 2) return;
    Str more[] = {number(page, group->members.len - 1)};
    page_add(page, " ");
    say(page->out, page->lang, SAY_MORE_PLACES, more);
}

static void add_reason(const Page *page, const Finding *finding) {
    Str reason = finding_reason(finding);
    if (reason.len) {
        page_sentence(page, MD_CELL, reason);
    } else {
        page_phrase(page, SAY_NO_REASON);
    }
}

// `link` is the first cell after the mark, Markdown.
static void add_summary_row(const Page *page, const Group *group,
                            const char *link) {
    const Finding *first = group_first(group);
    page_add(page, "| ");
    page_add(page, verdict_mark(first->verdict));
    page_add(page, " | ");
    page_add(page, link);
    page_add(page, " | ");
    md_text(page->out, MD_CELL, first->family);
    page_add(page, " | ");
    add_group_place(page, group);
    page_add(page, " | ");
    md_code(page->out, MD_CELL, first->api);
    page_add(page, " | ");
    page_phrase(page, priority_phrase(first->priority));
    page_add(page, " | ");
    add_reason(page, first);
    page_add(page, " | ");
    md_code(page->out, MD_CELL, first->id);
    page_add(page, " |\n");
}

// One row for all refusals of a family; returns the index behind them.
static uint32_t add_refused_family(const Page *page, const GroupVec *refused,
                                   uint32_t at) {
    const Finding *first = group_first(&refused->at[at]);
    uint32_t end = at, places = 0;
    for (; end < refused->len; end++) {
        const Group *group = &refused->at[end];
        if (!str_eq(group_first(group)->family, first->family)) break;
        places += group->members.len;
    }
    Str count[] = {number(page, places)};
    Str reasons[] = {number(page, end - at)};
    page_add(page, "| ❌ | [–](#refused) | ");
    md_text(page->out, MD_CELL, first->family);
    page_add(page, " | ");
    say(page->out, page->lang, SAY_REFUSED_COUNT, count);
    page_add(page, " |  |  | ");
    say(page->out, page->lang, SAY_SEE_REFUSED, reasons);
    page_add(page, " |  |\n");
    return end;
}

static void add_summary(const Page *page, const GroupList *groups) {
    static const int columns[] = {-1,           SAY_NUMBER, SAY_FAMILY,
                                  SAY_WHERE,    SAY_API,    SAY_PRIORITY,
                                  SAY_REASON,   SAY_ID};
    page_heading(page, 2, SAY_SUMMARY);
    if (groups->candidates.len == 0) {
        page_phrase(page, SAY_NO_CANDIDATES);
        page_add(page, "\n");
        if (groups->refused.len) page_add(page, "\n");
    }
    if (groups->candidates.len + groups->refused.len == 0) return;
    page_table(page, columns, COUNT(columns));
    for (uint32_t i = 0; i < groups->candidates.len; i++) {
        Str link = arena_printf(page->scratch, "[C%u](#c%u)", i + 1, i + 1);
        add_summary_row(page, &groups->candidates.at[i], link.at);
    }
    bool few = groups->refused.len <= SUMMARY_REFUSED_MAX;
    for (uint32_t i = 0; i < groups->refused.len;) {
        if (few) {
            add_summary_row(page, &groups->refused.at[i++], "[–](#refused)");
        } else {
            i = add_refused_family(page, &groups->refused, i);
        }
    }
}

static void add_candidates(const Page *page, const GroupList *groups) {
    if (groups->candidates.len == 0) return;
    page_heading(page, 2, SAY_CANDIDATES);
    for (uint32_t i = 0; i < groups->candidates.len; i++) {
        ArenaMark mark = arena_mark(page->scratch);
        md_candidate(page, &groups->candidates, i + 1);
        arena_reset(page->scratch, mark);
    }
}

static void add_and_more(const Page *page, uint32_t hidden) {
    Str args[] = {number(page, hidden)};
    say(page->out, page->lang, SAY_AND_MORE, args);
}

static void add_refused_places(const Page *page, const Group *group) {
    for (uint32_t i = 0; i < group->members.len; i++) {
        const Finding *member = group->members.at[i];
        if (i) page_phrase(page, SAY_LIST_COMMA);
        if (i == ROW_PLACES_MAX) {
            add_and_more(page, group->members.len - i);
            return;
        }
        page_place(page, MD_CELL, member->file, member->start_line,
                   member->end_line);
        if (member->qualname.len) page_add(page, " ");
        md_code(page->out, MD_CELL, member->qualname);
    }
}

// All reasons, and where the refuted facts were learnt.
static void add_refused_reason(const Page *page, const Finding *finding) {
    add_reason(page, finding);
    for (uint32_t i = 1; i < finding->reasons.len; i++) {
        page_add(page, "; ");
        page_sentence(page, MD_CELL, finding->reasons.at[i]);
    }
    for (uint32_t i = 0; i < finding->facts.len; i++) {
        const Fact *fact = &finding->facts.at[i];
        if (fact->state != FACT_REFUTED || fact->chain.len == 0) continue;
        const Span *last = &fact->chain.at[fact->chain.len - 1];
        page_add(page, " (");
        page_place(page, MD_CELL, last->file, last->start_line,
                   last->end_line);
        if (last->text.len) page_add(page, " ");
        md_code(page->out, MD_CELL, last->text);
        page_add(page, ")");
    }
}

static void add_refused(const Page *page, const GroupList *groups) {
    static const int columns[] = {-1, SAY_FAMILY, SAY_API, SAY_REASON,
                                  SAY_WHERE};
    if (groups->refused.len == 0) return;
    page_add(page, "\n<a id=\"refused\"></a>\n");
    page_heading(page, 2, SAY_REFUSED);
    page_phrase(page, SAY_REFUSED_INTRO);
    page_add(page, "\n\n");
    page_table(page, columns, COUNT(columns));
    for (uint32_t i = 0; i < groups->refused.len; i++) {
        const Group *group = &groups->refused.at[i];
        page_add(page, "| ❌ | ");
        md_text(page->out, MD_CELL, group_first(group)->family);
        page_add(page, " | ");
        md_code(page->out, MD_CELL, group_first(group)->api);
        page_add(page, " | ");
        add_refused_reason(page, group_first(group));
        page_add(page, " | ");
        add_refused_places(page, group);
        page_add(page, " |\n");
    }
}

static void add_existing(const Page *page, const FindingSet *set) {
    static const int columns[] = {SAY_API, SAY_WHERE, SAY_FUNCTION};
    if (set->existing.len == 0) return;
    page_heading(page, 2, SAY_EXISTING);
    page_phrase(page, SAY_EXISTING_INTRO);
    page_add(page, "\n\n");
    page_table(page, columns, COUNT(columns));
    for (uint32_t i = 0; i < set->existing.len; i++) {
        const Existing *existing = &set->existing.at[i];
        page_add(page, "| ");
        md_code(page->out, MD_CELL, existing->api);
        page_add(page, " | ");
        page_place(page, MD_CELL, existing->file, existing->start_line,
                   existing->end_line);
        page_add(page, " | ");
        md_code(page->out, MD_CELL, existing->qualname);
        page_add(page, " |\n");
    }
}

static void add_skipped(const Page *page, const FindingSet *set) {
    static const int columns[] = {SAY_FILE, SAY_REASON};
    if (set->skipped.len == 0) return;
    page_heading(page, 2, SAY_SKIPPED);
    page_phrase(page, SAY_SKIPPED_INTRO);
    page_add(page, "\n\n");
    page_table(page, columns, COUNT(columns));
    for (uint32_t i = 0; i < set->skipped.len && i < SKIPPED_MAX; i++) {
        const Skipped *skipped = &set->skipped.at[i];
        page_add(page, "| ");
        if (skipped->line) {
            page_place(page, MD_CELL, skipped->file, skipped->line, 0);
        } else {
            md_code(page->out, MD_CELL, skipped->file);
        }
        page_add(page, " | ");
        page_sentence(page, MD_CELL, skipped->reason);
        page_add(page, " |\n");
    }
    if (set->skipped.len <= SKIPPED_MAX) return;
    page_add(page, "\n");
    add_and_more(page, set->skipped.len - SKIPPED_MAX);
    page_add(page, "\n");
}

static void add_count(const Page *page, Phrase which, uint32_t count) {
    Str args[] = {number(page, count)};
    page_phrase(page, SAY_COMMA);
    say(page->out, page->lang, which, args);
}

static void add_order_item(const Page *page, const Group *group,
                           uint32_t at) {
    const Finding *first = group_first(group);
    Str why[] = {
        str_of(phrase(page->lang, priority_phrase(first->priority))),
        str_of(phrase(page->lang, verdict_phrase(first->verdict))),
    };
    buf_addf(page->out, "%u. [C%u](#c%u) ", at, at, at);
    md_text(page->out, MD_LINE, first->family);
    page_add(page, " ");
    md_code(page->out, MD_LINE, first->qualname);
    page_phrase(page, SAY_COLON);
    say(page->out, page->lang, SAY_ORDER_WHY, why);
    if (group->members.len > 1) {
        add_count(page, SAY_ORDER_PLACES, group->members.len);
    }
    if (group->unknown_count) {
        add_count(page, SAY_ORDER_UNKNOWN, group->unknown_count);
    }
    if (group->guard_count) {
        add_count(page, SAY_ORDER_GUARDS, group->guard_count);
    }
    if (first->verdict == VERDICT_RECOMMEND && group->guard_count == 0) {
        page_phrase(page, SAY_COMMA);
        page_phrase(page, SAY_ORDER_SETTLED);
    }
    page_add(page, "\n");
}

static void add_order(const Page *page, const GroupList *groups) {
    if (groups->ready_count == 0) return;
    page_heading(page, 2, SAY_ORDER);
    page_phrase(page, SAY_ORDER_INTRO);
    page_add(page, "\n\n");
    for (uint32_t i = 0; i < groups->ready_count; i++) {
        add_order_item(page, &groups->candidates.at[i], i + 1);
    }
}

void markdown_confirm_command(Buf *out, Str folder) {
    buf_add(out, STR("npufuse confirm "));
    if (folder.len == 0) return;
    buf_add(out, STR("-o "));
    shell_add_word(out, folder);
    buf_add_char(out, ' ');
}

static void add_stop(const Page *page, const GroupList *groups) {
    page_heading(page, 2, SAY_STOP);
    if (groups->ready_count == 0) {
        page_phrase(page, SAY_STOP_NOTHING);
        page_add(page, "\n");
        return;
    }
    page_phrase(page, SAY_STOP_INTRO);
    page_add(page, "\n\n");
    Buf commands = {0};
    for (uint32_t i = 0; i < groups->ready_count; i++) {
        if (i) buf_add_char(&commands, '\n');
        markdown_confirm_command(&commands, page->folder);
        shell_add_word(&commands, group_first(&groups->candidates.at[i])->id);
    }
    md_fence(page->out, "text", buf_str(&commands));
    buf_free(&commands);
    page_add(page, "\n");
    page_phrase(page, SAY_STOP_CONFIRM);
    page_add(page, "\n");
}

void markdown_write(Buf *out, const FindingSet *set, const MarkdownStyle *style) {
    Arena scratch;
    arena_init(&scratch);
    Page page = {out, style->lang, style->folder, &scratch};
    GroupList groups;
    groups_make(&groups, &scratch, set);
    add_head(&page, set, &groups);
    add_summary(&page, &groups);
    measured_md(&page, set);
    add_candidates(&page, &groups);
    add_refused(&page, &groups);
    add_existing(&page, set);
    add_skipped(&page, set);
    add_order(&page, &groups);
    add_stop(&page, &groups);
    arena_free(&scratch);
}
