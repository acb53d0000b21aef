// What a shared library registers, out of ELF files that are made here byte by
// byte, for both machines and with every header wrong in turn.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include "apidoc/library.h"
#include "base/buf.h"
#include "base/elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    X86_64 = 62, AARCH64 = 183,
    PROGBITS = 1, WRITE = 1, ALLOC = 2, EXEC = 4,
    HEADER = 64, ENTRY = 64, SEGMENT = 56,
};

typedef struct World {
    Arena arena;
    Buf elf;
    Library library;
    Err err;
} World;

static int setup(void **state) {
    World *world = calloc(1, sizeof(*world));
    if (!world) return -1;
    arena_init(&world->arena);
    *state = world;
    return 0;
}

static int teardown(void **state) {
    World *world = *state;
    buf_free(&world->elf);
    arena_free(&world->arena);
    free(world);
    return 0;
}

// ---- making ELF files -----------------------------------------------------------

typedef struct Section {
    const char *name;
    uint64_t flags;
    Str bytes;
    uint64_t offset, len; // 0: the true ones
} Section;

static void put(Buf *out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) buf_add_char(out, (char)(i < 8 ? value >> 8 * i & 0xff : 0));
}

static void set(Buf *elf, size_t at, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) elf->at[at + (size_t)i] = (char)(value >> 8 * i & 0xff);
}

static void put_header(Buf *out, int machine) {
    buf_add(out, STR("\x7f" "ELF\2\1\1"));
    put(out, 0, 9);
    put(out, 3, 2); // a shared library
    put(out, (uint64_t)machine, 2);
    put(out, 1, 4);
    put(out, 0, 8 + 8 + 8 + 4); // entry, segments, sections, flags
    put(out, HEADER, 2);
    put(out, SEGMENT, 2);
    put(out, 0, 2);
    put(out, ENTRY, 2);
    put(out, 0, 2 + 2);
}

static void put_section(Buf *out, uint64_t name, const Section *s, uint64_t offset) {
    put(out, name, 4);
    put(out, PROGBITS, 4);
    put(out, s->flags, 8);
    put(out, 0, 8);
    put(out, s->offset ? s->offset : offset, 8);
    put(out, s->len ? s->len : s->bytes.len, 8);
    put(out, 0, 4 + 4 + 8 + 8);
}

// The sections, their names, and the table of both; the names come last.
static void make(Buf *out, int machine, const Section *sections, size_t count) {
    uint64_t offsets[8];
    Buf names = {0};
    buf_clear(out);
    put_header(out, machine);
    for (size_t i = 0; i < count; i++) {
        offsets[i] = out->len;
        buf_add(out, sections[i].bytes);
    }
    Section last = {.bytes = {NULL, 0}};
    uint64_t names_at = out->len, name = 1;
    buf_add_char(&names, '\0');
    for (size_t i = 0; i < count; i++) {
        buf_add(&names, (Str){sections[i].name, strlen(sections[i].name) + 1});
    }
    last.bytes = buf_str(&names);
    buf_add(out, last.bytes);
    set(out, 40, out->len, 8);
    set(out, 60, count + 1, 2);
    set(out, 62, count, 2);
    for (size_t i = 0; i < count; i++) {
        put_section(out, name, &sections[i], offsets[i]);
        name += strlen(sections[i].name) + 1;
    }
    put_section(out, 0, &last, names_at);
    buf_free(&names);
}

#define BYTES(literal) ((Str){literal, sizeof(literal)}) // with the last NUL

