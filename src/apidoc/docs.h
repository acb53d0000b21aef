// docs.h - the texts that torch_npu carries about its operators.
//
// Two sources have one form here: `_op_plugin_docs.py` of a torch_npu, whose
// module calls f("npu_x", """text""") for each operator, and a folder of
// op-plugin's Markdown pages, one operator a page. Nothing is run: the file is
// read by the Python parser, the pages as text.
#ifndef NPUFUSE_DOCS_H
#define NPUFUSE_DOCS_H

#include "base/arena.h"
#include "base/err.h"

enum {
    DOCS_MAX_BYTES = 64 * 1024 * 1024, // a larger file is refused
    DOCS_MAX_PAGES = 20000,            // of a folder; more is no documentation
};

typedef struct DocEntry {
    Str name;     // "npu_rms_norm", "npu_fused_infer_attention_score.out"
    Str body;     // as in the source, escapes kept; lines end in '\n' alone
    Str path;     // the file, as shown
    uint32_t line;                 // 1-based, of the call or the page's title
    uint32_t body_line, end_line;  // of the body's first and last line
    bool superseded; // a later text of the same name is the one in force
    bool markdown;
} DocEntry;

typedef struct Docs {
    VEC(DocEntry) at; // in the order of the source
    Str note; // what was left out and why; empty: nothing
} Docs;

// The entries of the text of a `_op_plugin_docs.py` called `path`. `text` is
// NUL terminated behind its last byte. A text that ends in the middle gives
// what is whole, and a note. Fails where there is no entry at all.
MUST_CHECK bool docs_parse(Docs *out, Arena *arena, const char *path, Str text,
                           Err *err);
// The pages below `folder` whose title names something of torch_npu, whatever
// their files are called. Fails where there is none.
MUST_CHECK bool docs_read_pages(Docs *out, Arena *arena, const char *folder,
                                Err *err);
// A copy of `text` with every line ended by '\n' alone.
Str docs_plain_lines(Arena *arena, Str text);
// The last text of a name is in force: the one that Python would leave in
// __doc__. Marks the others; the readers above have done so.
void docs_mark_superseded(Docs *docs);
// The entry in force, or NULL.
const DocEntry *docs_find(const Docs *docs, Str name);

#endif
