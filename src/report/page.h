// page.h - what the parts of the Markdown report write with: the buffer, the
// language, and the few shapes that occur everywhere.
#ifndef NPUFUSE_PAGE_H
#define NPUFUSE_PAGE_H

#include "model/finding.h"
#include "report/md.h"
#include "report/phrases.h"

typedef struct Page {
    Buf *out;
    Lang lang;
    Str folder;     // the work folder, for commands; empty: the usual one
    Arena *scratch; // for translated sentences; lives as long as the page
} Page;

void page_add(const Page *page, const char *markdown);
void page_phrase(const Page *page, Phrase which);
// `**phrase**: `, the start of a labelled line.
void page_label(const Page *page, Phrase which);
// `**phrase**:` and the end of the line.
void page_label_line(const Page *page, Phrase which);
// A line with the phrase as a heading of `level`, and blank lines around it.
void page_heading(const Page *page, int level, Phrase which);
// A table head from phrases; a negative entry is a column without a title.
void page_table(const Page *page, const int *columns, size_t count);
// An engine's sentence, translated where that is possible, escaped.
void page_sentence(const Page *page, MdPlace place, Str english);
// `file:12-15` or `file:12` as code.
void page_place(const Page *page, MdPlace place, Str file, uint32_t start_line,
                uint32_t end_line);
const char *verdict_mark(Verdict verdict); // the emoji
Phrase verdict_phrase(Verdict verdict);
Phrase fact_state_phrase(FactState state);
Phrase priority_phrase(Priority priority);
// The number in decimal digits, in `arena`.
Str number_str(Arena *arena, uint32_t number);

#endif