static const Section usual[] = {
    {".text", ALLOC | EXEC, BYTES("npu_in_code(Tensor x) -> Tensor"), 0, 0},
    {".eh_frame", ALLOC, BYTES("npu_in_frames(Tensor x) -> Tensor"), 0, 0},
    {".rodata", ALLOC,
     BYTES("\1\2npu_b(Tensor x) -> Tensor\0-> \0NpuBBackward0\0a > b\0x->y()\0"
           "npu_a.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)\0"), 0, 0},
    {".rodata.str1.8", ALLOC,
     BYTES("npu_a(Tensor x) -> Tensor\0npu_b(Tensor x) -> Tensor\0npu::npu_c() -> ()\0"
           "BackwardBackward0\0NpuConv2DBackward1\0NpuBBackward0\0npuDBackward0\0"
           "NpuEBackward\0NpuFBackward0x\0_NpuGBackward0"), 0, 0},
    {".data", ALLOC | WRITE, BYTES("npu_in_data(Tensor x) -> Tensor"), 0, 0},
    {".comment", 0, BYTES("npu_in_comment(Tensor x) -> Tensor"), 0, 0},
};

static void make_usual(World *world, int machine) {
    make(&world->elf, machine, usual, COUNT(usual));
}

static size_t section_entry(const Buf *elf, size_t index) {
    uint64_t table = 0;
    for (int i = 7; i >= 0; i--) table = table << 8 | (unsigned char)elf->at[40 + i];
    return (size_t)table + index * ENTRY;
}

// ---- reading them ---------------------------------------------------------------

static bool read_elf(World *world) {
    return library_read(&world->library, &world->arena, buf_str(&world->elf), &world->err);
}

static void assert_said(World *world, const char *words) {
    if (!strstr(world->err.text, words)) fail_msg("'%s' is not in: %s", words, world->err.text);
}

static void assert_refused(World *world, const char *words) {
    assert_false(read_elf(world));
    assert_said(world, words);
}

static void assert_text(Str got, const char *expected) {
    if (!str_is(got, expected)) fail_msg("'%.*s' is not '%s'", STR_FMT(got), expected);
}

static void assert_usual(const Library *library) {
    assert_int_equal(library->schemas.len, 4);
    assert_text(library->schemas.at[0].text, "npu_a(Tensor x) -> Tensor");
    assert_text(library->schemas.at[1].overload, "out");
    assert_text(library->schemas.at[2].text, "npu_b(Tensor x) -> Tensor");
    assert_text(library->schemas.at[3].space, "npu");
    assert_int_equal(library->nodes.len, 3);
    assert_text(library->nodes.at[0], "BackwardBackward0");
    assert_text(library->nodes.at[1], "NpuBBackward0");
    assert_text(library->nodes.at[2], "NpuConv2DBackward1");
}

static void test_reads_both_machines(void **state) {
    World *world = *state;
    const int machines[] = {X86_64, AARCH64};
    for (size_t i = 0; i < COUNT(machines); i++) {
        make_usual(world, machines[i]);
        if (!read_elf(world)) fail_msg("%s", world->err.text);
        assert_usual(&world->library);
    }
}

static void test_reads_a_file(void **state) {
    World *world = *state;
    char path[] = "/tmp/npufuse-elf-XXXXXX";
    make_usual(world, AARCH64);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, world->elf.at, world->elf.len), world->elf.len);
    bool ok = library_read_file(&world->library, &world->arena, path, &world->err);
    if (!ok) fail_msg("%s", world->err.text);
    assert_usual(&world->library);
    assert_int_equal(ftruncate(fd, 200), 0);
    assert_false(library_read_file(&world->library, &world->arena, path, &world->err));
    assert_said(world, path);
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
    assert_false(library_read_file(&world->library, &world->arena, path, &world->err));
    assert_said(world, "cannot read");
    assert_false(library_read_file(&world->library, &world->arena, "/", &world->err));
    assert_said(world, "is no regular file");
}

// Without names all data that is only read is looked at.
static void test_reads_without_section_names(void **state) {
    World *world = *state;
    make_usual(world, X86_64);
    set(&world->elf, 62, 0xffff, 2);
    assert_true(read_elf(world));
    assert_int_equal(world->library.schemas.len, 5);
    assert_text(world->library.schemas.at[4].name, "npu_in_frames");
    set(&world->elf, 62, COUNT(usual), 2);
    set(&world->elf, section_entry(&world->elf, COUNT(usual)) + 32, UINT64_MAX, 8);
    assert_true(read_elf(world));
    assert_int_equal(world->library.schemas.len, 5);
}

