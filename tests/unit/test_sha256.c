// Vectors of FIPS 180-4's examples and of its padding's edges (lengths 55, 56,
// 63, 64; computed with Python's hashlib).
#include "base/base.h"

#include "base/sha256.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static void known_vectors(void **state) {
    (void)state;
    static const struct {
        const char *text, *hex;
    } rows[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char hex[SHA256_HEX + 1];
        sha256_hex(hex, str_of(rows[i].text));
        assert_string_equal(hex, rows[i].hex);
    }
}

static void padding_edges(void **state) {
    (void)state;
    static const struct {
        size_t len;
        const char *hex; // of that many 'x'
    } rows[] = {
        {55, "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072"},
        {56, "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e"},
        {63, "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2"},
        {64, "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c"},
        {65, "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9"},
        {1000, "44f8354494a5ba03ba1792a8d3e9c534c47a9181980fde7a3f44b06ef2ae7c7f"},
    };
    char text[1001];
    memset(text, 'x', sizeof(text));
    for (size_t i = 0; i < COUNT(rows); i++) {
        char whole[SHA256_HEX + 1], pieces[SHA256_HEX + 1];
        sha256_hex(whole, (Str){text, rows[i].len});
        assert_string_equal(whole, rows[i].hex);
        Sha256 hash;
        sha256_init(&hash);
        for (size_t at = 0, n = 1; at < rows[i].len; at += n, n = n % 7 + 1) {
            if (n > rows[i].len - at) n = rows[i].len - at;
            sha256_add(&hash, (Str){text + at, n});
        }
        sha256_end(&hash, pieces);
        assert_string_equal(pieces, rows[i].hex);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_vectors),
        cmocka_unit_test(padding_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
