// names.c - which value a name holds, now and at each time before.
//
// Every change goes through the run's log, so that a branch can be taken back
// and joined. Root frames also keep the history, for placing a rewrite.
#include "base/base.h"

#include "flow/flow.h"

static uint32_t slot_of(uintptr_t key, uint32_t cap) {
    return (uint32_t)((key >> 3) * 2654435761u + (key & 1)) & (cap - 1);
}

NameInfo *name_find(const NameTable *table, uintptr_t key) {
    if (table->cap == 0) return NULL;
    uint32_t i = slot_of(key, table->cap);
    for (; table->slots[i]; i = (i + 1) & (table->cap - 1)) {
        if (table->slots[i]->key == key) return table->slots[i];
    }
    return NULL;
}

static void insert(NameTable *table, NameInfo *info) {
    uint32_t i = slot_of(info->key, table->cap);
    while (table->slots[i]) i = (i + 1) & (table->cap - 1);
    table->slots[i] = info;
}

static NameInfo *name_get(Arena *arena, NameTable *table, uintptr_t key) {
    NameInfo *info = name_find(table, key);
    if (info) return info;
    if (table->len * 2 >= table->cap) {
        NameInfo **old = table->slots;
        uint32_t old_cap = table->cap;
        table->cap = old_cap ? old_cap * 2 : 16;
        table->slots = NEW_N(arena, NameInfo *, table->cap);
        for (uint32_t i = 0; i < old_cap; i++) {
            if (old[i]) insert(table, old[i]);
        }
    }
    info = NEW(arena, NameInfo);
    info->key = key;
    insert(table, info);
    table->len++;
    return info;
}

static void put(Frame *f, NameTable *table, NameInfo *info, Bind *bind) {
    NameChange change = {table, info, info->bind};
    vec_push(f->flow->arena, &f->run->log, change);
    info->bind = bind;
    NameEvent event = {++f->run->time, bind};
    vec_push(f->flow->arena, &info->events, event);
}

void name_set(Frame *f, NameTable *table, uintptr_t key, Bind bind) {
    Bind *at = arena_raw(f->flow->arena, sizeof(*at));
    *at = bind;
    put(f, table, name_get(f->flow->arena, table, key), at);
}

Bind *name_at(const NameInfo *info, uint32_t time) {
    uint32_t low = 0, high = info->events.len;
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (info->events.at[mid].time <= time) low = mid + 1;
        else high = mid;
    }
    return low ? info->events.at[low - 1].bind : NULL;
}

// Everything that met in `bind` counts as read by who knows whom. Joins share
// what they join: each binding is entered once.
static void mark_escaped(Arena *arena, Bind *bind) {
    VEC(Bind *) open = {0};
    vec_push(arena, &open, bind);
    while (open.len) {
        Bind *at = open.at[--open.len];
        if (!at || at->escaped) continue;
        at->read = at->escaped = true;
        if (at->a) vec_push(arena, &open, at->a);
        if (at->b) vec_push(arena, &open, at->b);
    }
}

// Behind so many joins readers are no longer told apart.
enum { JOINS_MAX = 64 };

static void mark_used(Arena *arena, Bind *bind, Node *user, int depth) {
    if (!bind || bind->escaped) return;
    if (depth > JOINS_MAX) {
        mark_escaped(arena, bind);
        return;
    }
    bind->read = true;
    if (!bind->users.len || bind->users.at[bind->users.len - 1] != user) {
        vec_push(arena, &bind->users, user);
    } else if (bind->a || bind->b) {
        return; // this user was spread already
    }
    mark_used(arena, bind->a, user, depth + 1);
    mark_used(arena, bind->b, user, depth + 1);
}

void bind_used(Frame *f, Bind *bind, Node *user) {
    if (!bind) return;
    if (user) mark_used(f->flow->arena, bind, user, 0);
    else mark_escaped(f->flow->arena, bind);
}

uint32_t names_mark(const Frame *f) {
    return f->run->log.len;
}

void names_rewind(NameChanges *out, Frame *f, uint32_t mark) {
    *out = (NameChanges){0};
    Run *run = f->run;
    uint32_t end = run->log.len, stamp = ++f->flow->stamp;
    for (uint32_t i = end; i-- > mark;) {
        NameChange newest = run->log.at[i];
        newest.old = newest.info->bind; // handed out as the newer state
        // A later entry of the same name was met first and has the newest.
        if (newest.info->stamp != stamp) vec_push(f->flow->arena, out, newest);
        newest.info->stamp = stamp;
        run->log.at[i].info->bind = run->log.at[i].old;
    }
    run->log.len = mark;
    for (uint32_t i = 0; i < out->len; i++) { // history: back to before
        NameInfo *info = out->at[i].info;
        NameEvent event = {++run->time, info->bind};
        vec_push(f->flow->arena, &info->events, event);
    }
}

void names_apply(Frame *f, const NameChanges *changes) {
    for (uint32_t i = 0; i < changes->len; i++) {
        put(f, changes->at[i].table, changes->at[i].info, changes->at[i].old);
    }
}

// A local name that only one way binds: who reads it came that way. In a loop it may have
// been another pass.
static bool lacks_other(const Frame *f, const NameChange *change, const Bind *a, const Bind *b) {
    const Bind *only = a ? a : b;
    return f->fn && f->fn->kind == N_FUNCTION_DEF && !f->shares_names && !f->loops &&
           change->table == &f->names && (!a || !b) && only && only->val;
}

static void join_one(Frame *f, const NameChange *change, Bind *a, Bind *b,
                     Val *cond) {
    if (a == b) {
        put(f, change->table, change->info, a);
        return;
    }
    Flow *flow = f->flow;
    if (lacks_other(f, change, a, b)) {
        Bind *lacking = arena_raw(flow->arena, sizeof(*lacking));
        *lacking = (Bind){.val = a ? a->val : b->val, .a = a ? a : b, .may_lack = true};
        put(f, change->table, change->info, lacking);
        return;
    }
    Val *va = a && a->val ? a->val : NULL, *vb = b && b->val ? b->val : NULL;
    Val *val = va && vb ? op_phi(flow, cond, va, vb)
                        : val_unique(&flow->graph, V_OPAQUE, NULL, 0);
    if (!va || !vb) val->ptr = va ? va : vb;
    Bind *at = arena_raw(flow->arena, sizeof(*at));
    *at = (Bind){.val = val, .a = a, .b = b,
                 .may_lack = (a && a->may_lack) || (b && b->may_lack)};
    put(f, change->table, change->info, at);
}

void names_join(Frame *f, const NameChanges *then, const NameChanges *orelse,
                Val *cond) {
    uint32_t stamp = ++f->flow->stamp;
    for (uint32_t i = 0; i < orelse->len; i++) {
        orelse->at[i].info->stamp = stamp;
        orelse->at[i].info->stamped_at = i;
    }
    for (uint32_t i = 0; i < then->len; i++) {
        const NameChange *c = &then->at[i];
        Bind *other = c->info->stamp == stamp ? orelse->at[c->info->stamped_at].old
                                              : NULL;
        c->info->stamp = 0;
        join_one(f, c, c->old, other ? other : c->info->bind, cond);
    }
    for (uint32_t i = 0; i < orelse->len; i++) {
        const NameChange *c = &orelse->at[i];
        if (c->info->stamp != stamp) continue; // joined above
        join_one(f, c, c->info->bind, c->old, cond);
    }
}
