// md_candidate.c - one candidate as the user reads it before confirming:
// what is proposed and where, the code before and after, the operator, what
// was checked and how it is known, what could go wrong, what it is worth.
#include "base/base.h"

#include "report/md_candidate.h"

#include "report/measured_md.h"

static void add_code(const Page *page, Str text) {
    md_code(page->out, MD_LINE, text);
}

// `file:line` and the text there, as a list item.
static void add_span_item(const Page *page, const Span *span) {
    page_add(page, "  - ");
    page_place(page, MD_LINE, span->file, span->start_line, span->end_line);
    if (span->text.len) {
        page_add(page, " ");
        add_code(page, span->text);
    }
    page_add(page, "\n");
}

static void add_span_list(const Page *page, Phrase label, const Span *at,
                          uint32_t count) {
    if (count == 0) return;
    page_add(page, "- ");
    page_label_line(page, label);
    for (uint32_t i = 0; i < count; i++) add_span_item(page, &at[i]);
}

static bool is_member(const Group *group, const Span *site) {
    for (uint32_t i = 0; i < group->members.len; i++) {
        const Finding *member = group->members.at[i];
        if (str_eq(member->file, site->file) &&
            member->start_line == site->start_line) {
            return true;
        }
    }
    return false;
}

// The other places of the code, without those that the group lists anyway.
static void add_sites(const Page *page, const Group *group) {
    const Finding *finding = group_first(group);
    bool any = false;
    for (uint32_t i = 0; i < finding->sites.len; i++) {
        if (is_member(group, &finding->sites.at[i])) continue;
        if (!any) {
            page_add(page, "- ");
            page_label_line(page, SAY_SITES);
        }
        any = true;
        add_span_item(page, &finding->sites.at[i]);
    }
}

static void add_heading(const Page *page, const Finding *finding,
                        uint32_t number) {
    if (number > 1) page_add(page, "\n");
    buf_addf(page->out, "<a id=\"c%u\"></a>\n\n### C%u %s ",
             (unsigned)number, (unsigned)number,
             verdict_mark(finding->verdict));
    md_text(page->out, MD_LINE, finding->family);
    page_phrase(page, SAY_COLON);
    add_code(page, finding->qualname);
    page_add(page, " → ");
    add_code(page, finding->api);
    page_add(page, "\n\n");
}

static void add_verdict(const Page *page, const Finding *finding) {
    Str words[] = {
        str_of(phrase(page->lang, verdict_phrase(finding->verdict))),
        str_of(phrase(page->lang, priority_phrase(finding->priority))),
    };
    page_add(page, "- ");
    say(page->out, page->lang, SAY_VERDICT_LINE, words);
    page_add(page, "\n");
    for (uint32_t i = 0; i < finding->reasons.len; i++) {
        page_add(page, "  - ");
        page_sentence(page, MD_LINE, finding->reasons.at[i]);
        page_add(page, "\n");
    }
}

static void add_identity(const Page *page, const Finding *finding) {
    page_add(page, "- ");
    page_label(page, SAY_WHERE);
    page_place(page, MD_LINE, finding->file, finding->start_line,
               finding->end_line);
    page_add(page, "\n- ");
    page_label(page, SAY_ID);
    add_code(page, finding->id);
    page_add(page, "\n- ");
    page_label(page, SAY_RULE);
    Buf rule = {0}, variant = {0};
    md_code(&rule, MD_LINE, finding->rule);
    md_code(&variant, MD_LINE, finding->variant);
    Str names[] = {buf_str(&rule), buf_str(&variant)};
    if (variant.len) {
        say(page->out, page->lang, SAY_VARIANT, names);
    } else {
        buf_add(page->out, names[0]);
    }
    buf_free(&rule);
    buf_free(&variant);
    page_add(page, "\n");
}

// The pieces from `i` on that go before the same line; returns the end.
static uint32_t insert_end(const Inserts *inserts, uint32_t i) {
    uint32_t end = i + 1;
    while (end < inserts->len && inserts->at[end].line == inserts->at[i].line) end++;
    return end;
}

