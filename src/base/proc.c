// proc.c - one command at a time.
//
// The command leads a process group, so that its end ends what it started:
// TERM first, KILL after a grace. It reads nothing (stdin is /dev/null) and is
// killed by the system if this process dies before it.
#include "base/base.h"

#include "base/file.h"
#include "base/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { TICK_MS = 100 };
static const double GRACE_S = 3.0;   // between TERM and KILL
static const double DRAIN_S = 2.0;   // for output after the command's end

static volatile sig_atomic_t interrupted;

static void note_signal(int number) {
    interrupted = number;
}

double proc_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

// ---- starting ---------------------------------------------------------------

static bool same_name(const char *a, const char *b) {
    while (*a && *a == *b && *a != '=') a++, b++;
    return *a == '=' && *b == '=';
}

// Our environment with that of the spec in front of it.
static char **make_environment(Arena *arena, const char *const *extra) {
    VEC(char *) all = {0};
    for (uint32_t i = 0; extra && extra[i]; i++) {
        vec_push(arena, &all, (char *)(uintptr_t)extra[i]);
    }
    uint32_t own = all.len;
    for (char **at = environ; *at; at++) {
        bool hidden = false;
        for (uint32_t i = 0; i < own; i++) hidden |= same_name(*at, all.at[i]);
        if (!hidden) vec_push(arena, &all, *at);
    }
    vec_push(arena, &all, NULL);
    return all.at;
}

typedef struct Child {
    pid_t pid;
    int out;    // read end of its output
    int fault;  // read end of what exec says if it fails
} Child;

typedef struct Pipes {
    int out[2], fault[2];
} Pipes;

// In the child: only what is safe between fork and exec. Does not return.
static void become(const ProcSpec *spec, const Pipes *pipes, char **env, pid_t parent) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int nothing = open("/dev/null", O_RDONLY);
    bool ok = getppid() == parent && nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 &&
              dup2(pipes->out[1], STDOUT_FILENO) >= 0 &&
              dup2(pipes->out[1], STDERR_FILENO) >= 0 &&
              (!spec->folder || chdir(spec->folder) == 0);
    if (ok) {
        signal(SIGXFSZ, SIG_DFL);
        signal(SIGPIPE, SIG_DFL);
        environ = env;
        execvp(spec->argv[0], (char *const *)(uintptr_t)spec->argv);
    }
    int fault = errno;
    (void)!write(pipes->fault[1], &fault, sizeof(fault));
    _exit(127);
}

static bool open_pipes(Pipes *pipes, Err *err) {
    if (pipe(pipes->out) != 0) return err_set(err, "cannot make a pipe: %s", strerror(errno));
    if (pipe(pipes->fault) != 0) {
        close(pipes->out[0]);
        close(pipes->out[1]);
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    }
    for (int i = 0; i < 2; i++) {
        fcntl(pipes->out[i], F_SETFD, FD_CLOEXEC);
        fcntl(pipes->fault[i], F_SETFD, FD_CLOEXEC);
    }
    return true;
}

static bool start(Child *child, const ProcSpec *spec, char **env, Err *err) {
    Pipes pipes;
    if (!open_pipes(&pipes, err)) return false;
    pid_t parent = getpid();
    child->pid = fork();
    if (child->pid == 0) become(spec, &pipes, env, parent);
    int failed = errno, fault = 0;
    close(pipes.out[1]);
    close(pipes.fault[1]);
    if (child->pid > 0) {
        setpgid(child->pid, child->pid); // whoever comes first
        ssize_t got;
        do got = read(pipes.fault[0], &fault, sizeof(fault));
        while (got < 0 && errno == EINTR);
        if (got <= 0) fault = 0;
        if (fault) waitpid(child->pid, NULL, 0);
    }
    close(pipes.fault[0]);
    child->out = pipes.out[0];
    if (child->pid > 0 && !fault) return true;
    close(pipes.out[0]);
    return err_set(err, "cannot start '%s': %s", spec->argv[0],
                   strerror(child->pid < 0 ? failed : fault));
}

