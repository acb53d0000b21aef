// aside.h - one piece of work beside that of the caller.
#ifndef NPUFUSE_ASIDE_H
#define NPUFUSE_ASIDE_H

#include <pthread.h>
#include <stdbool.h>

typedef struct Aside {
    void *(*work)(void *data);
    void *data;
    pthread_t thread;
    bool started;
} Aside;

// Begins `work(data)` on a thread of its own. Where none is allowed or none can be had,
// the work is done by aside_wait.
void aside_start(Aside *aside, bool allowed);
// Returns once the work is done. `data` must live until then.
void aside_wait(Aside *aside);

#endif
