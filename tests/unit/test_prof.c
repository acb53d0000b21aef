// The small readers of a profile: numbers, cells, tensors, spellings of types.
#include "base/base.h"

#include "prof/cells.h"
#include "prof/decimal.h"
#include "prof/opclass.h"
#include "prof/tensors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

static void reads_times_without_rounding(void **state) {
    static const struct {
        const char *text;
        DecimalAnswer answer;
        uint64_t value;
    } cases[] = {
        {"1717575960208020.758", DECIMAL_OK, 1717575960208020758},
        {"1717575960208020.758\t", DECIMAL_OK, 1717575960208020758},
        {"\"1736413971411629.128\t\"", DECIMAL_OK, 1736413971411629128},
        {"4", DECIMAL_OK, 4000}, {"4.1", DECIMAL_OK, 4100}, {"0", DECIMAL_OK, 0},
        {"12345678", DECIMAL_OK, 12345678000}, {"87654321.987", DECIMAL_OK, 87654321987},
        {"1234567/", DECIMAL_NONE, 0}, {"1234567:", DECIMAL_NONE, 0},
        {".5", DECIMAL_OK, 500}, {"4.0004", DECIMAL_OK, 4000}, {"4.0005", DECIMAL_OK, 4001},
        {"4,25", DECIMAL_OK, 4250}, {"+4.1", DECIMAL_OK, 4100},
        {"1.7176E+15", DECIMAL_ROUNDED, 1717600000000000000}, {"25e-1", DECIMAL_ROUNDED, 2500},
        {"-4.1", DECIMAL_NEGATIVE, 0}, {"-0", DECIMAL_OK, 0},
        {"", DECIMAL_NONE, 0}, {"N/A", DECIMAL_NONE, 0}, {"12x", DECIMAL_NONE, 0},
        {".", DECIMAL_NONE, 0}, {"1e", DECIMAL_NONE, 0}, {"1e99", DECIMAL_NONE, 0},
        {"99999999999999999999999", DECIMAL_RANGE, 0},
        {"18446744073709551615", DECIMAL_RANGE, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t value = 0;
        DecimalAnswer answer = decimal_read(&value, str_of(cases[i].text), 3);
        if (answer != cases[i].answer) print_message("'%s'\n", cases[i].text);
        assert_int_equal(answer, cases[i].answer);
        if (answer == DECIMAL_OK || answer == DECIMAL_ROUNDED) {
            assert_int_equal(value, cases[i].value);
        }
    }
}

static void split(Cells *cells, char *line, size_t size, const char *text) {
    memset(line, 'x', size); // what is behind a line has no say
    memcpy(line, text, strlen(text));
    cells_split(cells, (Str){line, strlen(text)}, ',');
}

static void splits_cells_outside_of_quotes(void **state) {
    char line[512];
    Cells cells;
    (void)state;
    split(&cells, line, sizeof(line), "a,,\"\"\"1,2;3\"\"\",b\t");
    assert_int_equal(cells.count, 4);
    assert_false(cells.quote_open);
    Str whole = {line, cells.end[3]};
    assert_true(str_is(cells_text(&cells, whole, 0), "a"));
    assert_true(str_is(cells_text(&cells, whole, 1), ""));
    assert_true(str_is(cells_text(&cells, whole, 2), "1,2;3"));
    assert_true(str_is(cells_text(&cells, whole, 3), "b"));
    split(&cells, line, sizeof(line), "a,\"\"\"1,2");
    assert_true(cells.quote_open);
    assert_int_equal(cells.count, 2);
}

static bool split_first(Cells *cells, char *line, size_t size, const char *text) {
    bool whole;
    memset(line, ',', size);
    memcpy(line, text, strlen(text));
    cells_split_first(cells, (Str){line, strlen(text)}, ',', 3, &whole);
    return whole;
}

// The first cells of a line are told apart; a quote behind them takes all of it apart.
static void splits_the_first_cells(void **state) {
    char line[512], text[256], quoted[256];
    Cells cells;
    (void)state;
    assert_true(split_first(&cells, line, sizeof(line), "a,b,c,d"));
    assert_int_equal(cells.count, 4);
    snprintf(text, sizeof(text), "a,\"b,b\",c,d,%0100d,e,f", 1);
    assert_false(split_first(&cells, line, sizeof(line), text));
    assert_int_equal(cells.count, 5); // with what is behind the block of 64 bytes
    assert_int_equal(cells.end[0], 1);
    assert_int_equal(cells.end[1], 7);
    assert_int_equal(cells.end[2], 9);
    assert_int_equal(cells.end[4], strlen(text));
    snprintf(quoted, sizeof(quoted), "%s,\"g", text);
    assert_true(split_first(&cells, line, sizeof(line), quoted));
    assert_true(cells.quote_open);
    assert_int_equal(cells.count, 8);
}

// A quote may begin in one block of 64 bytes and end in the next.
static void splits_across_blocks(void **state) {
    char line[512], text[256];
    Cells cells;
    (void)state;
    for (int before = 50; before < 140; before++) {
        snprintf(text, sizeof(text), "%.*s,\"x,y\",z", before,
                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        split(&cells, line, sizeof(line), text);
        assert_int_equal(cells.count, 3);
        assert_int_equal(cells.end[0], before);
        assert_int_equal(cells.end[1], before + 6);
    }
}

static const CellSpan followed_spans[] = {{2, 3}, {6, 6}};
static const uint16_t followed_lengths[] = {7, 9};
static const CellsGuess expected = {followed_spans, followed_lengths, "Mul,AIV\"4,2;4,2\"", 2, 8};

// What is taken as expected is what the slow way finds.
static bool follows(char *text, size_t len) {
    Cells quick, slow;
    size_t line;
    if (!cells_follow(&quick, &line, (Str){text, len}, ',', &expected)) return false;
    const char *newline = memchr(text, '\n', len);
    assert_int_equal(line, newline ? (size_t)(newline - text) : len);
    cells_split(&slow, (Str){text, line}, ',');
    assert_false(slow.quote_open);
    assert_true(slow.count >= 8);
    static const int checked[] = {0, 1, 3, 4, 5, 6, 7};
    for (size_t i = 0; i < COUNT(checked); i++) {
        assert_int_equal(quick.end[checked[i]], slow.end[checked[i]]);
    }
    assert_memory_equal(text + slow.end[1] + 1, "Mul,AIV,", 8);
    return true;
}

static void follows_what_is_expected(void **state) {
    static const char marks[] = ",\"\n\rx\0";
    const char *line = "1,17,Mul,AIV,1750000000000000.123\t,2.5,\"4,2;4,2\",0.5,0,0,0,0,0,0,0,0,0,0,"
                       "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0\n2,18,";
    char text[512];
    size_t len = strlen(line);
    uint32_t taken = 0;
    (void)state;
    memset(text, ',', sizeof(text));
    memcpy(text, line, len);
    assert_true(follows(text, len));
    assert_true(follows(text, len - 7)); // a last line has no end
    for (size_t cut = 0; cut < 52; cut++) assert_false(follows(text, cut));
    for (size_t at = 0; at < len; at++) {
        for (size_t m = 0; m + 1 < sizeof(marks); m++) {
            text[at] = marks[m];
            taken += follows(text, len);
            text[at] = line[at];
        }
    }
    assert_in_range(taken, 300, 700);
}

static void reads_tensors(void **state) {
    Arena arena;
    uint8_t count;
    (void)state;
    arena_init(&arena);
    TensorCells cells = {STR("4,1025;[2,3];;128,4,16,16"), STR("DT_BF16;float;INT64;FLOAT16"),
                         STR("ND;ND;ND;FRACTAL_NZ")};
    ProfTensor *t = tensors_read(&count, &arena, &cells);
    assert_int_equal(count, 4);
    assert_int_equal(t[0].count, 4100);
    assert_int_equal(t[0].dtype, DT_BF16);
    assert_int_equal(prof_tensor_bytes(&t[0]), 8200);
    assert_int_equal(t[1].rank, 2);
    assert_int_equal(t[1].dtype, DT_FP32);
    assert_int_equal(t[2].count, 1); // a scalar
    assert_false(t[2].is_absent);
    assert_int_equal(t[3].rank, 2);
    assert_int_equal(t[3].dims[0], 64);
    assert_int_equal(t[3].dims[1], 2048);
    assert_null(tensors_read(&count, &arena, &(TensorCells){STR("N/A"), STR("N/A"), STR("N/A")}));
    assert_int_equal(count, 0);
    arena_free(&arena);
}

static void folds_spellings(void **state) {
    static const struct {
        const char *type;
        ProfOp op;
    } cases[] = {
        {"MatMulV3", OP_MATMUL}, {"BatchMatMulV2", OP_MATMUL}, {"StridedSliceD", OP_SLICE},
        {"SplitVD", OP_SPLIT}, {"ConcatV2D", OP_CONCAT}, {"ReduceMeanD", OP_MEAN},
        {"SoftmaxV2", OP_SOFTMAX}, {"Muls", OP_MUL}, {"Silu", OP_SWISH}, {"Pow", OP_POW},
        {"PowTensorTensor", OP_POW}, {"Square", OP_SQUARE}, {"SquareSumV1", OP_SQUARE_SUM},
        {"SoftmaxV2Grad", OP_SOFTMAX_GRAD}, {"SoftmaxGradExt", OP_SOFTMAX_GRAD},
        {"MaskedFillScalar", OP_MASKED_FILL}, {"InplaceMaskedFillTensor", OP_MASKED_FILL},
        {"InplaceAdd", OP_ADD}, {"TransposeV2", OP_TRANSPOSE}, {"Inplace", OP_OTHER},
        {"ForeachAddcdivScalarList", (ProfOp)(OP_FOREACH | OP_ADDCDIV)},
        {"ForeachMulListInplace", (ProfOp)(OP_FOREACH | OP_MUL)}, {"ForeachX", OP_OTHER},
        {"SelectV2", OP_SELECT}, {"IndexPutV2", OP_INDEX_PUT}, {"RmsNorm", OP_RMS_NORM},
        {"Mulberry", OP_OTHER}, {"", OP_OTHER}, {"D", OP_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(opclass_find(str_of(cases[i].type)), cases[i].op);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_times_without_rounding),
        cmocka_unit_test(splits_cells_outside_of_quotes),
        cmocka_unit_test(splits_the_first_cells),
        cmocka_unit_test(splits_across_blocks),
        cmocka_unit_test(follows_what_is_expected),
        cmocka_unit_test(reads_tensors),
        cmocka_unit_test(folds_spellings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