// ---- while it runs ----------------------------------------------------------

typedef struct Run {
    const ProcSpec *spec;
    Child child;
    FILE *log;
    size_t logged;
    double started, progressed;
    bool reaped, has_output, log_failed;
    int status;
} Run;

static void keep(Run *run, Str chunk) {
    if (!run->log || run->logged > PROC_LOG_MAX) return;
    run->log_failed |= fwrite(chunk.at, 1, chunk.len, run->log) != chunk.len ||
                       fflush(run->log) != 0;
    run->logged += chunk.len;
    if (run->logged > PROC_LOG_MAX) fputs("\n... the rest was not kept\n", run->log);
}

// Waits a tick for output and hands it on.
static ProcAnswer take_output(Run *run) {
    struct pollfd wait = {.fd = run->has_output ? run->child.out : -1, .events = POLLIN};
    char block[16 * 1024];
    Str chunk = {block, 0};
    if (poll(&wait, 1, TICK_MS) > 0) {
        ssize_t got = read(run->child.out, block, sizeof(block));
        if (got > 0) chunk.len = (size_t)got;
        else if (got == 0 || errno != EINTR) run->has_output = false;
    }
    if (chunk.len) keep(run, chunk);
    if (!run->spec->take) return PROC_GO;
    return run->spec->take(run->spec->data, chunk);
}

// Takes notice of everybody in the group who has ended: we inherit those whose
// parents are gone (PR_SET_CHILD_SUBREAPER).
static void reap(Run *run) {
    int status;
    pid_t pid;
    while ((pid = waitpid(-run->child.pid, &status, WNOHANG)) > 0) {
        if (pid != run->child.pid) continue;
        run->reaped = true;
        run->status = status;
    }
}

static bool is_alive(const Run *run) {
    return kill(-run->child.pid, 0) == 0;
}

// TERM to the group, KILL after the grace; what it still says is kept.
static void end_group(Run *run) {
    kill(-run->child.pid, SIGTERM);
    double deadline = proc_now() + GRACE_S;
    while (is_alive(run) && proc_now() < deadline) {
        if (run->has_output) take_output(run);
        else poll(NULL, 0, TICK_MS / 5);
        reap(run);
    }
    kill(-run->child.pid, SIGKILL);
    deadline += GRACE_S; // an uninterruptible one is left to the system
    while (is_alive(run) && proc_now() < deadline) {
        poll(NULL, 0, TICK_MS / 10);
        reap(run);
    }
}

// Whether the process was started with an entry that begins with `mark`.
static bool is_marked(Arena *arena, const char *pid, Str mark) {
    Str text;
    Err ignored;
    enum { ENVIRONMENT_MAX = 16 * 1024 * 1024 };
    const char *path = arena_printf(arena, "/proc/%s/environ", pid).at;
    if (!file_read(&text, arena, path, ENVIRONMENT_MAX, &ignored)) return false;
    while (text.len) {
        const char *end = memchr(text.at, 0, text.len);
        size_t len = end ? (size_t)(end - text.at) : text.len;
        if (len >= mark.len && memcmp(text.at, mark.at, mark.len) == 0) return true;
        if (!end) break;
        text = (Str){end + 1, text.len - len - 1};
    }
    return false;
}

// One round: KILL to all that are marked; how many there are.
static uint32_t kill_marked(Str mark) {
    uint32_t count = 0;
    DIR *dir = opendir("/proc");
    if (!dir) return 0;
    Arena arena;
    arena_init(&arena);
    for (struct dirent *entry; (entry = readdir(dir));) {
        char *end = NULL;
        long pid = strtol(entry->d_name, &end, 10);
        if (pid <= 0 || *end || pid == getpid()) continue;
        ArenaMark before = arena_mark(&arena);
        if (is_marked(&arena, entry->d_name, mark) && kill((pid_t)pid, SIGKILL) == 0) count++;
        arena_reset(&arena, before);
    }
    closedir(dir);
    arena_free(&arena);
    return count;
}

