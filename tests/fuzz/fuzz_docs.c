// fuzz_docs.c - any bytes as a `_op_plugin_docs.py`, and as the text of one
// operator. Parts lie in the text, their lines in the entry.
#include "base/base.h"

#include "apidoc/page.h"
#include "apidoc/search.h"
#include "fuzz.h"

static void check_sections(const DocPage *page, const DocEntry *entry) {
    for (uint32_t i = 0; i < page->sections.len; i++) {
        const DocSection *s = &page->sections.at[i];
        if (s->start_line > s->end_line) BUG("section %u ends before it starts", i);
        if (s->start_line < entry->body_line) BUG("section %u starts above its text", i);
        if (s->end_line > entry->end_line) BUG("section %u ends below its text", i);
    }
}

static void check_entry(Arena *arena, const DocEntry *entry) {
    DocPage page;
    if (!entry->name.len) BUG("a text of nothing");
    page_read(&page, arena, entry);
    check_sections(&page, entry);
    for (uint32_t i = 0; i < page.signatures.len; i++) {
        DocSignature signature;
        if (!page_signature(&signature, arena, page.signatures.at[i])) continue;
        for (uint32_t k = 0; k < signature.args.len; k++) {
            if (!signature.args.at[k].name.len) BUG("argument %u has no name", k);
        }
    }
    (void)search_summary(arena, entry);
}

static void read_body(Arena *arena, Str text) {
    DocEntry entry = {.name = STR("npu_x"), .body = text, .path = STR("x"), .line = 1,
                      .body_line = 1, .end_line = 1};
    for (size_t i = 0; i < text.len; i++) entry.end_line += text.at[i] == '\n';
    check_entry(arena, &entry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Arena arena;
    Docs docs;
    Err err = {{0}};
    arena_init(&arena);
    Str text = arena_str(&arena, (Str){(const char *)data, size});
    if (docs_parse(&docs, &arena, "x.py", text, &err)) {
        for (uint32_t i = 0; i < docs.at.len; i++) check_entry(&arena, &docs.at.at[i]);
    } else if (!err.text[0]) {
        BUG("refused without a word");
    }
    if (size < 65536) read_body(&arena, text);
    arena_free(&arena);
    return 0;
}
