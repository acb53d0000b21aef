// file.c - files and folders. Reads are bounded, writes are atomic.
#include "base/base.h"

#include "base/fault.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail(Err *err, const char *what, const char *path) {
    return err_set(err, "cannot %s '%s': %s", what, path, strerror(errno));
}

static FileKind kind_of(mode_t mode) {
    if (S_ISREG(mode)) return FILE_REGULAR;
    return S_ISDIR(mode) ? FILE_FOLDER : FILE_OTHER;
}

FileKind file_kind(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? kind_of(st.st_mode) : FILE_NONE;
}

typedef struct Input {
    int fd;
    size_t guess, max_bytes;
    const char *name;
} Input;

// Reads `in->fd` to its end into a growing block of `arena`.
static bool read_all(Str *out, Arena *arena, const Input *in, Err *err) {
    size_t cap = in->guess + 2, len = 0;
    char *at = arena_raw(arena, cap);
    for (;;) {
        ssize_t got = read(in->fd, at + len, cap - 1 - len);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return fail(err, "read", in->name);
        if (got == 0) break;
        len += (size_t)got;
        if (len > in->max_bytes) {
            return err_set(err, "'%s' is larger than %zu MB", in->name,
                           in->max_bytes / (1024 * 1024));
        }
        if (len < cap - 1) continue;
        at = arena_grow(arena, at, len, cap * 2);
        cap *= 2;
    }
    at[len] = 0;
    *out = (Str){at, len};
    return true;
}

bool file_read(Str *out, Arena *arena, const char *path, size_t max_bytes,
               Err *err) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return fail(err, "open", path);
    struct stat st;
    bool ok = false;
    if (fstat(fd, &st) != 0) {
        fail(err, "read", path);
    } else if (!S_ISREG(st.st_mode)) {
        err_set(err, "'%s' is not a regular file", path);
    } else if ((uint64_t)st.st_size > max_bytes) {
        err_set(err, "'%s' is larger than %zu MB", path,
                max_bytes / (1024 * 1024));
    } else {
        Input in = {fd, (size_t)st.st_size, max_bytes, path};
        ok = read_all(out, arena, &in, err);
    }
    close(fd);
    return ok;
}

bool file_read_stdin(Str *out, Arena *arena, size_t max_bytes, Err *err) {
    Input in = {STDIN_FILENO, 64 * 1024, max_bytes, "standard input"};
    return read_all(out, arena, &in, err);
}

static bool write_all(int fd, Str data) {
    if (fault_write_fails()) return false;
    while (data.len) {
        ssize_t put = write(fd, data.at, data.len);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return false;
        data.at += put;
        data.len -= (size_t)put;
    }
    return true;
}

bool file_write(const char *path, Str data, Err *err) {
    Arena arena;
    arena_init(&arena);
    Str temp = arena_printf(&arena, "%s.%ld.tmp", path, (long)getpid());
    bool ok = false;
    int fd = open(temp.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        fail(err, "write", path);
        goto out;
    }
    fault_point();
    struct stat st;
    if (stat(path, &st) == 0) (void)!fchmod(fd, st.st_mode & 07777);
    ok = write_all(fd, data) && fsync(fd) == 0;
    int saved = errno;
    if (close(fd) != 0 && ok) {
        ok = false;
        saved = errno;
    }
    fault_point();
    if (ok && rename(temp.at, path) != 0) {
        ok = false;
        saved = errno;
    }
    fault_point();
    if (!ok) {
        errno = saved;
        fail(err, "write", path);
        unlink(temp.at);
    }
out:
    arena_free(&arena);
    return ok;
}

// Whether the file's last byte ends no line; an empty file has none.
static bool ends_in_half_line(int fd) {
    char last = '\n';
    off_t size = lseek(fd, 0, SEEK_END);
    return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

bool file_append(const char *path, Str data, Err *err) {
    int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) return fail(err, "open", path);
    fault_point();
    bool ok = (!ends_in_half_line(fd) || write_all(fd, STR("\n"))) &&
              write_all(fd, data) && fsync(fd) == 0;
    if (!ok) fail(err, "write", path);
    close(fd);
    fault_point();
    return ok;
}

