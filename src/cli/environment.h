// environment.h - what this machine has, told from files: nothing is imported
// and no Python is started.
#ifndef NPUFUSE_ENVIRONMENT_H
#define NPUFUSE_ENVIRONMENT_H

#include "base/arena.h"
#include "model/json.h"

typedef struct Environment {
    Str python, python_version;     // the command's path; empty: not found
    Str torch, torch_npu;           // versions; empty: not installed
    Str cann, driver;               // versions; empty: not found
    Str product;                    // by npu-smi; empty: unknown
    Str visible;                    // ASCEND_RT_VISIBLE_DEVICES; empty: not set
    VEC(Str) devices;               // /dev/davinci0, ...
    Str processor;                  // as /proc/cpuinfo names it
} Environment;

// `python` is a path or a name on PATH; NULL: of VIRTUAL_ENV, else python3.
// Absolute paths of the system are looked up below the folder that
// NPUFUSE_SYSROOT names, if it is set.
void environment_read(Environment *out, Arena *arena, const char *python);
// The object "environment" of reports, and that of `doctor --format json`.
void environment_write(Json *json, const Environment *environment);
// "910B3, 8 devices, Kunpeng-920"; without devices the processor alone.
Str environment_hardware(Arena *arena, const Environment *environment);
// Equal where runs may be compared with each other. What the environment variable
// NPUFUSE_MACHINE says, if it is set, is taken for it.
Str environment_key(Arena *arena, const Environment *environment);
// The numbers "2.7" of "2.7.1+cpu": torch and torch_npu must agree in them.
Str environment_release(Str version);

#endif
