// zip.c - zip files as PKWARE's APPNOTE 6.3 describes them, as far as wheels
// go: stored or deflated members, zip64 sizes, no encryption, one disk.
#include "base/base.h"

#include "base/zip.h"

#include <libdeflate.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    END_BYTES = 22, END64_BYTES = 56, LOCATOR_BYTES = 20, COMMENT_MAX = 65535,
    ENTRY_BYTES = 46, LOCAL_BYTES = 30, DIRECTORY_MAX = 64 * 1024 * 1024,
    METHOD_STORED = 0, METHOD_DEFLATED = 8, FLAG_ENCRYPTED = 1, EXTRA_ZIP64 = 1,
};

static uint64_t number(const char *at, int bytes) {
    uint64_t value = 0;
    for (int i = bytes - 1; i >= 0; i--) value = value << 8 | (unsigned char)at[i];
    return value;
}

static bool fault(const Zip *zip, Err *err, const char *text) {
    return err_set(err, "'%s' is no whole zip file (or wheel): %s", zip->path, text);
}

// `len` bytes at `offset` into memory of the caller's.
static bool read_at(const Zip *zip, char *into, uint64_t offset, uint64_t len, Err *err) {
    if (offset > zip->size || len > zip->size - offset) return fault(zip, err, "it is cut");
    for (uint64_t got = 0; got < len;) {
        ssize_t n = pread(zip->fd, into + got, len - got, (off_t)(offset + got));
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            return err_set(err, "cannot read '%s': %s", zip->path,
                           n ? strerror(errno) : "it got shorter");
        }
        got += (uint64_t)n;
    }
    return true;
}

// ---- the directory ------------------------------------------------------------------

typedef struct Directory {
    uint64_t offset, bytes, count;
} Directory;

// Where the record at the file's end says that the directory is.
static bool read_end(Directory *out, const Zip *zip, Arena *arena, Err *err) {
    uint64_t tail = zip->size < END_BYTES + COMMENT_MAX ? zip->size : END_BYTES + COMMENT_MAX;
    if (zip->size < END_BYTES) return fault(zip, err, "it is too short");
    char *text = arena_alloc(arena, tail);
    if (!read_at(zip, text, zip->size - tail, tail, err)) return false;
    uint64_t at = tail - END_BYTES;
    while (memcmp(text + at, "PK\5\6", 4) != 0 ||
           number(text + at + 20, 2) != tail - END_BYTES - at) {
        if (at-- == 0) return fault(zip, err, "it has no directory at its end");
    }
    *out = (Directory){number(text + at + 16, 4), number(text + at + 12, 4),
                       number(text + at + 10, 2)};
    bool wide = out->offset == UINT32_MAX || out->bytes == UINT32_MAX || out->count == UINT16_MAX;
    uint64_t end = zip->size - tail + at;
    if (!wide || end < LOCATOR_BYTES) return true;
    char locator[LOCATOR_BYTES], record[END64_BYTES];
    if (!read_at(zip, locator, end - LOCATOR_BYTES, LOCATOR_BYTES, err)) return false;
    if (memcmp(locator, "PK\6\7", 4) != 0) return true;
    if (!read_at(zip, record, number(locator + 8, 8), END64_BYTES, err)) return false;
    if (memcmp(record, "PK\6\6", 4) != 0) return fault(zip, err, "its zip64 record is missing");
    *out = (Directory){number(record + 48, 8), number(record + 40, 8), number(record + 32, 8)};
    return true;
}

// Sizes that do not fit into 32 bits stand in an extra field, in this order.
static bool read_zip64(ZipMember *m, Str extra) {
    uint64_t *const fields[] = {&m->bytes, &m->packed_bytes, &m->offset};
    while (extra.len >= 4) {
        uint64_t id = number(extra.at, 2), len = number(extra.at + 2, 2);
        if (len > extra.len - 4) return false;
        Str body = {extra.at + 4, len};
        extra = (Str){body.at + len, extra.len - 4 - len};
        if (id != EXTRA_ZIP64) continue;
        for (size_t i = 0; i < COUNT(fields); i++) {
            if (*fields[i] != UINT32_MAX) continue;
            if (body.len < 8) return false;
            *fields[i] = number(body.at, 8);
            body = (Str){body.at + 8, body.len - 8};
        }
        return true;
    }
    return m->bytes != UINT32_MAX && m->packed_bytes != UINT32_MAX && m->offset != UINT32_MAX;
}

