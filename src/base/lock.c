// lock.c - a POSIX record lock: the system frees it when its process ends, so
// a file that is left over is no obstacle, and it tells who holds it.
#include "base/base.h"

#include "base/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static struct flock whole_file(short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    return lock;
}

static bool fail_held(Err *err, int fd, const char *path) {
    struct flock lock = whole_file(F_WRLCK);
    if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) {
        return err_set(err, "'%s' is locked by another npufuse: try again", path);
    }
    return err_set(err, "'%s' is locked: npufuse process %ld is at work in this "
                        "folder; wait for it or end it", path, (long)lock.l_pid);
}

bool lock_take(Lock *lock, const char *path, Err *err) {
    lock->fd = -1;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return err_set(err, "cannot open '%s': %s", path, strerror(errno));
    struct flock wanted = whole_file(F_WRLCK);
    if (fcntl(fd, F_SETLK, &wanted) != 0) {
        fail_held(err, fd, path);
        close(fd);
        return false;
    }
    lock->fd = fd;
    return true;
}

void lock_free(Lock *lock) {
    if (lock->fd >= 0) close(lock->fd);
    lock->fd = -1;
}
