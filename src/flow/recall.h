// recall.h - what calls of shared helpers came to, kept from file to file.
//
// Every scanned file asks the same helpers the same: is_torch_available(),
// get_logger(__name__). Such a call is read once as long as the helper's module stays
// open, where its arguments are constants or names of libraries, and where nothing
// that it read depends on who calls. Values live as long as a file, so a result is
// kept as a copy, and each call gets a copy of its own.
#ifndef NPUFUSE_RECALL_H
#define NPUFUSE_RECALL_H

#include "flow/flow.h"

typedef struct RecallEntry RecallEntry;

struct Recall {
    Arena arena; // of all that is kept; emptied when modules are dropped
    RecallEntry **slots;
    uint32_t cap, len;
    uint64_t epoch; // of the project, when it was filled
};

void recall_init(Recall *recall);
void recall_free(Recall *recall);

// One call that is read in place.
typedef struct RecallCall {
    Frame *caller;
    Val *callee;
    Val *const *args;
    uint32_t nargs;
    uint32_t depth; // functions around it
    uint32_t hash;  // 0: it is not for keeping
    // when reading began
    uint32_t taints, inlined, budget, work, effects, first_id, made, changed, written;
} RecallCall;

// The kept result, with everything that reading the call would have done; NULL if
// there is none. Then, behind recall_begin and the reading, recall_keep keeps it.
Val *recall_find(RecallCall *call);
void recall_begin(RecallCall *call);
void recall_keep(const RecallCall *call, const Val *result);

// What is being read depends on more than the call's arguments.
static inline void recall_taint(Flow *flow) {
    flow->taints++;
}
// What is made between the two is found again by whoever asks, under one name: it is
// no call's own.
uint32_t recall_made_from(const Flow *flow);
void recall_made_to(Flow *flow, uint32_t from);

#endif
