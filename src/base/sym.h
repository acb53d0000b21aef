// sym.h - interned names: equal text, equal pointer.
#ifndef NPUFUSE_SYM_H
#define NPUFUSE_SYM_H

#include "base/arena.h"

// A name. Lives as long as its table; compare by pointer.
typedef struct Sym {
    uint32_t hash;
    uint32_t len;
    uint32_t tag; // free for the lexer: its keyword code, 0 for plain names
    uint32_t marks; // what to look for: gathered by the parser (sym_mark)
    char text[];  // NUL terminated
} Sym;

typedef struct SymTable {
    Arena arena;
    const Sym **slots; // open addressing, power of two
    uint32_t cap, len;
    const Sym **recent; // SYM_RECENT names seen lately; for the lexer's use
} SymTable;

enum { SYM_RECENT_BITS = 13, SYM_RECENT = 1 << SYM_RECENT_BITS };

void sym_table_init(SymTable *table);
void sym_table_free(SymTable *table);
// The one Sym of this text, made on first use.
const Sym *sym_intern(SymTable *table, Str text);
// As sym_intern, and sets its tag.
const Sym *sym_intern_tag(SymTable *table, Str text, uint32_t tag);
// Adds to its marks. Names are marked before anything is parsed.
void sym_mark(SymTable *table, Str text, uint32_t marks);
// The Sym of this text, or NULL where it was never interned.
const Sym *sym_find(const SymTable *table, Str text);
Str sym_str(const Sym *sym);

#endif
