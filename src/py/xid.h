// xid.h - which characters may make up a name.
#ifndef NPUFUSE_XID_H
#define NPUFUSE_XID_H

#include "base/base.h"

// Is this UTF-8 text a Python identifier? `text` is not empty.
bool xid_is_name(Str text);

#endif
