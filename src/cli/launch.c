// launch.c - see launch.h.
#include "base/base.h"

#include "cli/launch.h"

#include <math.h>
#include <stdlib.h>

Args launch_split(const Args *args, Launch *launch) {
    Args ours = *args;
    for (int i = 0; i < args->count; i++) {
        if (strcmp(args->at[i], "--") != 0) continue;
        ours.count = i;
        for (int k = i + 1; k < args->count; k++) {
            vec_push(args->run, &launch->argv, str_of(args->at[k]));
        }
        break;
    }
    return ours;
}

bool launch_number(double *out, const char *text, const char *name, double least, Err *err) {
    char *end = NULL;
    if (!text) return true;
    *out = strtod(text, &end);
    if (end == text || *end || !isfinite(*out) || *out < least) {
        return err_set(err, "'--%s' takes a number from %g up, not '%s'", name, least, text);
    }
    return true;
}
