// Zip files: what they hold, and every way in which they lie about it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#include "base/buf.h"
#include "base/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINES = 20 };

static const uint32_t crc_of_lines = 2832050564, crc_of_stored = 263127477;

// LINES times `line`, deflated.
static const char line[] = "npu_x(Tensor input) -> Tensor\n";
static const char deflated[] =
    "\313\053\050\215\257\320\010\111\315\053\316\057\122\310\314\053\050\055\321\124"
    "\320\265\123\200\010\160\345\215\312\216\312\222\045\013\000";

typedef struct World {
    Arena arena;
    char path[64];
    Zip zip;
    Err err;
} World;

static int setup(void **state) {
    World *world = calloc(1, sizeof(*world));
    if (!world) return -1;
    arena_init(&world->arena);
    world->zip.fd = -1;
    snprintf(world->path, sizeof(world->path), "/tmp/npufuse-zip-XXXXXX");
    *state = world;
    int fd = mkstemp(world->path);
    if (fd < 0) return -1;
    return close(fd);
}

static int teardown(void **state) {
    World *world = *state;
    zip_close(&world->zip);
    arena_free(&world->arena);
    int code = unlink(world->path);
    free(world);
    return code;
}

// ---- making zip files -----------------------------------------------------------

// A member as its two headers tell of it.
typedef struct Made {
    const char *name, *local_name; // local_name NULL: the same
    Str packed;
    uint64_t bytes;
    uint32_t crc;
    uint16_t method, local_method, flags;
    uint16_t local_extra; // bytes of a field that says nothing
    bool wide;            // sizes and offset as zip64
    uint64_t offset, packed_bytes; // 0: the true ones
} Made;

static void put(Buf *out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) buf_add_char(out, (char)(i < 8 ? value >> 8 * i & 0xff : 0));
}

static void put_local(Buf *out, const Made *made) {
    Str name = str_of(made->local_name ? made->local_name : made->name);
    buf_add(out, STR("PK\3\4"));
    put(out, 20, 2);
    put(out, made->flags, 2);
    put(out, made->local_method, 2);
    put(out, 0, 4);
    put(out, made->crc, 4);
    put(out, made->packed.len, 4);
    put(out, made->bytes, 4);
    put(out, name.len, 2);
    put(out, made->local_extra, 2);
    buf_add(out, name);
    for (int i = 0; i < made->local_extra; i++) buf_add_char(out, '\0');
    buf_add(out, made->packed);
}

static void put_entry(Buf *out, const Made *made, uint64_t offset) {
    uint64_t packed = made->packed_bytes ? made->packed_bytes : made->packed.len;
    bool wide = made->wide;
    if (made->offset) offset = made->offset;
    buf_add(out, STR("PK\1\2"));
    put(out, 20, 2);
    put(out, 20, 2);
    put(out, made->flags, 2);
    put(out, made->method, 2);
    put(out, 0, 4);
    put(out, made->crc, 4);
    put(out, wide ? UINT32_MAX : packed, 4);
    put(out, wide ? UINT32_MAX : made->bytes, 4);
    put(out, strlen(made->name), 2);
    put(out, wide ? 28 : 0, 2);
    put(out, 0, 10); // note, disk, attributes
    put(out, wide ? UINT32_MAX : offset, 4);
    buf_add(out, str_of(made->name));
    if (!wide) return;
    put(out, 1, 2);
    put(out, 24, 2);
    put(out, made->bytes, 8);
    put(out, packed, 8);
    put(out, offset, 8);
}

static void put_end(Buf *out, uint64_t count, uint64_t bytes, uint64_t offset) {
    buf_add(out, STR("PK\5\6"));
    put(out, 0, 4);
    put(out, count, 2);
    put(out, count, 2);
    put(out, bytes, 4);
    put(out, offset, 4);
    put(out, 0, 2);
}

// The zip64 records, and an end that only points to them.
static void put_wide_end(Buf *out, uint64_t count, uint64_t bytes, uint64_t offset) {
    uint64_t record = out->len;
    buf_add(out, STR("PK\6\6"));
    put(out, 44, 8);
    put(out, 45, 4);
    put(out, 0, 8);
    put(out, count, 8);
    put(out, count, 8);
    put(out, bytes, 8);
    put(out, offset, 8);
    buf_add(out, STR("PK\6\7"));
    put(out, 0, 4);
    put(out, record, 8);
    put(out, 1, 4);
    put_end(out, UINT16_MAX, UINT32_MAX, UINT32_MAX);
}

static void make(Buf *out, const Made *made, size_t count) {
    uint64_t offsets[8];
    for (size_t i = 0; i < count; i++) {
        offsets[i] = out->len;
        put_local(out, &made[i]);
    }
    uint64_t start = out->len;
    for (size_t i = 0; i < count; i++) put_entry(out, &made[i], offsets[i]);
    uint64_t bytes = out->len - start;
    if (made[0].wide) put_wide_end(out, count, bytes, start);
    else put_end(out, count, bytes, start);
}

