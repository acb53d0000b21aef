// options.h - the command-line options that the files of a scan declare.
//
// What is read is parser.add_argument("--use-fused-rmsnorm", action="store_true") and
// its like, in any file of the scan. No parser is ever run.
#ifndef NPUFUSE_OPTIONS_H
#define NPUFUSE_OPTIONS_H

#include "py/project.h"

// One option. All texts live as long as the project.
typedef struct Option {
    const Sym *dest; // the attribute that holds it: dest=, or the name without "--"
    bool boolean;    // store_true, store_false, BooleanOptionalAction, or such a default
    uint32_t file;   // index in project->files
    uint32_t line;
    Str shown;       // of the file
    Str text;        // the call's first line, trimmed
} Option;

typedef struct OptionList {
    const Option *at; // in the order of the files, then of the source
    uint32_t len;
} OptionList;

// The options of files that declare at least one boolean option whose name holds "fuse",
// "fusion" or "npu": all of those files' options. Read once for a project.
OptionList project_options(Project *project);

#endif
