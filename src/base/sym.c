// sym.c - the interner: one open-addressing table, texts in its own arena.
#include "base/base.h"

#include "base/sym.h"

enum { FIRST_CAP = 1024 };

// Eight bytes at a time: names are hashed at every cache miss of the lexer.
static uint32_t hash_text(Str s) {
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = s.len * k, word;
    const char *at = s.at;
    size_t left = s.len;
    for (; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        h = (h ^ word) * k;
        h ^= h >> 29;
    }
    word = 0;
    if (left) memcpy(&word, at, left);
    h = (h ^ word) * k;
    return (uint32_t)(h >> 32);
}

void sym_table_init(SymTable *table) {
    *table = (SymTable){0};
    arena_init(&table->arena);
    table->cap = FIRST_CAP;
    table->slots = NEW_N(&table->arena, const Sym *, table->cap);
    table->recent = NEW_N(&table->arena, const Sym *, SYM_RECENT);
}

void sym_table_free(SymTable *table) {
    arena_free(&table->arena);
    *table = (SymTable){0};
}

// The slot that holds `text`, or the empty one where it belongs.
static uint32_t find_slot(const SymTable *table, Str text, uint32_t hash) {
    uint32_t i = hash & (table->cap - 1);
    for (;; i = (i + 1) & (table->cap - 1)) {
        const Sym *sym = table->slots[i];
        if (!sym) return i;
        if (sym->hash == hash && sym->len == text.len &&
            memcmp(sym->text, text.at, text.len) == 0) {
            return i;
        }
    }
}

static void grow(SymTable *table) {
    const Sym **old = table->slots;
    uint32_t old_cap = table->cap;
    table->cap *= 2;
    table->slots = NEW_N(&table->arena, const Sym *, table->cap);
    for (uint32_t i = 0; i < old_cap; i++) {
        if (!old[i]) continue;
        table->slots[find_slot(table, sym_str(old[i]), old[i]->hash)] = old[i];
    }
}

static Sym *intern(SymTable *table, Str text) {
    uint32_t hash = hash_text(text);
    uint32_t i = find_slot(table, text, hash);
    if (table->slots[i]) return (Sym *)(uintptr_t)table->slots[i];
    if (table->len * 2 >= table->cap) {
        grow(table);
        i = find_slot(table, text, hash);
    }
    Sym *sym = arena_alloc(&table->arena, sizeof(Sym) + text.len + 1);
    sym->hash = hash;
    sym->len = (uint32_t)text.len;
    if (text.len) memcpy(sym->text, text.at, text.len);
    table->slots[i] = sym;
    table->len++;
    return sym;
}

const Sym *sym_intern(SymTable *table, Str text) {
    return intern(table, text);
}

const Sym *sym_intern_tag(SymTable *table, Str text, uint32_t tag) {
    Sym *sym = intern(table, text);
    sym->tag = tag;
    return sym;
}

void sym_mark(SymTable *table, Str text, uint32_t marks) {
    intern(table, text)->marks |= marks;
}

const Sym *sym_find(const SymTable *table, Str text) {
    return table->slots[find_slot(table, text, hash_text(text))];
}

Str sym_str(const Sym *sym) {
    return (Str){sym->text, sym->len};
}
