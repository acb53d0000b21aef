// mutate.c - a fuzzing loop for compilers that have no libFuzzer.
//
//     fuzz_X_mutate SECONDS [-s SEED] FILE...
//
// Takes a saved input, changes a few bytes, blocks and lines of it (pieces of
// the other inputs among them) and feeds it to the target, until the time is
// over. The same seed gives the same inputs. The input of the moment is in the
// file `<program>.last`, so that a crash leaves it behind; an input that needs
// more than 10 s ends the program with SIGALRM.
#include "base/base.h"

#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MAX_BYTES = 64 * 1024, HANG_SECONDS = 10 };

typedef struct Input {
    uint8_t *at;
    size_t len;
} Input;

static uint64_t random_state;

// splitmix64
static uint64_t random_next(void) {
    uint64_t z = (random_state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static size_t random_below(size_t limit) {
    return limit ? (size_t)(random_next() % limit) : 0;
}

// Reads a saved input; an unreadable one is empty.
static Input read_input(const char *path) {
    Input input = {malloc(MAX_BYTES), 0};
    FILE *file = fopen(path, "rb");
    if (!input.at || !file) {
        fprintf(stderr, "mutate: cannot read '%s'\n", path);
        exit(2);
    }
    input.len = fread(input.at, 1, MAX_BYTES, file);
    fclose(file);
    return input;
}

// Replaces `cut` bytes at `where` by `piece`, within MAX_BYTES.
static void replace(Input *input, size_t where, size_t cut, Input piece) {
    if (cut > input->len - where) cut = input->len - where;
    size_t kept = input->len - where - cut;
    size_t room = MAX_BYTES - where - kept;
    if (piece.len > room) piece.len = room;
    memmove(input->at + where + piece.len, input->at + where + cut, kept);
    if (piece.len) memcpy(input->at + where, piece.at, piece.len);
    input->len = where + piece.len + kept;
}

// A short run of `from`'s bytes.
static Input random_piece(const Input *from, size_t longest) {
    size_t start = random_below(from->len);
    size_t len = random_below(longest) + 1;
    if (len > from->len - start) len = from->len - start;
    return (Input){from->at + start, len};
}

// The line around a random offset, with its end.
static Input random_line(const Input *from) {
    size_t start = random_below(from->len), end = start;
    while (start > 0 && from->at[start - 1] != '\n') start--;
    while (end < from->len && from->at[end] != '\n') end++;
    if (end < from->len) end++;
    return (Input){from->at + start, end - start};
}

static void mutate_once(Input *input, const Input *other) {
    static const uint8_t ODD[] = "\0\n\r\t\f\"'\\#()[]{}:;,.=@ 0\xff\x80\xc3{";
    Input one = {(uint8_t[]){(uint8_t)random_next()}, 1};
    Input odd = {(uint8_t[]){ODD[random_below(sizeof(ODD) - 1)]}, 1};
    size_t where = random_below(input->len + 1);
    switch (random_below(9)) {
    case 0: replace(input, where, 1, one); break;
    case 1: replace(input, where, 0, odd); break;
    case 2: replace(input, where, 1, odd); break;
    case 3: replace(input, where, random_below(16) + 1, (Input){0}); break;
    case 4: replace(input, where, 0, random_piece(other, 64)); break;
    case 5: replace(input, where, random_below(64), random_piece(other, 64));
        break;
    case 6: replace(input, where, 0, random_line(other)); break;
    case 7: replace(input, where, random_below(512), (Input){0}); break;
    default:
        if (where < input->len) input->at[where] ^= 1 << random_below(8);
        break;
    }
}

// Keeps `input` on disk while the target runs.
static void save(int file, const Input *input) {
    if (pwrite(file, input->at, input->len, 0) != (ssize_t)input->len ||
        ftruncate(file, (off_t)input->len) != 0) {
        fprintf(stderr, "mutate: cannot save the input\n");
        exit(2);
    }
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

// Runs until `seconds` are over; returns the number of inputs.
static long loop(const Input *corpus, size_t count, double seconds, int file) {
    Input input = {malloc(MAX_BYTES), 0};
    if (!input.at) exit(2);
    long runs = 0;
    for (double end = now() + seconds; now() < end; runs++) {
        const Input *base = &corpus[random_below(count)];
        memcpy(input.at, base->at, base->len);
        input.len = base->len;
        for (size_t n = random_below(8) + 1; n > 0; n--) {
            mutate_once(&input, &corpus[random_below(count)]);
        }
        save(file, &input);
        alarm(HANG_SECONDS);
        LLVMFuzzerTestOneInput(input.at, input.len);
    }
    alarm(0);
    free(input.at);
    return runs;
}

int main(int argc, char **argv) {
    int first = argc > 3 && strcmp(argv[2], "-s") == 0 ? 4 : 2;
    if (argc <= first) {
        fprintf(stderr, "usage: %s SECONDS [-s SEED] FILE...\n", argv[0]);
        return 2;
    }
    random_state = first == 4 ? strtoull(argv[3], NULL, 10) : 1;
    size_t count = (size_t)(argc - first);
    Input *corpus = calloc(count, sizeof(*corpus));
    if (!corpus) return 2;
    for (size_t i = 0; i < count; i++) corpus[i] = read_input(argv[first + i]);
    char last[4096];
    snprintf(last, sizeof(last), "%s.last", argv[0]);
    int file = open(last, O_RDWR | O_CREAT | O_TRUNC, 0666);
    if (file < 0) {
        fprintf(stderr, "mutate: cannot write '%s'\n", last);
        return 2;
    }
    printf("seed %llu, %zu saved inputs, the input of the moment is in %s\n",
           (unsigned long long)random_state, count, last);
    fflush(stdout);
    long runs = loop(corpus, count, strtod(argv[1], NULL), file);
    printf("%ld inputs\n", runs);
    close(file);
    unlink(last);
    for (size_t i = 0; i < count; i++) free(corpus[i].at);
    free(corpus);
    return 0;
}
