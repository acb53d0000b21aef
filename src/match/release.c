// release.c - who reads the weights, and whether None would do.
#include "base/base.h"

#include "match/release.h"

#include "match/frame_index.h"
#include "match/optional.h"
#include "match/sizes.h"

// The place in the returned tuple at which the value stands, or -1.
static int returned_at(const Frame *f, const Node *stmt, const Val *v) {
    if (stmt->kind != N_RETURN) return -1;
    for (uint32_t i = 0; i < f->returns.len; i++) {
        const ReturnRecord *r = &f->returns.at[i];
        if (r->stmt != stmt || r->val->op != V_TUPLE) continue;
        for (uint32_t k = 1; k < r->val->nargs; k++) {
            if (r->val->args[k] == v) return (int)k;
        }
    }
    return -1;
}

static bool is_weights(const Match *m, const Val *v) {
    for (uint32_t i = 0; m->attend && i < m->attend->weights.len; i++) {
        if (m->attend->weights.at[i] == v) return true;
    }
    return false;
}

bool place_may_release(const Place *p, const Bind *bind) {
    if (bind->escaped || !bind->val || !is_weights(p->match, bind->val)) return false;
    for (uint32_t i = 0; i < bind->users.len; i++) {
        const Node *user = bind->users.at[i];
        if (place_drops(p, user)) continue;
        int at = returned_at(p->frame, user, bind->val);
        if (at < 0 || !result_is_optional(p->frame, (uint32_t)at)) return false;
    }
    return true;
}

// Whether the statement stays and asks the value for sizes alone.
static bool only_sizes(const Place *p, const Node *stmt, const Val *v) {
    for (uint32_t i = p->first; v && i < p->last; i++) {
        if (p->kept[i] && p->infos[i]->stmt == stmt) return sizes_only(p, i, v);
    }
    return false;
}

bool place_bind_is_private(const Place *p, const Bind *bind) {
    if (bind->escaped) return false;
    for (uint32_t i = 0; i < bind->users.len; i++) {
        const Node *user = bind->users.at[i];
        if (!place_drops(p, user) && !only_sizes(p, user, bind->val)) return false;
    }
    return true;
}

void place_note_released(Place *p, const StmtInfo *s) {
    const FrameIndex *index = frame_index(p->frame);
    Range events = index_events(index, s->time_before, s->time_after);
    for (uint32_t i = events.from; i < events.to; i++) {
        const TimedEvent *e = &index->events[i];
        if (!e->bind || (e->info->key & 1) || place_bind_is_private(p, e->bind)) continue;
        const Sym *name = (const Sym *)e->info->key;
        bool again = false;
        for (uint32_t k = 0; k < p->released_count; k++) again |= p->released[k] == name;
        if (!again && p->released_count < RELEASED_MAX) p->released[p->released_count++] = name;
    }
}