// Takes one entry off the front of *rest.
static bool read_entry(Zip *zip, Arena *arena, Str *rest, Err *err) {
    if (rest->len < ENTRY_BYTES || memcmp(rest->at, "PK\1\2", 4) != 0) {
        return fault(zip, err, "its directory is damaged");
    }
    const char *at = rest->at;
    uint64_t name = number(at + 28, 2), extra = number(at + 30, 2), note = number(at + 32, 2);
    uint64_t whole = ENTRY_BYTES + name + extra + note;
    if (whole > rest->len) return fault(zip, err, "its directory is cut");
    ZipMember m = {
        .name = {at + ENTRY_BYTES, name}, .method = (uint16_t)number(at + 10, 2),
        .crc = (uint32_t)number(at + 16, 4), .packed_bytes = number(at + 20, 4),
        .bytes = number(at + 24, 4), .offset = number(at + 42, 4),
        .encrypted = (number(at + 8, 2) & FLAG_ENCRYPTED) != 0,
    };
    if (!read_zip64(&m, (Str){at + ENTRY_BYTES + name, extra})) {
        return fault(zip, err, "a size in its directory is missing");
    }
    vec_push(arena, &zip->members, m);
    *rest = (Str){at + whole, rest->len - whole};
    return true;
}

static int by_offset(const void *a, const void *b) {
    const ZipMember *x = *(ZipMember *const *)a, *y = *(ZipMember *const *)b;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

// Sets where each member ends. Members that lie on each other are the trick of
// archives that unpack to petabytes.
static bool set_ends(Zip *zip, Arena *arena, uint64_t directory, Err *err) {
    uint32_t n = zip->members.len;
    ZipMember **sorted = NEW_N(arena, ZipMember *, n + 1);
    for (uint32_t i = 0; i < n; i++) sorted[i] = &zip->members.at[i];
    if (n) qsort(sorted, n, sizeof(*sorted), by_offset);
    for (uint32_t i = 0; i < n; i++) {
        ZipMember *m = sorted[i];
        uint64_t head = LOCAL_BYTES + m->name.len;
        m->end = i + 1 < n ? sorted[i + 1]->offset : directory;
        uint64_t room = m->end < m->offset ? 0 : m->end - m->offset;
        if (room < head || room - head < m->packed_bytes) {
            return fault(zip, err, "members lie on each other");
        }
    }
    return true;
}

static bool read_directory(Zip *zip, Arena *arena, Err *err) {
    Directory d = {0};
    if (!read_end(&d, zip, arena, err)) return false;
    if (d.count > ZIP_MAX_MEMBERS || d.bytes > DIRECTORY_MAX) {
        return fault(zip, err, "its directory is too large");
    }
    if (d.bytes > zip->size || d.count > d.bytes / ENTRY_BYTES) {
        return fault(zip, err, "its directory is cut");
    }
    char *text = arena_alloc(arena, d.bytes + 1);
    if (!read_at(zip, text, d.offset, d.bytes, err)) return false;
    Str rest = {text, d.bytes};
    for (uint64_t i = 0; i < d.count; i++) {
        if (!read_entry(zip, arena, &rest, err)) return false;
    }
    return set_ends(zip, arena, d.offset, err);
}

bool zip_open(Zip *out, Arena *arena, const char *path, Err *err) {
    struct stat status;
    *out = (Zip){.path = arena_cstr(arena, str_of(path))};
    out->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (out->fd < 0) return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    if (fstat(out->fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        return err_set(err, "'%s' is no regular file", path);
    }
    out->size = (uint64_t)status.st_size;
    return read_directory(out, arena, err);
}

void zip_close(Zip *zip) {
    if (zip->fd >= 0) close(zip->fd);
    zip->fd = -1;
}

const ZipMember *zip_find(const Zip *zip, const char *name) {
    for (uint32_t i = zip->members.len; i > 0; i--) {
        if (str_is(zip->members.at[i - 1].name, name)) return &zip->members.at[i - 1];
    }
    return NULL;
}

// ---- members --------------------------------------------------------------------------

static bool member_fault(const Zip *zip, const ZipMember *m, Err *err, const char *text) {
    return err_set(err, "'%.*s' in '%s' %s", STR_FMT(m->name), zip->path, text);
}

// Whether the header in front of the member has its name, too.
static bool has_name(const Zip *zip, const ZipMember *m, uint64_t len) {
    char part[256];
    Err ignored;
    if (len != m->name.len) return false;
    for (uint64_t at = 0; at < len; at += sizeof(part)) {
        uint64_t n = len - at < sizeof(part) ? len - at : sizeof(part);
        if (!read_at(zip, part, m->offset + LOCAL_BYTES + at, n, &ignored)) return false;
        if (memcmp(part, m->name.at + at, n) != 0) return false;
    }
    return true;
}

// Where the member's packed bytes begin: behind its local header. Sizes and CRC
// may be missing there (they stand behind the bytes then), so the directory's
// count.
static bool find_packed(uint64_t *out, const Zip *zip, const ZipMember *m, Err *err) {
    char head[LOCAL_BYTES];
    if (!read_at(zip, head, m->offset, LOCAL_BYTES, err)) return false;
    if (memcmp(head, "PK\3\4", 4) != 0) return fault(zip, err, "a member's header is missing");
    uint64_t name = number(head + 26, 2);
    if (number(head + 8, 2) != m->method || !has_name(zip, m, name)) {
        return member_fault(zip, m, err, "has a header of another member");
    }
    *out = m->offset + LOCAL_BYTES + name + number(head + 28, 2);
    if (*out > m->end || m->packed_bytes > m->end - *out) {
        return member_fault(zip, m, err, "lies on the next one");
    }
    return true;
}

// libdeflate writes at most the bytes that the directory promised.
static bool unpack(char *into, const char *packed, const Zip *zip, const ZipMember *m, Err *err) {
    if (m->method == METHOD_STORED) {
        if (m->bytes != m->packed_bytes) return member_fault(zip, m, err, "has two sizes");
        memcpy(into, packed, m->bytes);
        return true;
    }
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (!d) return member_fault(zip, m, err, "needs more memory than there is");
    enum libdeflate_result result =
        libdeflate_deflate_decompress(d, packed, m->packed_bytes, into, m->bytes, NULL);
    libdeflate_free_decompressor(d);
    if (result == LIBDEFLATE_SUCCESS) return true;
    return member_fault(zip, m, err, "is damaged, or not of the size that the directory says");
}

static bool check_member(const Zip *zip, const ZipMember *m, uint64_t max_bytes, Err *err) {
    if (m->encrypted) return member_fault(zip, m, err, "is encrypted");
    if (m->method != METHOD_STORED && m->method != METHOD_DEFLATED) {
        return member_fault(zip, m, err, "is packed in a way that is not known");
    }
    if (m->bytes > max_bytes || m->packed_bytes > max_bytes) {
        return err_set(err, "'%.*s' in '%s' has %llu MB; at most %llu MB are read",
                       STR_FMT(m->name), zip->path, (unsigned long long)(m->bytes >> 20),
                       (unsigned long long)(max_bytes >> 20));
    }
    // Deflate packs at most 1032 to 1.
    if (m->bytes / 1032 > m->packed_bytes) {
        return member_fault(zip, m, err, "cannot have the size that the directory says");
    }
    return true;
}

bool zip_read(Str *out, const Zip *zip, const ZipMember *member, uint64_t max_bytes,
              Err *err) {
    uint64_t start = 0;
    *out = (Str){0};
    if (!check_member(zip, member, max_bytes, err)) return false;
    if (!find_packed(&start, zip, member, err)) return false;
    char *packed = malloc(member->packed_bytes + 1), *bytes = malloc(member->bytes + 1);
    bool ok = packed && bytes;
    if (!ok) member_fault(zip, member, err, "needs more memory than there is");
    ok = ok && read_at(zip, packed, start, member->packed_bytes, err) &&
         unpack(bytes, packed, zip, member, err);
    if (ok && libdeflate_crc32(0, bytes, member->bytes) != member->crc) {
        ok = member_fault(zip, member, err, "is damaged: its CRC differs");
    }
    free(packed);
    if (!ok) {
        free(bytes);
        return false;
    }
    bytes[member->bytes] = '\0';
    *out = (Str){bytes, member->bytes};
    return true;
}

void zip_free(Str *bytes) {
    free((void *)(uintptr_t)bytes->at);
    *bytes = (Str){0};
}
