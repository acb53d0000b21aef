// elf.c - headers of ELF files, as System V's gABI lays them out. All numbers
// in a file are read byte by byte: nothing is assumed of its alignment.
#include "base/base.h"

#include "base/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEADER_BYTES = 64, SECTION_BYTES = 64, SEGMENT_BYTES = 56, NAMES_MAX = 1 << 20,
    CLASS_64 = 2, LITTLE_ENDIAN_DATA = 1,
    SECTION_PROGBITS = 1, FLAG_WRITE = 1, FLAG_ALLOC = 2, FLAG_EXEC = 4,
    FLAG_COMPRESSED = 0x800, SEGMENT_LOAD = 1, SEGMENT_EXEC = 1, SEGMENT_WRITE = 2,
};

// Where the bytes come from: memory, or a file that is read piece by piece.
typedef struct Input {
    Str bytes;
    int fd; // -1: `bytes`
    uint64_t size;
    const char *name;
    char *buffer; // of the last piece of the file
} Input;

static uint64_t number(const char *at, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | (unsigned char)at[i];
    return value;
}

// `len` bytes at `offset`, until the next call; empty and an error if the file
// has not that many.
static bool piece(Str *out, Input *in, uint64_t offset, uint64_t len, Err *err) {
    if (offset > in->size || len > in->size - offset) {
        return err_set(err, "'%s' is cut: %llu bytes at %llu are missing", in->name,
                       (unsigned long long)len, (unsigned long long)offset);
    }
    if (in->fd < 0) {
        *out = (Str){in->bytes.at + offset, len};
        return true;
    }
    free(in->buffer);
    in->buffer = malloc(len + 1);
    if (!in->buffer) return err_set(err, "no memory for %llu bytes of '%s'",
                                    (unsigned long long)len, in->name);
    for (uint64_t got = 0; got < len;) {
        ssize_t n = pread(in->fd, in->buffer + got, len - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            return err_set(err, "cannot read '%s': %s", in->name,
                           n ? strerror(errno) : "it got shorter");
        }
        got += (uint64_t)n;
    }
    *out = (Str){in->buffer, len};
    return true;
}

typedef struct Headers {
    uint64_t segments, sections; // offsets
    uint32_t segment_count, section_count, names; // names: index of a section
} Headers;

static bool read_header(Headers *out, Input *in, Err *err) {
    Str head;
    if (in->size < HEADER_BYTES) return err_set(err, "'%s' is no ELF file: too short", in->name);
    if (!piece(&head, in, 0, HEADER_BYTES, err)) return false;
    if (memcmp(head.at, "\x7f" "ELF", 4) != 0) {
        return err_set(err, "'%s' is no ELF file (no shared library)", in->name);
    }
    if (head.at[4] != CLASS_64 || head.at[5] != LITTLE_ENDIAN_DATA) {
        return err_set(err, "'%s' is no 64-bit little-endian ELF file", in->name);
    }
    *out = (Headers){number(head.at + 32, 8), number(head.at + 40, 8),
                     (uint32_t)number(head.at + 56, 2), (uint32_t)number(head.at + 60, 2),
                     (uint32_t)number(head.at + 62, 2)};
    if (out->segment_count && number(head.at + 54, 2) != SEGMENT_BYTES) {
        return err_set(err, "'%s': its program headers have an odd size", in->name);
    }
    if (out->section_count && number(head.at + 58, 2) != SECTION_BYTES) {
        return err_set(err, "'%s': its section headers have an odd size", in->name);
    }
    return true;
}

typedef struct Span {
    uint64_t offset, len;
} Span;

typedef VEC(Span) Spans;

// Unwind tables are read-only data, too, but hold no text.
static bool is_rodata(Str names, uint64_t at) {
    if (at >= names.len) return false;
    return str_starts((Str){names.at + at, names.len - at}, ".rodata");
}

