// proc.h - running a command: its own process group, output as it comes,
// deadlines, and an end that leaves nobody behind.
#ifndef NPUFUSE_PROC_H
#define NPUFUSE_PROC_H

#include "base/arena.h"
#include "base/err.h"

typedef enum ProcAnswer {
    PROC_GO,       // nothing new
    PROC_PROGRESS, // the quiet time starts anew
    PROC_STOP,     // enough: end the command
} ProcAnswer;

typedef struct ProcSpec {
    const char *const *argv; // NULL terminated; argv[0] is looked up in PATH
    const char *const *env;  // "NAME=value" set besides ours; NULL terminated
    const char *folder;      // to run in; NULL: the current one
    const char *log;         // new file that gets all output; NULL: none
    const char *mark;        // "NAME=value" of env that no other command has: who
                             // left the group but has it is ended too; or NULL
    double limit_s;          // 0: none
    double quiet_s;          // without PROC_PROGRESS; 0: none
    // Gets the output (stdout and stderr as one) and, a few times a second, an
    // empty chunk.
    ProcAnswer (*take)(void *data, Str chunk);
    void *data;
} ProcSpec;

typedef enum ProcEnd {
    PROC_EXITED,      // by itself; `code` is its exit status
    PROC_SIGNALLED,   // by a signal that was not ours; `code` is its number
    PROC_STOPPED,     // PROC_STOP
    PROC_TOO_LONG,    // limit_s
    PROC_TOO_QUIET,   // quiet_s
    PROC_INTERRUPTED, // we got SIGINT, SIGTERM or SIGHUP
} ProcEnd;

typedef struct ProcResult {
    ProcEnd end;
    int code;
    double seconds;
} ProcResult;

enum { PROC_LOG_MAX = 256 * 1024 * 1024 }; // bytes kept in `log`

// False only if the command could not be started, or its log not be written.
MUST_CHECK bool proc_run(ProcResult *out, const ProcSpec *spec, Err *err);
// Ends, and waits for, all processes of this user whose environment has an entry
// that begins with `mark`: what is left of commands whose npufuse was killed.
// Returns how many there were.
uint32_t proc_end_marked(const char *mark);
// The path that execvp would run: `name` with a '/', or found in PATH; NULL.
char *proc_find(Arena *arena, const char *name);
// Seconds of a clock that only goes forward.
double proc_now(void);

#endif
