// output_folder.h - the folder for work files: fusion_verify, or what -o says.
#ifndef NPUFUSE_OUTPUT_FOLDER_H
#define NPUFUSE_OUTPUT_FOLDER_H

#include "base/arena.h"
#include "base/err.h"

#define OUTPUT_FOLDER "fusion_verify"

// Whether the folder may be used: it has a name and is not inside an installed
// package. Makes nothing.
MUST_CHECK bool output_folder_check(Arena *arena, const char *folder, Err *err);
// Makes the folder if it is missing. A new or empty one, and one called
// fusion_verify, gets a .gitignore that hides it from git.
MUST_CHECK bool output_folder_open(Arena *arena, const char *folder, Err *err);
// Writes `folder`/`name` at once or not at all; a file that has that text stays as it is.
MUST_CHECK bool output_folder_write(Arena *arena, const char *folder,
                                    const char *name, Str data, Err *err);

#endif
