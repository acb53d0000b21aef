// paths.h - from the PATH... of a command to a list of Python files.
//
// A PATH is a folder, a file (of any name), a dotted module name, which is
// found without importing it, or `-` for standard input. In folders these are
// passed over: hidden names, virtual environments, site-packages,
// node_modules, __pycache__, *.egg-info, build and dist unless they are
// packages, fusion_verify, and what .gitignore names.
#ifndef NPUFUSE_PATHS_H
#define NPUFUSE_PATHS_H

#include "cli/options.h"
#include "model/finding.h"

typedef struct PathRequest {
    ArgList operands;       // none: the current folder
    const char *python;     // whose site-packages hold modules; may be NULL
    const char *stdin_name; // how to show standard input; may be NULL
    const char *output;     // a folder of ours, never walked; may be NULL
} PathRequest;

typedef struct PathFile {
    const char *path; // to open; NULL for standard input
    Str shown;        // relative to the root
} PathFile;

typedef struct PathList {
    Str root; // a folder, as given where one PATH was given
    VEC(PathFile) files;  // sorted by what is shown, none twice
    VEC(Skipped) skipped; // what could not be read, and why
} PathList;

// Fails for a PATH that does not exist, and if no Python file is left.
// Everything is in `run`.
MUST_CHECK bool paths_collect(PathList *out, Arena *run,
                              const PathRequest *request, Err *err);

#endif
