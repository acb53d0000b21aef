// trim.c - which modules stay open: the latest, and those that were dropped before
// and had to be read again.
#include "base/base.h"

#include "py/project.h"

#include "py/project_impl.h"

#include <stdlib.h>

typedef struct Opened {
    uint64_t hash; // of the path; two files that share it are counted as one
    uint32_t times;
} Opened;

struct OpenCounts {
    Opened *slots; // open addressing
    uint32_t cap, len;
};

static Opened *find_count(Opened *slots, uint32_t cap, uint64_t hash) {
    uint32_t i = (uint32_t)hash & (cap - 1);
    while (slots[i].times && slots[i].hash != hash) i = (i + 1) & (cap - 1);
    return &slots[i];
}

static void grow_counts(struct OpenCounts *counts, Arena *arena) {
    if (counts->len * 2 < counts->cap) return;
    uint32_t cap = counts->cap ? counts->cap * 2 : 1024;
    Opened *slots = NEW_N(arena, Opened, cap);
    for (uint32_t i = 0; i < counts->cap; i++) {
        const Opened *old = &counts->slots[i];
        if (old->times) *find_count(slots, cap, old->hash) = *old;
    }
    counts->slots = slots;
    counts->cap = cap;
}

void note_opened(Module *m) {
    Project *project = m->project;
    if (!project->counts) project->counts = NEW(&project->arena, struct OpenCounts);
    grow_counts(project->counts, &project->arena);
    uint64_t hash = hash_bytes(HASH_SEED, m->path, strlen(m->path));
    Opened *opened = find_count(project->counts->slots, project->counts->cap, hash);
    project->counts->len += !opened->times;
    opened->hash = hash;
    m->again = ++opened->times > 1;
    project->read_bytes += m->source.text.len;
}

static int compare_use(const void *a, const void *b) {
    const Module *x = *(Module *const *)a, *y = *(Module *const *)b;
    return x->last_use > y->last_use ? -1 : x->last_use < y->last_use;
}

// The modules, the latest first.
static Module **order_modules(const Project *project, Arena *arena, uint32_t *count) {
    Module **list = NEW_N(arena, Module *, project->len + 1);
    *count = 0;
    for (Module *m = project->modules; m; m = m->next) list[(*count)++] = m;
    qsort(list, *count, sizeof(*list), compare_use);
    return list;
}

// Half of the budget is kept: at most a half of that for what is asked for again and
// again, the rest for the latest.
static void drop_oldest(Project *project, Module **list, uint32_t count, size_t max_bytes) {
    size_t held = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes = list[i]->arena.total_bytes;
        list[i]->kept = list[i]->again && held + bytes <= max_bytes / 4;
        if (list[i]->kept) held += bytes;
    }
    project->modules = NULL;
    for (uint32_t i = 0; i < count; i++) {
        Module *m = list[i];
        bool keeps = m->kept || held + m->arena.total_bytes <= max_bytes / 2;
        if (keeps && !m->kept) held += m->arena.total_bytes;
        if (keeps) {
            m->next = project->modules;
            project->modules = m;
        } else {
            drop_module(m);
        }
    }
}

void project_trim(Project *project, size_t max_bytes) {
    if (project->read_bytes < max_bytes / 256) return; // little was added since
    project->read_bytes = 0;
    size_t held = 0; // modules grow while they are used
    for (Module *m = project->modules; m; m = m->next) held += m->arena.total_bytes;
    if (held <= max_bytes) return;
    Arena scratch;
    arena_init(&scratch);
    uint32_t count;
    Module **list = order_modules(project, &scratch, &count);
    drop_oldest(project, list, count, max_bytes);
    arena_free(&scratch);
    rebuild_paths(project, project->cap);
    project->epoch++;
}
