// page.h - one operator's text in parts: sections with their lines, and the
// signatures it writes down.
#ifndef NPUFUSE_PAGE_H
#define NPUFUSE_PAGE_H

#include "apidoc/docs.h"

typedef enum DocRole { // ORDER page_role_name
    ROLE_DESCRIPTION, ROLE_PROTOTYPE, ROLE_PARAMETERS, ROLE_OUTPUTS, ROLE_CONSTRAINTS,
    ROLE_FORMULA, ROLE_PRODUCTS, ROLE_VERSIONS, ROLE_EXAMPLES, ROLE_OTHER, ROLE_COUNT,
} DocRole;

typedef struct DocSection {
    DocRole role;
    Str title; // the heading as written, without marks; empty before the first one
    Str text;  // below the heading, without empty lines at its ends
    uint32_t start_line, end_line; // of heading and text, in the entry's file
} DocSection;

typedef struct DocPage {
    VEC(DocSection) sections; // in the order of the text
    VEC(Str) signatures;      // "torch_npu.npu_x(self, gamma) -> Tensor", on one line
    Str other; // "npu_y" where the text has that one's signature in place of its own
} DocPage;

// Headings are whole lines that say one of the known titles; a text without
// any is one section of what it is about.
void page_read(DocPage *out, Arena *arena, const DocEntry *entry);
// "description", "prototype", ...
const char *page_role_name(DocRole role);

typedef struct DocArg {
    Str name, fallback;
    bool has_fallback, keyword_only;
} DocArg;

typedef struct DocSignature {
    VEC(DocArg) args;
    uint32_t returns; // how many values; 0 where it does not say
} DocSignature;

// The arguments of one of `signatures`, typed ("Tensor x, int dim=-1") or not.
// False where it is not one that can be read.
MUST_CHECK bool page_signature(DocSignature *out, Arena *arena, Str signature);

#endif
