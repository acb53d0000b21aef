// mocked.h - operators that a test puts something else in place of.
#ifndef NPUFUSE_MOCKED_H
#define NPUFUSE_MOCKED_H

#include "py/project.h"

typedef struct Mocked {
    VEC(Str) names; // last part of what is replaced: "npu_rms_norm"
    bool all;       // torch_npu itself is
} Mocked;

// What the module replaces: patch("a.torch_npu.npu_x"), patch.object(torch_npu, "npu_x"),
// monkeypatch.setattr(torch_npu, "npu_x", f), sys.modules["torch_npu"] = m.
void mocked_read(Mocked *out, Arena *arena, const Module *m);
bool mocked_has(const Mocked *mocked, Str name);

#endif
