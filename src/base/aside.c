// aside.c - a thread that is started, and waited for.
#include "base/base.h"

#include "base/aside.h"

void aside_start(Aside *aside, bool allowed) {
    aside->started = allowed &&
                     pthread_create(&aside->thread, NULL, aside->work, aside->data) == 0;
}

void aside_wait(Aside *aside) {
    if (aside->started) pthread_join(aside->thread, NULL);
    else aside->work(aside->data);
}