static void put_segment(Buf *out, uint32_t type, uint32_t flags, Str bytes) {
    put(out, type, 4);
    put(out, flags, 4);
    put(out, HEADER + 3 * SEGMENT, 8);
    put(out, 0, 8 + 8);
    put(out, bytes.len, 8);
    put(out, bytes.len, 8);
    put(out, 4096, 8);
}

static void test_reads_segments_of_a_stripped_one(void **state) {
    World *world = *state;
    Str data = BYTES("npu_s(Tensor x) -> Tensor");
    const uint32_t read = 4, exec = 1, write_flag = 2, load = 1, note = 4;
    const struct {
        uint32_t type, flags, found;
    } cases[] = {{load, read, 1}, {load, read | exec, 0}, {load, read | write_flag, 0},
                 {note, read, 0}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        buf_clear(&world->elf);
        put_header(&world->elf, X86_64);
        set(&world->elf, 32, HEADER, 8);
        set(&world->elf, 56, 3, 2);
        put_segment(&world->elf, note, read, data);
        put_segment(&world->elf, cases[i].type, cases[i].flags, data);
        put_segment(&world->elf, load, read | exec, data);
        buf_add(&world->elf, data);
        if (!read_elf(world)) fail_msg("%s", world->err.text);
        assert_int_equal(world->library.schemas.len, cases[i].found);
    }
    set(&world->elf, 54, 32, 2);
    assert_refused(world, "program headers have an odd size");
    set(&world->elf, 54, SEGMENT, 2);
    set(&world->elf, 32, UINT64_MAX, 8);
    assert_refused(world, "is cut");
}

static void test_one_that_has_nothing(void **state) {
    World *world = *state;
    buf_clear(&world->elf);
    put_header(&world->elf, X86_64);
    assert_true(read_elf(world));
    assert_int_equal(world->library.schemas.len + world->library.nodes.len, 0);
}

static void test_cut_anywhere(void **state) {
    World *world = *state;
    make_usual(world, X86_64);
    size_t whole = world->elf.len;
    for (size_t n = 0; n < whole; n++) {
        world->elf.len = n;
        assert_refused(world, n < HEADER ? "is no ELF file: too short" : "is cut");
    }
    world->elf.len = whole;
    assert_true(read_elf(world));
}

