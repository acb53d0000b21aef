// arena.c - bump allocation in chunks. This file and buf.c are the only ones
// that call malloc and free. Under NPUFUSE_DEBUG_ARENA every allocation is a
// chunk of its own, so that the address sanitizer sees each end.
#define _DEFAULT_SOURCE 1 // madvise
#include "base/base.h"

#include "base/arena.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    CHUNK_BYTES = 64 * 1024,
    PAGE_BYTES = 4096, POPULATE_BYTES = 512 * 1024, HUGE_BYTES = 4 * 1024 * 1024,
    EXIT_OUT_OF_MEMORY = 4,
};

struct ArenaChunk {
    ArenaChunk *older;
    char *end;
    char data[];
};

NORETURN static void die_out_of_memory(size_t bytes) {
    fprintf(stderr, "npufuse: out of memory (%zu bytes)\n", bytes);
    exit(EXIT_OUT_OF_MEMORY);
}

static void add_chunk(Arena *arena, size_t bytes) {
    ArenaChunk *chunk = malloc(sizeof(ArenaChunk) + bytes);
    if (!chunk) die_out_of_memory(bytes);
    chunk->older = arena->chunk;
    chunk->end = chunk->data + bytes;
    arena->chunk = chunk;
    arena->next = chunk->data;
    arena->end = chunk->end;
    arena->total_bytes += bytes;
}

static void drop_chunk(Arena *arena) {
    ArenaChunk *chunk = arena->chunk;
    arena->chunk = chunk->older;
    arena->total_bytes -= (size_t)(chunk->end - chunk->data);
    free(chunk);
}

void arena_init(Arena *arena) {
    *arena = (Arena){0};
}

void arena_free(Arena *arena) {
    while (arena->chunk) drop_chunk(arena);
    arena_init(arena);
}

void arena_give_back(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void arena_clear(Arena *arena) {
    if (!arena->chunk) return;
    while (arena->chunk->older) {
        ArenaChunk *newest = arena->chunk;
        ArenaChunk *second = newest->older;
        if (newest->end - newest->data > second->end - second->data) {
            newest->older = second->older;
            second->older = newest;
            arena->chunk = second;
        }
        drop_chunk(arena);
    }
    arena->next = arena->chunk->data;
    arena->end = arena->chunk->end;
}

ArenaMark arena_mark(const Arena *arena) {
    return (ArenaMark){arena->chunk, arena->next};
}

void arena_reset(Arena *arena, ArenaMark mark) {
    while (arena->chunk != mark.chunk) drop_chunk(arena);
    arena->next = mark.next;
    arena->end = arena->chunk ? arena->chunk->end : NULL;
}

void arena_adopt(Arena *into, Arena *from) {
    if (!from->chunk) return;
    ArenaChunk *oldest = from->chunk;
    while (oldest->older) oldest = oldest->older;
    into->total_bytes += from->total_bytes;
    if (into->chunk) { // behind the chunk that is being filled
        oldest->older = into->chunk->older;
        into->chunk->older = from->chunk;
    } else {
        into->chunk = from->chunk;
        into->next = from->next;
        into->end = from->end;
    }
    arena_init(from);
}

static void *take(Arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 2) die_out_of_memory(bytes);
    bytes = (bytes + 7) & ~(size_t)7;
#ifdef NPUFUSE_DEBUG_ARENA
    add_chunk(arena, bytes ? bytes : 8);
#else
    if ((size_t)(arena->end - arena->next) < bytes) {
        add_chunk(arena, bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
    }
#endif
    void *at = arena->next;
    arena->next += bytes;
    return at;
}

void *arena_alloc(Arena *arena, size_t bytes) {
    return memset(take(arena, bytes), 0, bytes);
}

// Whole pages in an array.
typedef struct Pages {
    uintptr_t begin, end;
} Pages;

static Pages pages_in(const char *at, size_t bytes) {
    uintptr_t mask = ~(uintptr_t)(PAGE_BYTES - 1);
    return (Pages){((uintptr_t)at + PAGE_BYTES - 1) & mask, ((uintptr_t)at + bytes) & mask};
}

// Both are advice: an older system faults as ever.
void arena_touch(void *at, size_t bytes) {
    if (bytes < POPULATE_BYTES) return;
    Pages pages = pages_in(at, bytes);
#ifdef MADV_POPULATE_WRITE
    (void)madvise((char *)pages.begin, pages.end - pages.begin, MADV_POPULATE_WRITE);
#else
    (void)pages;
#endif
}

void *arena_raw_untouched(Arena *arena, size_t bytes) {
    char *at = take(arena, bytes);
    Pages pages = pages_in(at, bytes);
#ifdef MADV_HUGEPAGE // had in fewer steps
    if (bytes >= HUGE_BYTES) {
        (void)madvise((char *)pages.begin, pages.end - pages.begin, MADV_HUGEPAGE);
    }
#else
    (void)pages;
#endif
    return at;
}

void *arena_raw(Arena *arena, size_t bytes) {
    char *at = arena_raw_untouched(arena, bytes);
    arena_touch(at, bytes);
    return at;
}

void *arena_grow(Arena *arena, void *old, size_t old_bytes, size_t bytes) {
    char *at = arena_raw(arena, bytes);
    if (old_bytes) memcpy(at, old, old_bytes);
    if (bytes > old_bytes) memset(at + old_bytes, 0, bytes - old_bytes);
    return at;
}

Str arena_str(Arena *arena, Str s) {
    return (Str){arena_cstr(arena, s), s.len};
}

char *arena_cstr(Arena *arena, Str s) {
    char *at = arena_alloc(arena, s.len + 1);
    if (s.len) memcpy(at, s.at, s.len);
    return at;
}

Str arena_dotted(Arena *arena, Str a, Str b) {
    if (a.len == 0) return arena_str(arena, b);
    char *at = arena_alloc(arena, a.len + b.len + 2);
    memcpy(at, a.at, a.len);
    at[a.len] = '.';
    if (b.len) memcpy(at + a.len + 1, b.at, b.len);
    return (Str){at, a.len + b.len + 1};
}

Str arena_printf(Arena *arena, const char *fmt, ...) {
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (len < 0) BUG("bad format '%s'", fmt);
    char *at = arena_alloc(arena, (size_t)len + 1);
    vsnprintf(at, (size_t)len + 1, fmt, again);
    va_end(again);
    return (Str){at, (size_t)len};
}
