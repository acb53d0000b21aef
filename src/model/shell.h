// shell.h - command lines to be copied into a POSIX shell.
#ifndef NPUFUSE_SHELL_H
#define NPUFUSE_SHELL_H

#include "base/buf.h"

// The word as the shell reads it back, in single quotes where it needs them.
void shell_add_word(Buf *out, Str word);

#endif
