// overlay.h - a copy of the user's project to run in, with edits, that costs
// little: Python files are real copies, all else is linked.
//
// Why copies: Python puts the real folder of a script in front of its search
// path, so a linked script would import the unedited project.
#ifndef NPUFUSE_OVERLAY_H
#define NPUFUSE_OVERLAY_H

#include "base/arena.h"
#include "base/err.h"
#include "base/sha256.h"

typedef struct OverlayEdit {
    Str file; // seen from the prefix
    Str text; // the whole file as it is in this overlay
} OverlayEdit;

typedef struct OverlaySpec {
    const char *root; // real path of the folder to copy
    Str prefix;       // of the files below, seen from the root: "" or "models"
    const char *tree; // where the overlay is made; one that is there is replaced
    const char *work; // real path of our work folder: left out; may be NULL
    const OverlayEdit *edits;
    uint32_t edit_count;
    const Str *files; // the candidates' files: their import roots are needed
    uint32_t file_count;
} OverlaySpec;

typedef struct Overlay {
    const char *root, *tree;
    Str prefix;
    const char *folder; // the current folder as seen in the overlay
    char digest[SHA256_HEX + 1]; // of the names and bytes of all that was copied
    VEC(const char *) import_roots; // in the overlay, without doubles
} Overlay;

// Makes the overlay; everything lives in `arena`.
MUST_CHECK bool overlay_make(Overlay *out, Arena *arena, const OverlaySpec *spec, Err *err);
// `path` as seen in the overlay: unchanged unless it lies below the root and
// the overlay has it.
const char *overlay_path(const Overlay *overlay, Arena *arena, const char *path);
// A candidate's file, seen from the root.
Str overlay_file(const Overlay *overlay, Arena *arena, Str file);
// A word of a command as the overlay sees it: a path below the root becomes one
// in the overlay, and a path like "../data" is made absolute. "--name=PATH" too.
const char *overlay_word(const Overlay *overlay, Arena *arena, const char *word);
// PYTHONPATH of a run: `first`, the import roots, and the present value with
// what lies below the root seen in the overlay.
Str overlay_python_path(const Overlay *overlay, Arena *arena, Str first);

#endif
