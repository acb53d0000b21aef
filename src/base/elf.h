// elf.h - the read-only data of a 64-bit little-endian ELF file.
#ifndef NPUFUSE_ELF_H
#define NPUFUSE_ELF_H

#include "base/arena.h"
#include "base/err.h"

typedef struct ElfVisit {
    // Called with each run of read-only data, which lives until it returns.
    // False stops.
    bool (*part)(void *data, Arena *arena, Str bytes);
    void *data;
    Arena *arena;      // handed through
    uint64_t max_data; // more read-only data than this is refused
} ElfVisit;

// Sections that are loaded, not written to and not code; segments of that kind
// where the section headers were stripped. Fails on what is no such file.
MUST_CHECK bool elf_visit(const ElfVisit *visit, Str bytes, Err *err);
MUST_CHECK bool elf_visit_file(const ElfVisit *visit, const char *path, Err *err);

#endif
