// trim.c - which modules stay open: those that most files asked for, and the latest.
#include "base/base.h"

#include "py/project.h"

#include "py/project_impl.h"

#include <stdlib.h>

enum { SHARED_USES = 3 }; // so many scanned files make a module one that is kept

typedef struct Uses {
    uint64_t hash; // of the path; two files that share it are counted as one
    uint32_t files; // that asked for it
} Uses;

struct UseCounts { // of modules that were dropped
    Uses *slots; // open addressing
    uint32_t cap, len;
};

static Uses *find_uses(Uses *slots, uint32_t cap, uint64_t hash) {
    uint32_t i = (uint32_t)hash & (cap - 1);
    while (slots[i].files && slots[i].hash != hash) i = (i + 1) & (cap - 1);
    return &slots[i];
}

static uint64_t path_hash(const Module *m) {
    return hash_bytes(HASH_SEED, m->path, strlen(m->path));
}

static void grow_counts(struct UseCounts *counts, Arena *arena) {
    if (counts->len * 2 < counts->cap) return;
    uint32_t cap = counts->cap ? counts->cap * 2 : 1024;
    Uses *slots = NEW_N(arena, Uses, cap);
    for (uint32_t i = 0; i < counts->cap; i++) {
        const Uses *old = &counts->slots[i];
        if (old->files) *find_uses(slots, cap, old->hash) = *old;
    }
    counts->slots = slots;
    counts->cap = cap;
}

void note_opened(Module *m) {
    Project *project = m->project;
    const struct UseCounts *counts = project->counts;
    if (counts) m->uses = find_uses(counts->slots, counts->cap, path_hash(m))->files;
    project->read_bytes += m->source.text.len;
    project_touch(m);
}

static void note_dropped(const Module *m) {
    Project *project = m->project;
    if (!project->counts) project->counts = NEW(&project->arena, struct UseCounts);
    grow_counts(project->counts, &project->arena);
    uint64_t hash = path_hash(m);
    Uses *uses = find_uses(project->counts->slots, project->counts->cap, hash);
    project->counts->len += !uses->files;
    *uses = (Uses){hash, m->uses};
}

void project_touch(Module *m) {
    Project *project = m->project;
    m->last_use = ++project->clock;
    if (m->used_in == project->scanned + 1) return;
    m->used_in = project->scanned + 1;
    m->uses++;
}

static int compare_latest(const void *a, const void *b) {
    const Module *x = *(Module *const *)a, *y = *(Module *const *)b;
    return x->last_use > y->last_use ? -1 : x->last_use < y->last_use;
}

static int compare_uses(const void *a, const void *b) {
    const Module *x = *(Module *const *)a, *y = *(Module *const *)b;
    if (x->uses != y->uses) return x->uses > y->uses ? -1 : 1;
    return compare_latest(a, b);
}

static Module **list_modules(const Project *project, Arena *arena, uint32_t *count) {
    Module **list = NEW_N(arena, Module *, project->len + 1);
    *count = 0;
    for (Module *m = project->modules; m; m = m->next) list[(*count)++] = m;
    return list;
}

// Three quarters of the budget are kept: two for what many files ask for, at least one
// for the latest.
static void drop_oldest(Project *project, Module **list, uint32_t count, size_t max_bytes) {
    size_t held = 0;
    qsort(list, count, sizeof(*list), compare_uses);
    for (uint32_t i = 0; i < count; i++) {
        size_t bytes = list[i]->arena.total_bytes;
        list[i]->kept = list[i]->uses >= SHARED_USES && held + bytes <= max_bytes / 2;
        if (list[i]->kept) held += bytes;
    }
    qsort(list, count, sizeof(*list), compare_latest);
    project->modules = NULL;
    for (uint32_t i = 0; i < count; i++) {
        Module *m = list[i];
        bool keeps = m->kept || held + m->arena.total_bytes <= max_bytes / 4 * 3;
        if (keeps && !m->kept) held += m->arena.total_bytes;
        if (keeps) {
            m->next = project->modules;
            project->modules = m;
        } else {
            note_dropped(m);
            drop_module(m);
        }
    }
}

void project_trim(Project *project, size_t max_bytes) {
    project->scanned++;
    if (project->read_bytes < max_bytes / 256) return; // little was added since
    project->read_bytes = 0;
    size_t held = 0; // modules grow while they are used
    for (Module *m = project->modules; m; m = m->next) held += m->arena.total_bytes;
    if (held <= max_bytes) return;
    Arena scratch;
    arena_init(&scratch);
    uint32_t count;
    Module **list = list_modules(project, &scratch, &count);
    drop_oldest(project, list, count, max_bytes);
    arena_free(&scratch);
    rebuild_paths(project, project->cap);
    project->epoch++;
}
