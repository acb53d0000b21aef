// parse_bench.c - how fast files are read and parsed, on one thread.
//
//     parse_bench read|parse LIST
//
// LIST names a file with one path a line. Prints one line:
// `seconds files bytes items`, where seconds is CPU time, and items are bytes
// read or nodes.
//
// There is no row for the lexer: it runs on demand of the parser, which reads
// the bodies of f-strings.
#include "base/base.h"
#include "base/file.h"
#include "base/sym.h"
#include "py/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct Bench {
    Arena file; // cleared for each file
    SymTable symbols;
    uint64_t files, bytes, items;
} Bench;

typedef void (*Work)(Bench *bench, const char *path, Str bytes);

static void work_read(Bench *bench, const char *path, Str bytes) {
    (void)path;
    bench->items += bytes.len;
}

static void work_parse(Bench *bench, const char *path, Str bytes) {
    SourceText source;
    Err err;
    if (!source_init(&source, &bench->file, path, bytes, &err)) return;
    ParseResult result = parser_parse(&source, &bench->file, &bench->symbols);
    bench->items += result.node_count;
}

static const struct {
    const char *name;
    Work work;
} WORKS[] = {
    {"read", work_read}, {"parse", work_parse},
};

static Work find_work(const char *name) {
    for (size_t i = 0; i < COUNT(WORKS); i++) {
        if (strcmp(WORKS[i].name, name) == 0) return WORKS[i].work;
    }
    return NULL;
}

static bool run(Bench *bench, Work work, const char *path, Err *err) {
    arena_clear(&bench->file);
    Str bytes;
    if (!file_read(&bytes, &bench->file, path, FILE_MAX_BYTES, err)) {
        return false;
    }
    work(bench, path, bytes);
    bench->files++;
    bench->bytes += bytes.len;
    return true;
}

static bool run_list(Bench *bench, Work work, char *list, Err *err) {
    for (char *at = list; *at;) {
        char *end = strchr(at, '\n');
        if (end) *end = 0;
        if (*at && !run(bench, work, at, err)) return false;
        if (!end) break;
        at = end + 1;
    }
    return true;
}

static double cpu_seconds(void) {
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    Work work = argc == 3 ? find_work(argv[1]) : NULL;
    if (!work) {
        fprintf(stderr, "usage: parse_bench read|parse LIST\n");
        return 2;
    }
    Bench bench = {0};
    Arena names;
    Str list;
    Err err;
    arena_init(&names);
    arena_init(&bench.file);
    sym_table_init(&bench.symbols);
    parser_init_symbols(&bench.symbols);
    double start = cpu_seconds();
    bool ok = file_read(&list, &names, argv[2], FILE_MAX_BYTES, &err) &&
              run_list(&bench, work, arena_cstr(&names, list), &err);
    double seconds = cpu_seconds() - start;
    if (ok) {
        printf("%.4f %llu %llu %llu\n", seconds,
               (unsigned long long)bench.files,
               (unsigned long long)bench.bytes,
               (unsigned long long)bench.items);
    } else {
        fprintf(stderr, "parse_bench: %s\n", err.text);
    }
    sym_table_free(&bench.symbols);
    arena_free(&bench.file);
    arena_free(&names);
    return ok ? 0 : 2;
}