static void add_insert_lines(const Page *page, const Finding *finding) {
    Buf lines = {0};
    const Inserts *inserts = &finding->inserts;
    for (uint32_t i = 0; i < inserts->len; i = insert_end(inserts, i)) {
        if (i) buf_add(&lines, str_of(phrase(page->lang, SAY_LIST_COMMA)));
        buf_addf(&lines, "%u", (unsigned)inserts->at[i].line);
    }
    if (lines.len) {
        Str args[] = {buf_str(&lines)};
        page_phrase(page, SAY_COMMA);
        say(page->out, page->lang, SAY_INSERT_LINES, args);
    }
    buf_free(&lines);
}

// The places of a candidate whose code was copied: one line each.
static void add_places(const Page *page, const Group *group) {
    if (group->members.len < 2) return;
    Str count[] = {number_str(page->scratch, group->members.len)};
    page_add(page, "\n**");
    say(page->out, page->lang, SAY_PLACES, count);
    page_add(page, "**");
    page_phrase(page, SAY_COLON_END);
    page_add(page, "\n\n");
    for (uint32_t i = 0; i < group->members.len; i++) {
        const Finding *member = group->members.at[i];
        page_add(page, "- ");
        page_place(page, MD_LINE, member->file, member->start_line,
                   member->end_line);
        add_insert_lines(page, member);
        page_phrase(page, SAY_COLON);
        add_code(page, member->id);
        page_add(page, "\n");
    }
    page_add(page, "\n");
    page_phrase(page, SAY_PLACES_NOTE);
    page_add(page, "\n");
}

static bool same_inserts(const Finding *a, const Finding *b) {
    if (a->inserts.len != b->inserts.len) return false;
    for (uint32_t i = 0; i < a->inserts.len; i++) {
        if (!str_eq(a->inserts.at[i].text, b->inserts.at[i].text)) return false;
    }
    return true;
}

// The first candidate of the report with the same additions, from 1.
static uint32_t find_same_inserts(const GroupVec *all, const Finding *finding) {
    for (uint32_t i = 0; i < all->len; i++) {
        if (same_inserts(group_first(&all->at[i]), finding)) return i + 1;
    }
    BUG("a candidate outside the report");
}

// Pieces as the text that they make together.
static void add_pieces(const Page *page, const Inserts *inserts, uint32_t from, uint32_t to) {
    Buf text = {0};
    for (uint32_t i = from; i < to; i++) buf_add(&text, inserts->at[i].text);
    md_fence(page->out, "python", buf_str(&text));
    buf_free(&text);
}

// The additions to the file, once in the report for all who share them.
static void add_inserts(const Page *page, const GroupVec *all,
                        uint32_t number) {
    const Group *group = &all->at[number - 1];
    const Finding *finding = group_first(group);
    if (finding->inserts.len == 0) return;
    bool many = group->members.len > 1;
    uint32_t same = find_same_inserts(all, finding);
    const Inserts *inserts = &finding->inserts;
    for (uint32_t i = 0, end; i < inserts->len; i = end) {
        end = insert_end(inserts, i);
        Str line[] = {number_str(page->scratch, inserts->at[i].line)};
        page_add(page, "\n");
        say(page->out, page->lang, many ? SAY_INSERT_EACH : SAY_INSERT, line);
        page_phrase(page, SAY_COLON_END);
        if (same != number) {
            Str link[] = {arena_printf(page->scratch, "[C%u](#c%u)",
                                       (unsigned)same, (unsigned)same)};
            page_add(page, " ");
            say(page->out, page->lang, SAY_INSERT_SAME, link);
            page_add(page, "\n");
            continue;
        }
        page_add(page, "\n\n");
        add_pieces(page, inserts, i, end);
    }
}

static void add_original(const Page *page, const Finding *finding) {
    page_add(page, "\n");
    page_label(page, SAY_ORIGINAL);
    page_place(page, MD_LINE, finding->file, finding->start_line,
               finding->end_line);
    page_add(page, "\n\n");
    md_fence(page->out, "python", finding->original);
}

static void add_replacement(const Page *page, const Finding *finding) {
    page_add(page, "\n");
    page_label_line(page, SAY_REPLACEMENT);
    page_add(page, "\n");
    md_fence(page->out, "python", finding->replacement);
}

