// arena.h - memory that is released all at once.
//
// Three lifetimes exist: *run*, *file* and *scratch*. A pointer's header
// comment says in which arena it lives. Out of memory ends the program with
// one line and exit code 4, so no caller checks for NULL.
#ifndef NPUFUSE_ARENA_H
#define NPUFUSE_ARENA_H

#include "base/base.h"

typedef struct ArenaChunk ArenaChunk;

typedef struct Arena {
    ArenaChunk *chunk; // newest first
    char *next;        // free space in the newest chunk
    char *end;
    size_t total_bytes; // held from the system
} Arena;

typedef struct ArenaMark {
    ArenaChunk *chunk;
    char *next;
} ArenaMark;

void arena_init(Arena *arena);
// Gives every byte back; the arena may be used again.
void arena_free(Arena *arena);
// Forgets all allocations but keeps the largest chunk for reuse.
void arena_clear(Arena *arena);
// `into` takes over all that `from` holds; `from` is empty then.
void arena_adopt(Arena *into, Arena *from);
// Everything allocated after the mark is dropped by arena_reset.
ArenaMark arena_mark(const Arena *arena);
void arena_reset(Arena *arena, ArenaMark mark);

// `bytes` zeroed bytes, aligned to 8.
void *arena_alloc(Arena *arena, size_t bytes);
// The same, not zeroed: for what is filled at once.
void *arena_raw(Arena *arena, size_t bytes);
// The same for what several threads fill: each of them may ask for its part with
// arena_touch before it does, which is faster than a fault for each page.
void *arena_raw_untouched(Arena *arena, size_t bytes);
void arena_touch(void *at, size_t bytes);
// Grows `old` of `old_bytes` to `bytes` (copies unless it is the last one);
// the new tail is zeroed.
void *arena_grow(Arena *arena, void *old, size_t old_bytes, size_t bytes);
Str arena_str(Arena *arena, Str s);
// NUL terminated copy.
char *arena_cstr(Arena *arena, Str s);
// `a.b`, NUL terminated; `b` alone where `a` is empty.
Str arena_dotted(Arena *arena, Str a, Str b);
Str arena_printf(Arena *arena, const char *fmt, ...) PRINTF_LIKE(2, 3);

// Gives what was freed back to the system, so that it does not count beside what comes.
void arena_give_back(void);

#define NEW(arena, Type) ((Type *)arena_alloc((arena), sizeof(Type)))
#define NEW_N(arena, Type, n) ((Type *)arena_alloc((arena), sizeof(Type) * (n)))

// A growing array inside an arena: VEC(Node *) nodes; vec_push(arena, &nodes, x).
#define VEC(Type)                                                              \
    struct {                                                                   \
        Type *at;                                                              \
        uint32_t len, cap;                                                     \
    }
#define vec_push(arena, v, item)                                               \
    do {                                                                       \
        if ((v)->len == (v)->cap) {                                            \
            uint32_t cap_ = (v)->cap ? (v)->cap * 2 : 4;                       \
            (v)->at = arena_grow((arena), (v)->at,                             \
                                 (v)->cap * sizeof(*(v)->at),                  \
                                 cap_ * sizeof(*(v)->at));                     \
            (v)->cap = cap_;                                                   \
        }                                                                      \
        (v)->at[(v)->len++] = (item);                                          \
    } while (0)

#endif
