// file.h - reading and writing files and walking folders.
#ifndef NPUFUSE_FILE_H
#define NPUFUSE_FILE_H

#include "base/arena.h"
#include "base/err.h"

enum { FILE_MAX_BYTES = 64 * 1024 * 1024 }; // a larger source file is refused

typedef enum FileKind { FILE_NONE, FILE_REGULAR, FILE_FOLDER, FILE_OTHER } FileKind;

// What `path` names, symbolic links followed; FILE_NONE if nothing.
FileKind file_kind(const char *path);
// The whole file, NUL terminated behind its last byte, in `arena`.
// Fails on anything but a regular file and above `max_bytes`.
MUST_CHECK bool file_read(Str *out, Arena *arena, const char *path,
                          size_t max_bytes, Err *err);
// Everything from standard input, as file_read.
MUST_CHECK bool file_read_stdin(Str *out, Arena *arena, size_t max_bytes,
                                Err *err);
// Writes through a temporary file beside `path`, fsync and rename: at no
// moment does `path` hold half of `data`. The mode of a file that is there is
// kept.
MUST_CHECK bool file_write(const char *path, Str data, Err *err);
// Adds `data` to the end in one write, and fsync. A line that an interrupted
// append left unfinished is ended first, so that lines stay lines.
MUST_CHECK bool file_append(const char *path, Str data, Err *err);
// A new file with the bytes and the mode of a regular file.
MUST_CHECK bool file_copy(const char *from, const char *to, Err *err);
// A symbolic link at `path` to `target`.
MUST_CHECK bool file_link(const char *target, const char *path, Err *err);
// Removes a file, link or folder with all below it; links are removed, never
// followed. Fine if there is nothing.
MUST_CHECK bool file_remove(const char *path, Err *err);
// Makes the folder and its parents; fine if they exist.
MUST_CHECK bool file_make_folder(const char *path, Err *err);
// `folder`/`name`, in `arena`, NUL terminated.
char *path_join(Arena *arena, Str folder, Str name);
// The part before the last '/', "." where there is none.
Str path_folder(Str path);
Str path_base(Str path);
// Absolute and free of links, '.' and '..'; NULL if it does not exist.
char *path_real(Arena *arena, const char *path);

typedef struct FolderEntry {
    const char *name; // NUL terminated
    FileKind kind;
    uint64_t device, inode; // of what a link points at
    bool is_link;
} FolderEntry;

typedef struct FolderList {
    FolderEntry *at;
    size_t len;
} FolderList;

// The entries of a folder without '.' and '..', sorted by name bytes.
MUST_CHECK bool folder_read(FolderList *out, Arena *arena, const char *path,
                            Err *err);

#endif