static void add_api_facts(const Page *page, const Finding *finding) {
    page_add(page, "\n");
    page_label(page, SAY_API_FACTS);
    add_code(page, finding->op_signature.len ? finding->op_signature
                                             : finding->api);
    page_add(page, "\n");
    page_add(page, "\n");
    if (finding->op_summary.len) {
        page_sentence(page, MD_LINE, finding->op_summary);
        page_add(page, "\n\n");
    }
    page_phrase(page, SAY_SOURCE);
    page_phrase(page, SAY_COLON);
    if (finding->op_source.len) {
        page_sentence(page, MD_LINE, finding->op_source);
    } else {
        page_phrase(page, SAY_NOT_STATED);
    }
    page_add(page, "\n");
}

static void add_cell_code(const Page *page, Str text) {
    page_add(page, " ");
    md_code(page->out, MD_CELL, text);
    page_add(page, " |");
}

static void add_cell_text(const Page *page, Str text) {
    page_add(page, " ");
    page_sentence(page, MD_CELL, text);
    page_add(page, " |");
}

static void add_port_rows(const Page *page, Phrase direction, const Port *at,
                          uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        page_add(page, "| ");
        page_phrase(page, direction);
        page_add(page, " |");
        add_cell_code(page, at[i].name);
        add_cell_code(page, at[i].expr);
        add_cell_text(page, at[i].dtype);
        add_cell_text(page, at[i].shape);
        page_add(page, "\n");
    }
}

static void add_ports(const Page *page, const Finding *finding) {
    static const int columns[] = {-1, SAY_NAME, SAY_EXPRESSION, SAY_DTYPE,
                                  SAY_SHAPE};
    if (finding->inputs.len + finding->outputs.len == 0) return;
    page_add(page, "\n");
    page_label_line(page, SAY_PORTS);
    page_add(page, "\n");
    page_table(page, columns, COUNT(columns));
    add_port_rows(page, SAY_INPUT, finding->inputs.at, finding->inputs.len);
    add_port_rows(page, SAY_OUTPUT, finding->outputs.at, finding->outputs.len);
}

// The chain of places where a fact was learnt: `a.py:12` → `b.py:30`. The
// text is shown for the last one, which is where the value stands.
static void add_chain(const Page *page, const Fact *fact) {
    for (uint32_t i = 0; i < fact->chain.len; i++) {
        const Span *span = &fact->chain.at[i];
        if (i) page_add(page, " → ");
        page_place(page, MD_CELL, span->file, span->start_line,
                   span->end_line);
        if (span->text.len && i + 1 == fact->chain.len) {
            page_add(page, " ");
            md_code(page->out, MD_CELL, span->text);
        }
    }
}

// The claim without the engine's own note that it is tested at run time: the
// row says so by its state.
static Str claim_of(const Fact *fact) {
    static const char *const notes[] = {"; tested at run time",
                                        ": tested at run time"};
    Str claim = fact->claim;
    for (size_t i = 0; i < COUNT(notes) && fact->guard.len; i++) {
        if (str_ends(claim, notes[i])) claim.len -= strlen(notes[i]);
    }
    return claim;
}

static void add_fact_state(const Page *page, const Fact *fact) {
    static const char *const marks[] = {
        [FACT_PROVEN] = "✅ ", [FACT_REFUTED] = "❌ ", [FACT_UNKNOWN] = "❔ ",
    };
    if (fact->state == FACT_UNKNOWN && fact->guard.len) {
        page_add(page, "🛡️ ");
        page_phrase(page, SAY_GUARDED);
        return;
    }
    bool unseen = fact->state == FACT_UNKNOWN && fact_is_context(fact);
    page_add(page, marks[fact->state]);
    page_phrase(page, unseen ? SAY_NOT_SHOWN : fact_state_phrase(fact->state));
}

static void add_fact_row(const Page *page, const Fact *fact) {
    page_add(page, "| ");
    add_fact_state(page, fact);
    page_add(page, " | ");
    md_text(page->out, MD_CELL, fact->name);
    page_add(page, " | ");
    page_sentence(page, MD_CELL, claim_of(fact));
    if (fact->guard.len) {
        page_phrase(page, SAY_COLON);
        md_code(page->out, MD_CELL, fact->guard);
    }
    page_add(page, " | ");
    add_chain(page, fact);
    page_add(page, " |\n");
}

