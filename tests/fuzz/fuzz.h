// fuzz.h - what every fuzz target defines.
#ifndef NPUFUSE_FUZZ_H
#define NPUFUSE_FUZZ_H

#include <stddef.h>
#include <stdint.h>

// Feeds one input to the code under test; returns 0. What is wrong aborts.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
