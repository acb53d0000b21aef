// journal.h - which candidates are applied to which files, so that any of them
// can be taken back byte for byte, after a crash too.
//
// The work folder holds journal.json and, under pristine/, each changed file
// as it was scanned. What is going to be written is noted as pending before
// the file is renamed into place; whichever of the two texts the file has
// after a crash says what happened.
#ifndef NPUFUSE_JOURNAL_H
#define NPUFUSE_JOURNAL_H

#include "base/err.h"
#include "model/finding.h"

typedef VEC(const Finding *) EditSet; // by id; only what an edit needs is filled

typedef struct JournalFile {
    Str file; // relative to the root
    Str pristine_sha256, current_sha256;
    Str pending_sha256; // empty: nothing is under way
    EditSet applied;    // what the current text has
    EditSet pending;    // what the pending text has
} JournalFile;

typedef struct Journal {
    const char *folder; // the work folder
    Arena *arena;       // everything lives here
    Str root;           // that the files are relative to; empty without files
    VEC(JournalFile) files; // by name
} Journal;

// Reads journal.json; a folder without one gives an empty journal.
MUST_CHECK bool journal_open(Journal *out, Arena *arena, const char *folder, Err *err);
// Settles every entry that a crash left pending, and writes that down. Call it
// under the folder's lock.
MUST_CHECK bool journal_recover(Journal *journal, Err *err);
// The file's entry, NULL if it has none.
JournalFile *journal_find(const Journal *journal, Str file);
// Settles what a crash left pending, by the file's bytes now; in memory only.
// Fails if they are neither of the two texts.
MUST_CHECK bool journal_settle(const Journal *journal, JournalFile *entry, Str bytes,
                               Err *err);
// The bytes of `file` as it was scanned: those of pristine/ where candidates
// are applied, else `bytes`, what it holds now. Fails for a file that somebody
// else changed since candidates were applied to it.
MUST_CHECK bool journal_pristine(Str *out, const Journal *journal, Str file, Str bytes,
                                 Err *err);

// What is to become of a file.
typedef struct FileChange {
    Str file;
    const char *path;   // to write, free of links
    Str pristine, text; // as scanned; as it shall be
    EditSet set;        // the candidates that `text` has
} FileChange;

// Writes the file and the journal, in an order that survives a crash.
MUST_CHECK bool journal_write_file(Journal *journal, const FileChange *change, Err *err);

#endif
