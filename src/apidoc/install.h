// install.h - the torch_npu that is installed, found by looking at files.
//
// Python is never started and nothing is imported: a torch_npu without its NPU
// cannot be, and what an import runs is not ours to run.
#ifndef NPUFUSE_INSTALL_H
#define NPUFUSE_INSTALL_H

#include "apidoc/docs.h"

typedef struct Install {
    const char *docs;    // _op_plugin_docs.py, or NULL
    const char *library; // libtorch_npu.so, or NULL
    const char *wheel;   // a .whl that holds both, or NULL
    const char *pages;   // a folder of Markdown pages, or NULL
    Str root;            // what was found, as shown: a folder or a file
    Str version;         // "2.13.0"; empty: unknown
    VEC(Str) searched;   // folders that were looked into, where none was found
} Install;

// What `path` names: a `_op_plugin_docs.py`, a wheel, a shared library, an
// unpacked torch_npu (the folder itself or the one that holds it), or a folder
// of Markdown pages. Fails, saying what it is not, on anything else.
MUST_CHECK bool install_at(Install *out, Arena *arena, const char *path, Err *err);
// The first of the folders that holds a torch_npu. Fails where none does;
// out->searched has them all then.
MUST_CHECK bool install_find(Install *out, Arena *arena, const Str *folders,
                             uint32_t count, Err *err);
// The texts of the installation. Fails, saying why, where it has none.
MUST_CHECK bool install_docs(Docs *out, Arena *arena, const Install *install, Err *err);

#endif
