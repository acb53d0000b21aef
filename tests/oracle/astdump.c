// astdump.c - parses many Python files and writes their trees, for compare.py.
//
//     astdump [--no-fstring-positions] [--quiet] [--repeat N] < list-of-paths
//
// For each path on standard input, in order, one frame on standard output: a
// line `ok|fault|error BYTES PATH`, then BYTES bytes: the tree, the faults one
// a line (LINE:COL: message) and the tree, or why the file could not be read.
// --quiet writes the frames' first lines only; --repeat parses that often,
// for measuring.
#include "base/base.h"

#include "base/buf.h"
#include "base/file.h"
#include "py/ast_dump.h"
#include "py/parser.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Options {
    unsigned dump_flags;
    bool quiet;
    int repeat;
} Options;

static void write_frame(const char *status, const char *path, const Buf *buf,
                        const Options *options) {
    size_t len = options->quiet ? 0 : buf->len;
    printf("%s %zu %s\n", status, len, path);
    if (len) fwrite(buf->at, 1, len, stdout);
}

static void add_faults(Buf *buf, const SourceText *source, ParseResult result) {
    for (uint32_t i = 0; i < result.fault_count; i++) {
        SyntaxFault fault = result.faults[i];
        buf_addf(buf, "%u:%u: %s\n", source_line(source, fault.offset),
                 source_col(source, fault.offset), fault.message);
    }
}

static void dump_file(Buf *buf, const char *path, SymTable *symbols,
                      const Options *options) {
    Arena arena;
    Err err;
    Str bytes;
    SourceText source;
    arena_init(&arena);
    if (!file_read(&bytes, &arena, path, FILE_MAX_BYTES, &err) ||
        !source_init(&source, &arena, path, bytes, &err)) {
        buf_addf(buf, "%s\n", err.text);
        write_frame("error", path, buf, options);
    } else {
        ParseResult result = parser_parse(&source, &arena, symbols);
        add_faults(buf, &source, result);
        if (!options->quiet) {
            ast_dump(buf, &source, result.module, options->dump_flags);
        }
        const char *status = result.fault_count ? "fault" : "ok";
        write_frame(status, path, buf, options);
    }
    arena_free(&arena);
}

// Parses only, `repeat` times.
static void time_file(const char *path, SymTable *symbols, int repeat) {
    Arena arena;
    Err err;
    Str bytes;
    SourceText source;
    arena_init(&arena);
    for (int i = 0; i < repeat; i++) {
        arena_clear(&arena);
        if (!file_read(&bytes, &arena, path, FILE_MAX_BYTES, &err) ||
            !source_init(&source, &arena, path, bytes, &err)) {
            break;
        }
        parser_parse(&source, &arena, symbols);
    }
    arena_free(&arena);
}

static Options read_options(int argc, char **argv) {
    Options options = {0};
    for (int i = 1; i < argc; i++) {
        if (str_is(str_of(argv[i]), "--no-fstring-positions")) {
            options.dump_flags |= AST_DUMP_NO_FSTRING_POSITIONS;
        } else if (str_is(str_of(argv[i]), "--quiet")) {
            options.quiet = true;
        } else if (str_is(str_of(argv[i]), "--repeat") && i + 1 < argc) {
            options.repeat = (int)strtol(argv[++i], NULL, 10);
        } else {
            fprintf(stderr, "astdump: unknown option '%s'\n", argv[i]);
            exit(2);
        }
    }
    return options;
}

int main(int argc, char **argv) {
    Options options = read_options(argc, argv);
    SymTable symbols;
    Buf buf = {0};
    char path[4096];
    sym_table_init(&symbols);
    parser_init_symbols(&symbols);
    while (fgets(path, sizeof(path), stdin)) {
        path[strcspn(path, "\n")] = '\0';
        buf_clear(&buf);
        if (options.repeat) {
            time_file(path, &symbols, options.repeat);
        } else {
            dump_file(&buf, path, &symbols, &options);
        }
    }
    buf_free(&buf);
    sym_table_free(&symbols);
    return 0;
}
