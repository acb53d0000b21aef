// zip.h - members of a zip file (a wheel is one).
//
// A zip file is untrusted: what its directory says of a member is checked
// against the file and against the caller's limit before memory is taken, and
// what comes out against its length and CRC.
#ifndef NPUFUSE_ZIP_H
#define NPUFUSE_ZIP_H

#include "base/arena.h"
#include "base/err.h"

enum { ZIP_MAX_MEMBERS = 200000 };

typedef struct ZipMember {
    Str name; // as written; nothing is ever written to such a path
    uint64_t offset, packed_bytes, bytes; // of the local header; packed; unpacked
    uint64_t end; // where the next member, or the directory, begins
    uint32_t crc;
    uint16_t method; // 0 stored, 8 deflated
    bool encrypted;
} ZipMember;

typedef struct Zip {
    const char *path;
    int fd;
    uint64_t size;
    VEC(ZipMember) members; // in the directory's order
} Zip;

// Opens `path` and reads its directory. Fails on what is no whole zip file, or
// where two members share bytes (as in archives made to unpack to far more than
// they are). Close it even so. Nothing may stand behind the directory but its
// own note: else two readers could see two directories.
MUST_CHECK bool zip_open(Zip *out, Arena *arena, const char *path, Err *err);
void zip_close(Zip *zip);
// The last member of the name, as unpacking leaves it, or NULL.
const ZipMember *zip_find(const Zip *zip, const char *name);
// The member's bytes, NUL terminated behind the last, to be freed with
// zip_free. Fails where it has more than `max_bytes`, or where the header in
// front of it and the directory tell of two different members.
MUST_CHECK bool zip_read(Str *out, const Zip *zip, const ZipMember *member,
                         uint64_t max_bytes, Err *err);
void zip_free(Str *bytes);

#endif
