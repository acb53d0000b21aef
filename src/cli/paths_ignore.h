// paths_ignore.h - .gitignore files, in the part of their language that
// decides about files of a project.
//
// Understood: comments, `!` (the last pattern that fits decides), a trailing
// `/` for folders only, anchoring by a `/` at the start or inside, `*`, `?`,
// `[a-z]`, `[!a]`, `**`, `\` before a character, trailing blanks. A file below
// an ignored folder cannot come back, as in git. Not read: .git/info/exclude
// and the user's global excludes.
#ifndef NPUFUSE_PATHS_IGNORE_H
#define NPUFUSE_PATHS_IGNORE_H

#include "base/arena.h"

typedef struct IgnorePattern {
    Str glob; // without `!`, leading and trailing `/`
    bool negated, only_folders;
    bool anchored; // compared with the path below the folder, else the name
} IgnorePattern;

// The patterns of one .gitignore file and of those in the folders around it.
typedef struct Ignore {
    const struct Ignore *outer; // NULL for the outermost
    Str folder;                 // absolute
    VEC(IgnorePattern) patterns;
} Ignore;

// Parses the text of `folder`/.gitignore; the result is in `arena` and
// borrows `text`.
const Ignore *ignore_new(Arena *arena, const Ignore *outer, Str folder,
                         Str text);
// The chain for a folder that is about to be walked: the files of the folders
// above it, up to the one that holds .git. NULL if there are none, or if they
// ignore the folder itself: whoever names it wants it.
const Ignore *ignore_above(Arena *arena, Str folder);
// Whether the chain ignores `path`, absolute, whose folder is not ignored.
bool ignore_hits(const Ignore *chain, Str path, bool is_folder);
// fnmatch with `**`; exposed for its tests.
bool ignore_glob(Str glob, Str path);

#endif