// The sections that are wanted; `named`: those called .rodata alone.
static void add_sections(Spans *out, Arena *arena, Str table, const Str *named) {
    for (size_t i = 0; i + SECTION_BYTES <= table.len; i += SECTION_BYTES) {
        const char *at = table.at + i;
        uint64_t flags = number(at + 8, 8);
        bool wanted = number(at + 4, 4) == SECTION_PROGBITS && (flags & FLAG_ALLOC) &&
                      !(flags & (FLAG_WRITE | FLAG_EXEC | FLAG_COMPRESSED));
        if (!wanted || (named && !is_rodata(*named, number(at, 4)))) continue;
        vec_push(arena, out, ((Span){number(at + 24, 8), number(at + 32, 8)}));
    }
}

// The names of the sections; empty where they are not to be had.
static Str section_names(Input *in, Arena *arena, Str table, uint32_t index) {
    Str names;
    Err ignored;
    if (((uint64_t)index + 1) * SECTION_BYTES > table.len) return STR("");
    const char *at = table.at + (size_t)index * SECTION_BYTES;
    uint64_t offset = number(at + 24, 8), len = number(at + 32, 8);
    if (len > NAMES_MAX || !piece(&names, in, offset, len, &ignored)) return STR("");
    return arena_str(arena, names);
}

static bool list_sections(Spans *out, const ElfVisit *visit, Input *in, const Headers *h,
                          Err *err) {
    Str table;
    uint64_t bytes = (uint64_t)h->section_count * SECTION_BYTES;
    if (!piece(&table, in, h->sections, bytes, err)) return false;
    table = arena_str(visit->arena, table); // the next piece takes its place
    Str names = section_names(in, visit->arena, table, h->names);
    add_sections(out, visit->arena, table, &names);
    if (!out->len) add_sections(out, visit->arena, table, NULL);
    return true;
}

static void add_segments(Spans *out, Arena *arena, Str table, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const char *at = table.at + (size_t)i * SEGMENT_BYTES;
        if (number(at, 4) != SEGMENT_LOAD) continue;
        if (number(at + 4, 4) & (SEGMENT_EXEC | SEGMENT_WRITE)) continue;
        vec_push(arena, out, ((Span){number(at + 8, 8), number(at + 32, 8)}));
    }
}

static bool list_spans(Spans *out, const ElfVisit *visit, Input *in, Err *err) {
    Headers h = {0};
    Str table;
    if (!read_header(&h, in, err)) return false;
    if (h.section_count) {
        if (!list_sections(out, visit, in, &h, err)) return false;
    } else if (h.segment_count) {
        uint64_t bytes = (uint64_t)h.segment_count * SEGMENT_BYTES;
        if (!piece(&table, in, h.segments, bytes, err)) return false;
        add_segments(out, visit->arena, table, h.segment_count);
    }
    uint64_t total = 0;
    for (uint32_t i = 0; i < out->len; i++) {
        if (out->at[i].len > visit->max_data || total > visit->max_data - out->at[i].len) {
            return err_set(err, "'%s' has more than %llu MB of read-only data", in->name,
                           (unsigned long long)(visit->max_data >> 20));
        }
        total += out->at[i].len;
    }
    return true;
}

static bool visit_input(const ElfVisit *visit, Input *in, Err *err) {
    Spans spans = {0};
    bool ok = list_spans(&spans, visit, in, err);
    for (uint32_t i = 0; ok && i < spans.len; i++) {
        Str part;
        ok = piece(&part, in, spans.at[i].offset, spans.at[i].len, err);
        if (ok && !visit->part(visit->data, visit->arena, part)) break;
    }
    free(in->buffer);
    in->buffer = NULL;
    return ok;
}

bool elf_visit(const ElfVisit *visit, Str bytes, Err *err) {
    Input in = {.bytes = bytes, .fd = -1, .size = bytes.len, .name = "the library"};
    return visit_input(visit, &in, err);
}

bool elf_visit_file(const ElfVisit *visit, const char *path, Err *err) {
    struct stat status;
    Input in = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), .name = path};
    if (in.fd < 0) return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    bool ok = fstat(in.fd, &status) == 0;
    if (!ok) {
        err_set(err, "cannot read '%s': %s", path, strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
        ok = err_set(err, "'%s' is no regular file", path);
    } else {
        in.size = (uint64_t)status.st_size;
        ok = visit_input(visit, &in, err);
    }
    close(in.fd);
    return ok;
}
