// chips.h - the limits of chips, by name or by what a profile tells of its device.
#ifndef NPUFUSE_CHIPS_H
#define NPUFUSE_CHIPS_H

#include "prof/runs.h"

// A chip by name ("910B2", "Ascend910_9382"); false if the table does not have it.
bool chip_find(ProfChip *out, const char *name);
// The chip that has so many cores of the matrix unit at that clock; false if the table
// has none.
bool chip_guess(ProfChip *out, uint32_t cores, double mhz);
// Half precision operations a microsecond of so many cores.
double chip_peak(double cores, double mhz);
// "910A, 910B1, ..." for messages.
const char *chip_names(void);

#endif