static void test_headers_that_are_wrong(void **state) {
    World *world = *state;
    static const struct {
        size_t at;
        uint64_t value;
        int bytes;
        const char *words;
    } cases[] = {
        {0, 'x', 1, "is no ELF file (no shared library)"},
        {4, 1, 1, "is no 64-bit little-endian ELF file"},
        {5, 2, 1, "is no 64-bit little-endian ELF file"},
        {40, UINT64_MAX, 8, "is cut"},
        {40, UINT64_MAX - 100, 8, "is cut"},
        {58, 40, 2, "section headers have an odd size"},
        {60, 0xffff, 2, "is cut"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        make_usual(world, X86_64);
        set(&world->elf, cases[i].at, cases[i].value, cases[i].bytes);
        assert_refused(world, cases[i].words);
    }
}

static void test_sections_that_are_wrong(void **state) {
    World *world = *state;
    Section two[] = {usual[2], usual[3]};
    two[0].len = 1 << 20;
    make(&world->elf, X86_64, two, 2);
    assert_refused(world, "is cut");
    two[0].len = 0;
    two[0].offset = UINT64_MAX - 4;
    make(&world->elf, X86_64, two, 2);
    assert_refused(world, "is cut");
    two[0].len = (uint64_t)LIBRARY_MAX_DATA + 1;
    make(&world->elf, X86_64, two, 2);
    assert_refused(world, "more than 256 MB of read-only data");
    two[0].len = two[1].len = UINT64_MAX;
    make(&world->elf, X86_64, two, 2);
    assert_refused(world, "more than 256 MB of read-only data");
}

// What lies in two sections is found once; together they are still bounded.
static void test_sections_on_each_other(void **state) {
    World *world = *state;
    Section five[5];
    for (size_t i = 0; i < COUNT(five); i++) {
        five[i] = usual[2];
        five[i].offset = HEADER;
        five[i].len = usual[2].bytes.len;
    }
    make(&world->elf, X86_64, five, COUNT(five));
    assert_true(read_elf(world));
    assert_int_equal(world->library.schemas.len, 2);
    assert_int_equal(world->library.nodes.len, 1);
    for (size_t i = 0; i < COUNT(five); i++) five[i].len = (uint64_t)LIBRARY_MAX_DATA / 4;
    make(&world->elf, X86_64, five, COUNT(five));
    assert_refused(world, "more than 256 MB of read-only data");
}

static void read_data(World *world, const Buf *data, const char *words) {
    Section one = {".rodata", ALLOC, buf_str(data), 0, 0};
    make(&world->elf, X86_64, &one, 1);
    bool ok = read_elf(world);
    if (ok != !words) fail_msg("%s", ok ? "it was read" : world->err.text);
    if (words) assert_said(world, words);
}

static void test_more_than_any_library_has(void **state) {
    World *world = *state;
    Buf data = {0};
    for (int i = 0; i <= LIBRARY_MAX_SCHEMAS; i++) {
        buf_addf(&data, "npu_%d() -> ()", i);
        buf_add_char(&data, '\0');
    }
    read_data(world, &data, "'the library' has more schemas than any torch_npu");
    assert_int_equal(world->library.schemas.len, 0);
    buf_clear(&data);
    for (int i = 0; i <= LIBRARY_MAX_SCHEMAS; i++) {
        buf_addf(&data, "N%dBackward0", i);
        buf_add_char(&data, '\0');
    }
    read_data(world, &data, "'the library' has more schemas than any torch_npu");
    buf_free(&data);
}

// Runs of the words that are looked for, as long as no text is: each byte must
// be looked at a bounded number of times.
static void test_runs_of_one_word(void **state) {
    World *world = *state;
    static const char *const words[] = {"Backward", "->", "f(int x) -> ", "(((", "Backward0"};
    for (size_t i = 0; i < COUNT(words); i++) {
        Buf data = {0};
        while (data.len < 4 * 1024 * 1024) buf_add(&data, str_of(words[i]));
        read_data(world, &data, NULL);
        assert_int_equal(world->library.schemas.len + world->library.nodes.len, 0);
        buf_free(&data);
    }
}

static void test_backward_names(void **state) {
    World *world = *state;
    Str nodes[] = {STR("FftC2RBackward0"), STR("NpuBmmv2Backward0"), STR("NpuConv2DBackward12"),
                   STR("NpuRmsNormBackward0"), STR("NpuXBackwardBackward0")};
    Library library = {.nodes = {nodes, COUNT(nodes), COUNT(nodes)}};
    static const struct {
        const char *name;
        bool has;
    } cases[] = {
        {"npu_rms_norm", true}, {"npu_conv2d", true},       {"fft_c2r", true},
        {"npu_bmmV2", true},    {"npu_rms", false},         {"npu_rms_norm_v2", false},
        {"npu_x", false},       {"npu_x_backward", true},   {"_npu_rms_norm_", true},
        {"", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        bool has = library_has_backward(&library, &world->arena, str_of(cases[i].name));
        if (has != cases[i].has) fail_msg("%s", cases[i].name);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        CASE(test_reads_both_machines),
        CASE(test_reads_a_file),
        CASE(test_reads_without_section_names),
        CASE(test_reads_segments_of_a_stripped_one),
        CASE(test_one_that_has_nothing),
        CASE(test_cut_anywhere),
        CASE(test_headers_that_are_wrong),
        CASE(test_sections_that_are_wrong),
        CASE(test_sections_on_each_other),
        CASE(test_more_than_any_library_has),
        CASE(test_runs_of_one_word),
        CASE(test_backward_names),
#undef CASE
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