uint32_t proc_end_marked(const char *mark) {
    uint32_t most = 0;
    double deadline = proc_now() + GRACE_S;
    while (proc_now() < deadline) {
        uint32_t count = kill_marked(str_of(mark));
        if (count > most) most = count;
        while (waitpid(-1, NULL, WNOHANG) > 0) {} // we inherit them
        if (!count) break;
        poll(NULL, 0, TICK_MS / 5);
    }
    return most;
}

static bool is_over(const Run *run, ProcResult *out, ProcAnswer answer) {
    const ProcSpec *spec = run->spec;
    double now = proc_now();
    if (interrupted) out->end = PROC_INTERRUPTED;
    else if (answer == PROC_STOP) out->end = PROC_STOPPED;
    else if (spec->limit_s > 0 && now - run->started > spec->limit_s) out->end = PROC_TOO_LONG;
    else if (spec->quiet_s > 0 && now - run->progressed > spec->quiet_s) out->end = PROC_TOO_QUIET;
    else return false;
    return true;
}

static void watch(Run *run, ProcResult *out) {
    double gone = 0; // when the command itself was seen to have ended
    for (;;) {
        ProcAnswer answer = take_output(run);
        if (answer == PROC_PROGRESS) run->progressed = proc_now();
        reap(run);
        if (!run->reaped && is_over(run, out, answer)) break;
        if (!run->reaped) continue;
        if (gone == 0) gone = proc_now();
        // Somebody that it started may hold the pipe open for ever.
        if (!run->has_output || proc_now() - gone > DRAIN_S) {
            out->end = WIFEXITED(run->status) ? PROC_EXITED : PROC_SIGNALLED;
            out->code = WIFEXITED(run->status) ? WEXITSTATUS(run->status)
                                               : WTERMSIG(run->status);
            break;
        }
    }
    end_group(run);
    if (run->spec->mark) proc_end_marked(run->spec->mark);
    out->seconds = proc_now() - run->started;
}

static const int watched_signals[] = {SIGINT, SIGTERM, SIGHUP};

static void watch_signals(struct sigaction *before) {
    struct sigaction action = {.sa_handler = note_signal};
    interrupted = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    for (size_t i = 0; i < COUNT(watched_signals); i++) {
        sigaction(watched_signals[i], &action, &before[i]);
    }
}

static void restore_signals(const struct sigaction *before) {
    for (size_t i = 0; i < COUNT(watched_signals); i++) {
        sigaction(watched_signals[i], &before[i], NULL);
    }
}

bool proc_run(ProcResult *out, const ProcSpec *spec, Err *err) {
    *out = (ProcResult){0};
    Run run = {.spec = spec, .has_output = true};
    if (spec->log && !(run.log = fopen(spec->log, "we"))) {
        return err_set(err, "cannot write '%s': %s", spec->log, strerror(errno));
    }
    Arena arena;
    arena_init(&arena);
    struct sigaction before[COUNT(watched_signals)];
    watch_signals(before);
    bool ok = start(&run.child, spec, make_environment(&arena, spec->env), err);
    if (ok) {
        run.started = run.progressed = proc_now();
        watch(&run, out);
        close(run.child.out);
    }
    restore_signals(before);
    arena_free(&arena);
    if (run.log && fclose(run.log) != 0) run.log_failed = true;
    if (ok && run.log_failed) {
        return err_set(err, "cannot write '%s': %s", spec->log, strerror(errno));
    }
    return ok;
}

char *proc_find(Arena *arena, const char *name) {
    if (strchr(name, '/')) {
        return access(name, X_OK) == 0 ? arena_cstr(arena, str_of(name)) : NULL;
    }
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t len = strcspn(path, ":");
        char *at = path_join(arena, (Str){path, len}, str_of(name));
        if (file_kind(at) == FILE_REGULAR && access(at, X_OK) == 0) return at;
        path += len + (path[len] == ':');
    }
    return NULL;
}