static Made deflated_member(const char *name) {
    return (Made){.name = name, .packed = {deflated, sizeof(deflated) - 1},
                  .bytes = LINES * (sizeof(line) - 1), .crc = crc_of_lines, .method = 8,
                  .local_method = 8};
}

static Made stored_member(const char *name) {
    return (Made){.name = name, .packed = STR("stored text"), .bytes = 11,
                  .crc = crc_of_stored};
}

// ---- reading them ---------------------------------------------------------------

static void write_bytes(World *world, Str bytes) {
    FILE *file = fopen(world->path, "wb");
    if (!file) fail();
    assert_int_equal(fwrite(bytes.at, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

static bool open_bytes(World *world, Str bytes) {
    write_bytes(world, bytes);
    zip_close(&world->zip);
    return zip_open(&world->zip, &world->arena, world->path, &world->err);
}

static bool open_made(World *world, const Made *made, size_t count) {
    Buf bytes = {0};
    make(&bytes, made, count);
    bool ok = open_bytes(world, buf_str(&bytes));
    buf_free(&bytes);
    return ok;
}

static void assert_said(World *world, const char *words) {
    if (!strstr(world->err.text, words)) fail_msg("'%s' is not in: %s", words, world->err.text);
}

static void assert_refused(World *world, const Made *made, size_t count, const char *words) {
    assert_false(open_made(world, made, count));
    assert_said(world, words);
}

static void assert_unreadable(World *world, const Made *made, uint64_t max, const char *words) {
    Str bytes;
    if (!open_made(world, made, 1)) fail_msg("%s", world->err.text);
    assert_false(zip_read(&bytes, &world->zip, &world->zip.members.at[0], max, &world->err));
    assert_said(world, words);
    assert_null(bytes.at);
}

static void assert_lines(World *world, const char *name) {
    Str bytes;
    const ZipMember *member = zip_find(&world->zip, name);
    assert_non_null(member);
    bool ok = zip_read(&bytes, &world->zip, member, 600, &world->err);
    if (!ok) fail_msg("%s", world->err.text);
    assert_int_equal(bytes.len, LINES * (sizeof(line) - 1));
    for (size_t i = 0; i < LINES; i++) {
        assert_memory_equal(bytes.at + i * (sizeof(line) - 1), line, sizeof(line) - 1);
    }
    assert_int_equal(bytes.at[bytes.len], '\0');
    zip_free(&bytes);
}

static void test_reads_members(void **state) {
    World *world = *state;
    Str bytes;
    Made made[] = {stored_member("a/b.txt"), deflated_member("../../etc/x"),
                   deflated_member("lib.so")};
    if (!open_made(world, made, 3)) fail_msg("%s", world->err.text);
    assert_int_equal(world->zip.members.len, 3);
    assert_lines(world, "lib.so");
    assert_lines(world, "../../etc/x"); // a name, and nothing else
    assert_null(zip_find(&world->zip, "b.txt"));
    const ZipMember *stored = zip_find(&world->zip, "a/b.txt");
    assert_true(zip_read(&bytes, &world->zip, stored, 11, &world->err));
    assert_string_equal(bytes.at, "stored text");
    zip_free(&bytes);
}

// Of two members with one name the later counts, as for whoever unpacks both.
static void test_two_of_one_name(void **state) {
    World *world = *state;
    Made made[] = {stored_member("x"), deflated_member("x")};
    if (!open_made(world, made, 2)) fail_msg("%s", world->err.text);
    assert_lines(world, "x");
}

static void test_reads_zip64(void **state) {
    World *world = *state;
    Made made[] = {deflated_member("x"), deflated_member("y")};
    made[0].wide = made[1].wide = true;
    if (!open_made(world, made, 2)) fail_msg("%s", world->err.text);
    assert_lines(world, "x");
    assert_lines(world, "y");
}

static void test_reads_one_without_members(void **state) {
    World *world = *state;
    Buf bytes = {0};
    put_end(&bytes, 0, 0, 0);
    assert_true(open_bytes(world, buf_str(&bytes)));
    assert_int_equal(world->zip.members.len, 0);
    buf_free(&bytes);
}

static void test_local_extra_fields_are_passed_over(void **state) {
    World *world = *state;
    Made made = deflated_member("x");
    made.local_extra = 300;
    if (!open_made(world, &made, 1)) fail_msg("%s", world->err.text);
    assert_lines(world, "x");
}

static void test_is_refused_cut_anywhere(void **state) {
    World *world = *state;
    Made made[] = {stored_member("a"), deflated_member("b")};
    for (int wide = 0; wide < 2; wide++) {
        Buf bytes = {0};
        made[0].wide = made[1].wide = wide;
        make(&bytes, made, 2);
        for (size_t n = 0; n < bytes.len; n++) {
            assert_false(open_bytes(world, (Str){bytes.at, n}));
            assert_said(world, "is no whole zip file");
        }
        assert_true(open_bytes(world, buf_str(&bytes)));
        buf_add_char(&bytes, 'x');
        assert_false(open_bytes(world, buf_str(&bytes)));
        buf_free(&bytes);
    }
}

static void test_what_is_no_file(void **state) {
    World *world = *state;
    assert_false(zip_open(&world->zip, &world->arena, "/nowhere/x.whl", &world->err));
    assert_said(world, "cannot read '/nowhere/x.whl'");
    assert_false(zip_open(&world->zip, &world->arena, "/", &world->err));
    assert_said(world, "is no regular file");
}

static void test_members_on_each_other(void **state) {
    World *world = *state;
    Made made[] = {deflated_member("a"), deflated_member("b")};
    made[1].offset = 1;
    assert_refused(world, made, 2, "members lie on each other");
    made[1] = deflated_member("b");
    made[0].packed_bytes = made[0].packed.len + 1;
    assert_refused(world, made, 2, "members lie on each other");
    made[0].packed_bytes = UINT64_MAX;
    made[0].wide = made[1].wide = true;
    assert_refused(world, made, 2, "members lie on each other");
    made[0] = deflated_member("a");
    made[1].offset = UINT64_MAX - 3;
    made[0].wide = true;
    assert_refused(world, made, 2, "members lie on each other");
}

// The directory's length of a member is right, but the header in front of it
// moves its start into the next one.
static void test_a_start_in_the_next_member(void **state) {
    World *world = *state;
    Str bytes;
    Made made[] = {deflated_member("a"), deflated_member("b")};
    Buf text = {0};
    make(&text, made, 2);
    text.at[28] = 20; // the length of a's extra field
    if (!open_bytes(world, buf_str(&text))) fail_msg("%s", world->err.text);
    assert_false(zip_read(&bytes, &world->zip, &world->zip.members.at[0], 600, &world->err));
    assert_said(world, "'a' in '/tmp/npufuse-zip-");
    assert_said(world, "lies on the next one");
    buf_free(&text);
}

static void test_sizes_above_the_limit(void **state) {
    World *world = *state;
    Made made = deflated_member("x");
    assert_unreadable(world, &made, 599, "at most 0 MB are read");
    made.bytes = UINT64_C(1) << 60;
    made.wide = true;
    assert_unreadable(world, &made, 1 << 30, "at most 1024 MB are read");
    assert_unreadable(world, &made, UINT64_MAX, "cannot have the size");
}

static void test_sizes_that_are_not_true(void **state) {
    World *world = *state;
    Made made = deflated_member("x");
    made.bytes = 599; // a bomb: more comes out than was promised
    assert_unreadable(world, &made, 4096, "not of the size that the directory says");
    made.bytes = 601;
    assert_unreadable(world, &made, 4096, "not of the size that the directory says");
    made = stored_member("x");
    made.bytes = 12;
    assert_unreadable(world, &made, 4096, "has two sizes");
}

static void test_damage(void **state) {
    World *world = *state;
    Made made = deflated_member("x");
    made.crc ^= 1;
    assert_unreadable(world, &made, 4096, "its CRC differs");
    made = deflated_member("x");
    made.packed = STR("\xff\xff\xff\xff");
    assert_unreadable(world, &made, 4096, "is damaged");
    made = deflated_member("x");
    made.flags = 1;
    assert_unreadable(world, &made, 4096, "is encrypted");
    made = deflated_member("x");
    made.method = made.local_method = 12;
    assert_unreadable(world, &made, 4096, "is packed in a way that is not known");
}

static void test_headers_of_two_members(void **state) {
    World *world = *state;
    Made made = deflated_member("x");
    made.local_name = "y";
    assert_unreadable(world, &made, 4096, "has a header of another member");
    made.local_name = "xy";
    assert_unreadable(world, &made, 4096, "has a header of another member");
    made = deflated_member("x");
    made.local_method = 0;
    assert_unreadable(world, &made, 4096, "has a header of another member");
}

// The end says how many entries there are and how long they are; each is taken
// at its word by somebody.
static void test_directories_that_lie(void **state) {
    World *world = *state;
    static const struct {
        uint64_t count, bytes, offset;
        const char *words;
    } cases[] = {
        {2, 47, 0, "is cut"},       {1, 47, 60, "is cut"},  {1, 0, 0, "is cut"},
        {1, 46, 1, "is damaged"},   {0xfffe, 1000, 0, "is cut"},
        {1, 0xfffffff0, 0, "too large"}, {0xfffe, 0x3ffffff, 0, "is cut"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        Buf bytes = {0};
        Made made = stored_member("x");
        put_entry(&bytes, &made, 0);
        put_end(&bytes, cases[i].count, cases[i].bytes, cases[i].offset);
        assert_false(open_bytes(world, buf_str(&bytes)));
        assert_said(world, cases[i].words);
        buf_free(&bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        CASE(test_reads_members),
        CASE(test_two_of_one_name),
        CASE(test_reads_zip64),
        CASE(test_reads_one_without_members),
        CASE(test_local_extra_fields_are_passed_over),
        CASE(test_is_refused_cut_anywhere),
        CASE(test_what_is_no_file),
        CASE(test_members_on_each_other),
        CASE(test_a_start_in_the_next_member),
        CASE(test_sizes_above_the_limit),
        CASE(test_sizes_that_are_not_true),
        CASE(test_damage),
        CASE(test_headers_of_two_members),
        CASE(test_directories_that_lie),
#undef CASE
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
