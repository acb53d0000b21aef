// launch.h - the command line behind "--", and numbers of options.
#ifndef NPUFUSE_LAUNCH_H
#define NPUFUSE_LAUNCH_H

#include "cli/options.h"
#include "model/task.h"

// What stands behind "--" becomes the launch command; the rest is returned.
Args launch_split(const Args *args, Launch *launch);
// The number of option `name`, at least `least`; *out stays where it is absent.
MUST_CHECK bool launch_number(double *out, const char *text, const char *name, double least,
                              Err *err);

#endif
