// release.h - inner values that are returned beside the result, to callers
// who can do without them.
#ifndef NPUFUSE_RELEASE_H
#define NPUFUSE_RELEASE_H

#include "match/place.h"

// Whether the attention weights in `bind` are read by statements that are left
// out and, for others, only by a return where None is allowed in their place.
bool place_may_release(const Place *place, const Bind *bind);
// Whether only statements that are left out read it.
bool place_bind_is_private(const Place *place, const Bind *bind);
// Notes the names through which a statement that is left out gives its value on.
void place_note_released(Place *place, const StmtInfo *stmt);

#endif
