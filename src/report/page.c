// page.c - the small shapes of the Markdown report.
#include "base/base.h"

#include "report/page.h"

#include "report/sentences.h"

void page_add(const Page *page, const char *markdown) {
    buf_add(page->out, str_of(markdown));
}

void page_phrase(const Page *page, Phrase which) {
    page_add(page, phrase(page->lang, which));
}

void page_label(const Page *page, Phrase which) {
    page_add(page, "**");
    page_phrase(page, which);
    page_add(page, "**");
    page_phrase(page, SAY_COLON);
}

void page_label_line(const Page *page, Phrase which) {
    page_add(page, "**");
    page_phrase(page, which);
    page_add(page, "**");
    page_phrase(page, SAY_COLON_END);
    page_add(page, "\n");
}

void page_heading(const Page *page, int level, Phrase which) {
    static const char hashes[] = "####";
    page_add(page, "\n");
    buf_add(page->out, (Str){hashes, (size_t)level});
    page_add(page, " ");
    page_phrase(page, which);
    page_add(page, "\n\n");
}

void page_table(const Page *page, const int *columns, size_t count) {
    for (size_t i = 0; i < count; i++) {
        page_add(page, "| ");
        if (columns[i] >= 0) page_phrase(page, (Phrase)columns[i]);
        page_add(page, " ");
    }
    page_add(page, "|\n");
    for (size_t i = 0; i < count; i++) page_add(page, "|---");
    page_add(page, "|\n");
}

void page_sentence(const Page *page, MdPlace place, Str english) {
    md_text(page->out, place, sentence(page->scratch, page->lang, english));
}

void page_place(const Page *page, MdPlace place, Str file, uint32_t start_line,
                uint32_t end_line) {
    ArenaMark mark = arena_mark(page->scratch);
    Str text = arena_printf(page->scratch, "%.*s:%u", STR_FMT(file),
                            (unsigned)start_line);
    if (end_line > start_line) {
        text = arena_printf(page->scratch, "%.*s-%u", STR_FMT(text),
                            (unsigned)end_line);
    }
    md_code(page->out, place, text);
    arena_reset(page->scratch, mark);
}

const char *verdict_mark(Verdict verdict) {
    static const char *const marks[] = {
        [VERDICT_RECOMMEND] = "✅",
        [VERDICT_CAUTION] = "⚠️",
        [VERDICT_REJECT] = "❌",
    };
    return marks[verdict];
}

Phrase verdict_phrase(Verdict verdict) { // ORDER Verdict
    return (Phrase)(SAY_RECOMMEND + (int)verdict);
}

Phrase fact_state_phrase(FactState state) { // ORDER FactState
    return (Phrase)(SAY_PROVEN + (int)state);
}

Phrase priority_phrase(Priority priority) { // ORDER Priority
    return (Phrase)(SAY_HIGH + (int)priority);
}

Str number_str(Arena *arena, uint32_t number) {
    return arena_printf(arena, "%u", (unsigned)number);
}
