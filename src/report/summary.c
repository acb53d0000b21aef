// summary.c - the table on a terminal. Columns are as wide as their widest
// text; a reason that the reader must know stands under its row.
#include "base/base.h"

#include "report/summary.h"

#include "model/utf8.h"
#include "report/groups.h"
#include "report/page.h"
#include "report/sentences.h"

enum { COLUMNS = 5, MINOR_MAX = 3 };

typedef struct Row {
    Str cells[COLUMNS];
    Str reason; // empty if it says nothing new
    Verdict verdict;
} Row;

typedef VEC(Row) RowVec;

static Str place(Arena *arena, const Group *group, Lang lang) {
    const Finding *first = group_first(group);
    Buf buf = {0};
    buf_addf(&buf, "%.*s:%u", STR_FMT(first->file), first->start_line);
    if (first->end_line > first->start_line) {
        buf_addf(&buf, "-%u", first->end_line);
    }
    if (group->members.len > 1) {
        Str more[] = {number_str(arena, group->members.len - 1)};
        buf_add_char(&buf, ' ');
        say(&buf, lang, SAY_MORE_PLACES, more);
    }
    Str made = utf8_one_line(arena, buf_str(&buf));
    buf_free(&buf);
    return made;
}

static Row make_row(Arena *arena, const Group *group, Lang lang) {
    const Finding *first = group_first(group);
    Row row = {.verdict = first->verdict};
    row.cells[0] = str_of(phrase(lang, verdict_phrase(first->verdict)));
    row.cells[1] = str_of(phrase(lang, priority_phrase(first->priority)));
    row.cells[2] = utf8_one_line(arena, first->api);
    row.cells[3] = place(arena, group, lang);
    if (first->verdict != VERDICT_REJECT) {
        row.cells[4] = utf8_one_line(arena, first->id);
    }
    if (first->verdict != VERDICT_RECOMMEND) {
        Str reason = sentence(arena, lang, finding_reason(first));
        row.reason = utf8_one_line(arena, reason);
    }
    return row;
}

// A caution of low priority that is of no main family. A project may have hundreds.
static bool is_minor(const Finding *f) {
    return f->verdict == VERDICT_CAUTION && f->priority == PRIORITY_LOW &&
           !family_is_main(f->family);
}

typedef struct MinorRule {
    Str rule;
    uint32_t shown, left; // groups; findings that are not shown yet
} MinorRule;

typedef VEC(MinorRule) MinorRules;

static MinorRule *minor_rule(MinorRules *rules, Arena *arena, Str rule) {
    for (uint32_t i = 0; i < rules->len; i++) {
        if (str_eq(rules->at[i].rule, rule)) return &rules->at[i];
    }
    vec_push(arena, rules, (MinorRule){.rule = rule});
    return &rules->at[rules->len - 1];
}

static void count_minor(MinorRules *rules, Arena *arena, const GroupVec *groups) {
    for (uint32_t i = 0; i < groups->len; i++) {
        const Finding *first = group_first(&groups->at[i]);
        if (!is_minor(first)) continue;
        minor_rule(rules, arena, first->rule)->left += groups->at[i].members.len;
    }
}

static Row make_rest(Arena *arena, const Group *group, uint32_t findings, Lang lang) {
    Row row = make_row(arena, group, lang);
    Buf buf = {0};
    Str more[] = {number_str(arena, findings)};
    say(&buf, lang, SAY_SHORT_REST, more);
    row.cells[3] = utf8_one_line(arena, buf_str(&buf));
    row.cells[4] = row.reason = (Str){0};
    buf_free(&buf);
    return row;
}

// Of what is minor the first few groups of a rule; the report has all.
static void add_rows(RowVec *rows, Arena *arena, const GroupVec *groups,
                     Lang lang) {
    MinorRules minor = {0};
    count_minor(&minor, arena, groups);
    for (uint32_t i = 0; i < groups->len; i++) {
        const Group *group = &groups->at[i];
        MinorRule *rule = NULL;
        if (is_minor(group_first(group))) {
            rule = minor_rule(&minor, arena, group_first(group)->rule);
            if (rule->shown++ > MINOR_MAX) continue;
        }
        bool rest = rule && rule->shown > MINOR_MAX && rule->left > group->members.len;
        if (rule && !rest) rule->left -= group->members.len;
        vec_push(arena, rows, rest ? make_rest(arena, group, rule->left, lang)
                                   : make_row(arena, group, lang));
    }
}

