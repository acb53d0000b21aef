// chips.c - the table of chips. The peak is computed: in a cycle a core multiplies and
// adds 16 x 16 x 16 numbers of half precision (cube_m_size, cube_n_size, cube_k_size of
// CANN's platform_config/<chip>.ini). Where each number is from stands beside it and in
// docs/profile.md; --bandwidth and --peak override them.
#include "base/base.h"

#include "prof/chips.h"

#include <math.h>

static const struct {
    const char *name;
    double cores, mhz, gb_per_s;
} chips[] = {
    // 32 cores and 256 TFLOP/s are published, which gives the clock; HBM2 as published.
    {"910A", 32, 1000, 1200},
    // Cores and clock: Ascend910B1.ini. Memory: four stacks of HBM2e, as commonly given.
    {"910B1", 24, 1850, 1600},
    {"910B2", 24, 1800, 1600}, // Ascend910B2.ini
    // Cores: Ascend910B3.ini. The clock is that of the 910B2: not confirmed.
    {"910B3", 20, 1800, 1600},
    // Ascend910B4.ini. Half the memory (32 GB) of the others: half of its bandwidth.
    {"910B4", 20, 1500, 800},
    // One of the two dies of a 910C: Ascend910_9382.ini; 9391 has 1850 MHz.
    {"910_93", 24, 1800, 1600},
    // 8 cores, 70 TFLOP/s and 204.8 GB/s of the Atlas 300I Pro, which gives the clock.
    {"310P", 8, 1080, 204.8},
};

double chip_peak(double cores, double mhz) {
    return cores * 2 * 16 * 16 * 16 * mhz;
}

static void take(ProfChip *out, size_t index) {
    out->name = str_of(chips[index].name);
    out->bytes_per_us = chips[index].gb_per_s * 1e3;
    out->flops_per_us = chip_peak(chips[index].cores, chips[index].mhz);
}

// A product's own mark behind the chip's name: 910B2C, 910B4-1, 910_9382.
static bool is_mark(Str rest) {
    if (!rest.len || str_is(rest, "C")) return true;
    if (rest.at[0] == '-') rest = (Str){rest.at + 1, rest.len - 1};
    for (size_t i = 0; i < rest.len; i++) {
        if (rest.at[i] < '0' || rest.at[i] > '9') return false;
    }
    return rest.len > 0;
}

bool chip_find(ProfChip *out, const char *name) {
    Str wanted = str_of(name);
    if (str_starts(wanted, "Ascend")) wanted = (Str){wanted.at + 6, wanted.len - 6};
    while (wanted.len && wanted.at[0] == ' ') wanted = (Str){wanted.at + 1, wanted.len - 1};
    for (size_t i = 0; i < COUNT(chips); i++) {
        size_t len = strlen(chips[i].name);
        if (!str_starts(wanted, chips[i].name)) continue;
        if (!is_mark((Str){wanted.at + len, wanted.len - len})) continue;
        take(out, i);
        return true;
    }
    return false;
}

bool chip_guess(ProfChip *out, uint32_t cores, double mhz) {
    for (size_t i = 0; i < COUNT(chips); i++) {
        bool same = fabs(chips[i].cores - cores) < 0.5 && fabs(chips[i].mhz - mhz) < 1;
        if (!same) continue;
        take(out, i);
        return true;
    }
    return false;
}

const char *chip_names(void) {
    return "910A, 910B1, 910B2, 910B3, 910B4, 910_93, 310P";
}
