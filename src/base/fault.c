// fault.c - see fault.h; empty in a release build.
#include "base/base.h"

#include "base/fault.h"

#ifdef NPUFUSE_FAULTS

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static unsigned long from_environment(const char *name) {
    const char *text = getenv(name);
    return text ? strtoul(text, NULL, 10) : 0;
}

static void keep_count(unsigned long count) {
    const char *path = getenv("NPUFUSE_FAULT_COUNT");
    if (!path) return;
    FILE *file = fopen(path, "w");
    if (!file) return;
    fprintf(file, "%lu\n", count);
    fclose(file);
}

void fault_point(void) {
    static unsigned long count;
    keep_count(++count);
    if (count == from_environment("NPUFUSE_FAULT_AT")) {
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
}

bool fault_write_fails(void) {
    static unsigned long count;
    unsigned long first = from_environment("NPUFUSE_FAULT_FULL");
    if (!first || ++count < first) return false;
    errno = ENOSPC;
    return true;
}

#else
typedef int fault_is_empty; // a translation unit may not be
#endif