static bool copy_bytes(int from, int to) {
    char block[64 * 1024];
    for (;;) {
        ssize_t got = read(from, block, sizeof(block));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got == 0;
        if (!write_all(to, (Str){block, (size_t)got})) return false;
    }
}

bool file_copy(const char *from, const char *to, Err *err) {
    int in = open(from, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (in < 0) return fail(err, "open", from);
    struct stat st;
    if (fstat(in, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(in);
        return err_set(err, "'%s' is not a regular file", from);
    }
    int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, st.st_mode & 0777);
    bool ok = out >= 0 && copy_bytes(in, out);
    if (out >= 0 && close(out) != 0) ok = false;
    if (!ok) fail(err, "write", to);
    close(in);
    return ok;
}

bool file_link(const char *target, const char *path, Err *err) {
    return symlink(target, path) == 0 || fail(err, "link", path);
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at) {
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

bool file_remove(const char *path, Err *err) {
    struct stat st;
    if (lstat(path, &st) != 0) return errno == ENOENT || fail(err, "remove", path);
    fault_point();
    // Descends without following links; an own walk would say no more.
    if (nftw(path, remove_entry, 32, FTW_DEPTH | FTW_PHYS) != 0) {
        return fail(err, "remove", path);
    }
    fault_point();
    return true;
}

bool file_make_folder(const char *path, Err *err) {
    char at[PATH_MAX];
    size_t len = strlen(path);
    if (len >= sizeof(at)) return err_set(err, "path too long: '%s'", path);
    memcpy(at, path, len + 1);
    for (size_t i = 1; i <= len; i++) {
        if (at[i] != '/' && at[i] != 0) continue;
        char kept = at[i];
        at[i] = 0;
        if (mkdir(at, 0777) != 0 && errno != EEXIST) {
            return fail(err, "make folder", at);
        }
        at[i] = kept;
    }
    if (file_kind(path) == FILE_FOLDER) return true;
    return err_set(err, "cannot make folder '%s': a file is in the way", path);
}

char *path_join(Arena *arena, Str folder, Str name) {
    if (folder.len == 0 || str_is(folder, ".")) return arena_cstr(arena, name);
    bool slash = folder.at[folder.len - 1] == '/';
    Str joined = arena_printf(arena, "%.*s%s%.*s", STR_FMT(folder),
                              slash ? "" : "/", STR_FMT(name));
    return (char *)(uintptr_t)joined.at;
}

Str path_folder(Str path) {
    size_t i = path.len;
    while (i > 0 && path.at[i - 1] != '/') i--;
    if (i == 0) return STR(".");
    return (Str){path.at, i > 1 ? i - 1 : 1};
}

Str path_base(Str path) {
    size_t i = path.len;
    while (i > 0 && path.at[i - 1] != '/') i--;
    return (Str){path.at + i, path.len - i};
}

char *path_real(Arena *arena, const char *path) {
    char real[PATH_MAX];
    return realpath(path, real) ? arena_cstr(arena, str_of(real)) : NULL;
}

static int compare_entries(const void *a, const void *b) {
    return strcmp(((const FolderEntry *)a)->name, ((const FolderEntry *)b)->name);
}

static FolderEntry read_entry(Arena *arena, int folder, const char *name) {
    FolderEntry entry = {.name = arena_cstr(arena, str_of(name))};
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        entry.is_link = S_ISLNK(st.st_mode);
    }
    if (fstatat(folder, name, &st, 0) == 0) {
        entry.kind = kind_of(st.st_mode);
        entry.device = st.st_dev;
        entry.inode = st.st_ino;
    }
    return entry;
}

bool folder_read(FolderList *out, Arena *arena, const char *path, Err *err) {
    DIR *dir = opendir(path);
    if (!dir) return fail(err, "open folder", path);
    VEC(FolderEntry) list = {0};
    for (struct dirent *d; (d = readdir(dir));) {
        if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..")) continue;
        vec_push(arena, &list, read_entry(arena, dirfd(dir), d->d_name));
    }
    closedir(dir);
    if (list.len) qsort(list.at, list.len, sizeof(*list.at), compare_entries);
    *out = (FolderList){list.at, list.len};
    return true;
}