static void add_facts(const Page *page, const Finding *finding) {
    static const int columns[] = {SAY_STATE, SAY_NAME, SAY_CLAIM, SAY_LEARNT};
    if (finding->facts.len == 0) return;
    page_add(page, "\n");
    page_label_line(page, SAY_FACTS);
    page_add(page, "\n");
    page_table(page, columns, COUNT(columns));
    for (uint32_t i = 0; i < finding->facts.len; i++) {
        add_fact_row(page, &finding->facts.at[i]);
    }
}

static void add_references(const Page *page, const Finding *finding) {
    if (finding->references.len) {
        add_span_list(page, SAY_REFERENCES, finding->references.at,
                      finding->references.len);
        return;
    }
    page_add(page, "- ");
    page_label(page, SAY_REFERENCES);
    page_phrase(page, SAY_NONE_FOUND);
    page_add(page, "\n");
}

static void add_switch(const Page *page, const Switch *choice) {
    static const Phrase kinds[] = {
        [SWITCH_EXISTING] = SAY_SWITCH_EXISTING,
        [SWITCH_PARAMETER] = SAY_SWITCH_PARAMETER,
        [SWITCH_ENVIRONMENT] = SAY_SWITCH_ENVIRONMENT,
        [SWITCH_DEVICE_ONLY] = SAY_SWITCH_DEVICE,
    };
    page_add(page, "- ");
    page_label(page, SAY_SWITCH);
    page_phrase(page, kinds[choice->kind]);
    if (choice->name.len) {
        page_add(page, " ");
        add_code(page, choice->name);
    }
    if (choice->expr.len && !str_eq(choice->expr, choice->name)) {
        page_phrase(page, SAY_COMMA);
        page_phrase(page, SAY_CONDITION);
        page_add(page, " ");
        add_code(page, choice->expr);
    }
    if (choice->where.file.len) {
        page_add(page, " (");
        page_place(page, MD_LINE, choice->where.file, choice->where.start_line,
                   choice->where.end_line);
        page_add(page, ")");
    }
    page_add(page, "\n");
}

static void add_risks(const Page *page, const Finding *finding) {
    page_add(page, "- ");
    if (finding->risks.len == 0) {
        page_label(page, SAY_RISKS);
        page_phrase(page, SAY_NO_RISKS);
        page_add(page, "\n");
        return;
    }
    page_label_line(page, SAY_RISKS);
    for (uint32_t i = 0; i < finding->risks.len; i++) {
        page_add(page, "  - ");
        page_sentence(page, MD_LINE, finding->risks.at[i]);
        page_add(page, "\n");
    }
}

static void add_gain(const Page *page, const Finding *finding) {
    page_add(page, "- ");
    page_label(page, SAY_GAIN);
    if (finding->gain.len == 0) {
        page_phrase(page, SAY_NO_GAIN);
    } else {
        page_sentence(page, MD_LINE, finding->gain);
    }
    if (finding->gain_ground.len) {
        Buf ground = {0};
        Page inner = {&ground, page->lang, page->folder, page->scratch};
        page_sentence(&inner, MD_LINE, finding->gain_ground);
        Str args[] = {buf_str(&ground)};
        say(page->out, page->lang, SAY_GROUND, args);
        buf_free(&ground);
    }
    page_add(page, "\n");
}

// What there is to say only where something can be put in place.
static void add_proposal(const Page *page, const GroupVec *all,
                         uint32_t number) {
    const Finding *finding = group_first(&all->at[number - 1]);
    add_replacement(page, finding);
    add_inserts(page, all, number);
    add_api_facts(page, finding);
    add_ports(page, finding);
    add_facts(page, finding);
    page_add(page, "\n");
    add_references(page, finding);
    add_switch(page, &finding->switch_);
    add_risks(page, finding);
    add_gain(page, finding);
    measured_md_lines(page, finding);
}

void md_candidate(const Page *page, const GroupVec *all, uint32_t number) {
    const Group *group = &all->at[number - 1];
    const Finding *finding = group_first(group);
    add_heading(page, finding, number);
    add_verdict(page, finding);
    add_identity(page, finding);
    add_span_list(page, SAY_HELPERS, finding->helpers.at,
                  finding->helpers.len);
    add_sites(page, group);
    add_places(page, group);
    add_original(page, finding);
    if (finding->replacement.len) {
        add_proposal(page, all, number);
        return;
    }
    page_add(page, "\n");
    page_phrase(page, SAY_NO_REPLACEMENT);
    page_add(page, "\n");
    add_facts(page, finding);
}
