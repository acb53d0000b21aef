// scan_cache.h - the findings of an unchanged project, kept from the last scan.
//
// A scan rests on the bytes of the files it read, on where it looked for modules
// and found none, on the rules and on the program. All of that is compared before
// kept findings are used; the files' bytes are read for it, not their dates.
#ifndef NPUFUSE_SCAN_CACHE_H
#define NPUFUSE_SCAN_CACHE_H

#include "match/scan.h"

typedef struct ScanKey {
    Str text;           // everything that is asked, in one text
    const char *file;   // of the kept scan, without its ending; NULL: none is kept
} ScanKey;

// What is asked: the inputs in order, the rules' text, the options that count,
// the program itself.
void scan_key(ScanKey *out, Arena *run, ScanInputs inputs, const ScanOptions *options);
// The kept findings, if they are still those that a scan would give. Not the
// verdict of a confirmation: that is always derived anew. Two threads where `jobs` is not 1.
MUST_CHECK bool scan_cache_read(FindingSet *out, Arena *run, const ScanKey *key, uint32_t jobs);
// Keeps them. That they cannot be kept is no error.
void scan_cache_write(const FindingSet *set, Arena *run, const ScanKey *key,
                      const ScanTraces *traces);

#endif
