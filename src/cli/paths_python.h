// paths_python.h - where Python would find a module, without running Python.
#ifndef NPUFUSE_PATHS_PYTHON_H
#define NPUFUSE_PATHS_PYTHON_H

#include "base/arena.h"
#include "base/err.h"

typedef VEC(Str) FolderVec;

// The command of a Python: `named` (a path or a name on PATH), or if that is NULL
// the one of VIRTUAL_ENV, else python3 or python on PATH. NULL if there is none.
const char *python_find(Arena *arena, const char *named);

// The folder of npufuse's sitecustomize.py in this installation; the package
// npufuse is the folder above it.
MUST_CHECK bool python_find_hook(Str *out, Arena *arena, Err *err);

// The folders of an import, in order: the current folder, PYTHONPATH, then
// the site-packages of `python` (a path or a name on PATH) or, if it is NULL,
// of VIRTUAL_ENV, of CONDA_PREFIX and of the first python3 on PATH; with the
// folders that their .pth files name. Only folders that exist.
MUST_CHECK bool python_search_folders(FolderVec *out, Arena *arena,
                                      const char *python, Err *err);

typedef struct ModulePlace {
    char *path; // the package's folder or the module's file; NULL: not found
    Str folder; // the entry of the search that holds it
} ModulePlace;

// Whether `text` may be a dotted module name.
bool python_is_dotted_name(Str text);
ModulePlace python_find_module(Arena *arena, const FolderVec *folders,
                               Str dotted);

#endif
