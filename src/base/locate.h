// locate.h - where the data folders of this program are.
#ifndef NPUFUSE_LOCATE_H
#define NPUFUSE_LOCATE_H

#include "base/arena.h"
#include "base/err.h"

// The folder of the rules that came with the program, absolute, in `arena`,
// NUL terminated. The environment variable NPUFUSE_RULES wins if it is set.
MUST_CHECK bool locate_rules(Str *out, Arena *arena, Err *err);
// The data folder `name` ("rules", "ops", "assets"): of a wheel (site-packages
// beside the command), of an installed prefix (share/npufuse) or of the source
// tree around the build folder, whichever is found first.
MUST_CHECK bool locate_data(Str *out, Arena *arena, const char *name, Err *err);
// As locate_data, but for an executable in the folder `exe_folder`.
MUST_CHECK bool locate_data_from(Str *out, Arena *arena, Str exe_folder,
                                 const char *name, Err *err);

#endif