static void measure(uint32_t widths[COLUMNS], const RowVec *rows) {
    for (uint32_t i = 0; i < rows->len; i++) {
        for (int c = 0; c < COLUMNS; c++) {
            uint32_t columns = utf8_columns(rows->at[i].cells[c]);
            if (columns > widths[c]) widths[c] = columns;
        }
    }
}

static const char *colour_of(Verdict verdict) {
    static const char *const colours[] = {
        [VERDICT_RECOMMEND] = "\033[32m",
        [VERDICT_CAUTION] = "\033[33m",
        [VERDICT_REJECT] = "\033[31m",
    };
    return colours[verdict];
}

static void pad(Buf *out, uint32_t columns) {
    while (columns--) buf_add_char(out, ' ');
}

static void add_row(Buf *out, const Row *row, const uint32_t widths[COLUMNS],
                    bool colour) {
    int last = COLUMNS - 1;
    while (last > 0 && row->cells[last].len == 0) last--;
    for (int c = 0; c <= last; c++) {
        if (colour && c == 0) buf_add(out, str_of(colour_of(row->verdict)));
        buf_add(out, row->cells[c]);
        if (colour && c == 0) buf_add(out, STR("\033[0m"));
        if (c == last) break;
        pad(out, widths[c] - utf8_columns(row->cells[c]) + 2);
    }
    buf_add_char(out, '\n');
    if (row->reason.len) {
        pad(out, widths[0] + 2);
        buf_add(out, row->reason);
        buf_add_char(out, '\n');
    }
}

static void add_totals(Buf *out, Arena *arena, const FindingSet *set,
                       const GroupList *groups, Lang lang) {
    Str counts[] = {
        number_str(arena, set->file_count),
        number_str(arena, groups->counts[VERDICT_RECOMMEND]),
        number_str(arena, groups->counts[VERDICT_CAUTION]),
        number_str(arena, groups->counts[VERDICT_REJECT]),
    };
    Str also[] = {number_str(arena, set->existing.len),
                  number_str(arena, set->skipped.len)};
    say(out, lang, SAY_SHORT_COUNTS, counts);
    Str beyond[] = {number_str(arena, groups->beyond_count)};
    if (groups->beyond_count) say(out, lang, SAY_SHORT_BEYOND, beyond);
    if (set->existing.len + set->skipped.len) {
        say(out, lang, SAY_SHORT_ALSO, also);
    }
    buf_add_char(out, '\n');
}

// The time that several findings share is counted once.
static double measured_us(const FindingSet *set) {
    double us = 0;
    for (uint32_t i = 0; i < set->findings.len; i++) {
        const MeasuredList *list = &set->findings.at[i].measured;
        for (uint32_t k = 0; k < list->len; k++) {
            us += (list->at[k].device_us + list->at[k].gap_us) / list->at[k].shared;
        }
    }
    return us;
}

static void add_measured(Buf *out, Arena *arena, const FindingSet *set, Lang lang) {
    if (!set->profile.len) return;
    Str times[] = {arena_printf(arena, "%.3f", measured_us(set) / 1e3),
                   arena_printf(arena, "%.3f", set->profile_us / 1e3)};
    Str count[] = {number_str(arena, set->unexplained.len)};
    say(out, lang, SAY_SHORT_MEASURED, times);
    if (set->unexplained.len) say(out, lang, SAY_SHORT_UNEXPLAINED, count);
    buf_add_char(out, '\n');
}

void summary_write(Buf *out, const FindingSet *set, const SummaryStyle *style) {
    Arena arena;
    arena_init(&arena);
    GroupList groups;
    groups_make(&groups, &arena, set);
    RowVec rows = {0};
    add_rows(&rows, &arena, &groups.candidates, style->lang);
    add_rows(&rows, &arena, &groups.refused, style->lang);
    uint32_t widths[COLUMNS] = {0};
    measure(widths, &rows);
    for (uint32_t i = 0; i < rows.len; i++) {
        add_row(out, &rows.at[i], widths, style->colour);
    }
    if (rows.len) buf_add_char(out, '\n');
    add_totals(out, &arena, set, &groups, style->lang);
    add_measured(out, &arena, set, style->lang);
    arena_free(&arena);
}
