// dynamic.c - see dynamic.h. The order of kernels is compared by their types: a step
// with another sequence length has the same types and other shapes.
#include "base/base.h"

#include "prof/dynamic.h"

#include <stdlib.h>

enum {
    SHAPES_MAX = 16,  // of a place that are told apart
    MODELS_MAX = 64,  // steps that others are compared with
    LEAST_STEPS_BY_NAME = 3,
};

#define MIX UINT64_C(0x9E3779B97F4A7C15)

// The kernels of one step in a stream.
typedef struct Segment {
    uint32_t from, len;
    uint64_t types; // hash of their types, in order
} Segment;

typedef VEC(Segment) Segments;

typedef struct Search {
    ProfReport *report;
    Arena *arena; // of what is found
    Arena scratch;
    uint64_t *type_of; // of each kind, a hash
    uint32_t len;      // places so far that change, also those that are not kept
} Search;

// Stretches of rows of one step; those outside of steps are left out.
static void find_segments(Segments *out, Search *search, const ProfLane *lane) {
    const Profile *profile = search->report->profile;
    for (uint32_t i = 0; i < lane->len;) {
        uint32_t step = profile->rows[lane->rows[i]].step, from = i;
        uint64_t types = HASH_SEED;
        for (; i < lane->len && profile->rows[lane->rows[i]].step == step; i++) {
            types = (types ^ search->type_of[lane->kinds[i]]) * MIX;
            types ^= types >> 32;
        }
        if (profile->steps[step].id == PROF_NONE) continue;
        vec_push(&search->scratch, out, ((Segment){from, i - from, types}));
    }
}

static bool is_alike(const Segment *a, const Segment *b) {
    return a->len == b->len && a->types == b->types;
}

// Moves the largest group of alike segments to the front; its size.
static uint32_t gather_alike(Segments *all) {
    uint32_t best = 0, most = 0, count = 0;
    for (uint32_t i = 0; i < all->len && i < MODELS_MAX; i++) {
        uint32_t same = 0;
        for (uint32_t j = 0; j < all->len; j++) same += is_alike(&all->at[i], &all->at[j]);
        if (same > most) best = i, most = same;
    }
    Segment model = all->len ? all->at[best] : (Segment){0};
    for (uint32_t i = 0; i < all->len; i++) {
        if (is_alike(&all->at[i], &model)) all->at[count++] = all->at[i];
    }
    return count;
}

static int by_time(const void *a, const void *b) {
    const ShapePlace *x = a, *y = b;
    if (x->device_ns != y->device_ns) return x->device_ns > y->device_ns ? -1 : 1;
    return x->rows[0] < y->rows[0] ? -1 : x->rows[0] > y->rows[0];
}

// Keeps the longest ones.
static void keep(Search *search, const ShapePlace *place) {
    ShapeChanges *changes = &search->report->changes;
    search->len++;
    if (!changes->places) changes->places = NEW_N(search->arena, ShapePlace, SHAPE_PLACES + 1);
    changes->places[changes->place_count++] = *place;
    qsort(changes->places, changes->place_count, sizeof(*place), by_time);
    if (changes->place_count > SHAPE_PLACES) changes->place_count = SHAPE_PLACES;
}

// A place with the kinds that were seen there.
typedef struct Shapes {
    ShapePlace place;
    uint32_t kinds[SHAPES_MAX];
} Shapes;

// Adds a kind, if it is another one.
static void add_shape(Shapes *shapes, uint32_t kind, uint32_t row) {
    ShapePlace *place = &shapes->place;
    uint32_t i = 0;
    while (i < place->shapes && shapes->kinds[i] != kind) i++;
    if (i < place->shapes || i == SHAPES_MAX) return;
    shapes->kinds[i] = kind;
    if (i < COUNT(place->rows)) place->rows[i] = row;
    place->shapes++;
}

// What the step that begins at `step` shows: kinds that are not those of the first step.
static void compare_step(Shapes **changed, Search *search, const ProfLane *lane,
                         const Segment *first, uint32_t step) {
    const uint32_t *kinds = lane->kinds + step, *before = lane->kinds + first->from;
    for (uint32_t p = 0; p < first->len; p++) {
        if (kinds[p] == before[p]) continue;
        if (!changed[p]) {
            changed[p] = NEW(&search->scratch, Shapes);
            add_shape(changed[p], before[p], lane->rows[first->from + p]);
        }
        add_shape(changed[p], kinds[p], lane->rows[step + p]);
    }
}

static void compare_places(Search *search, const ProfLane *lane, const Segments *alike,
                           uint32_t count) {
    const ProfRow *rows = search->report->profile->rows;
    uint32_t len = alike->at[0].len;
    Shapes **changed = NEW_N(&search->scratch, Shapes *, len);
    for (uint32_t s = 1; s < count; s++) {
        compare_step(changed, search, lane, &alike->at[0], alike->at[s].from);
    }
    for (uint32_t p = 0; p < len; p++) {
        if (!changed[p]) continue;
        ShapePlace *place = &changed[p]->place;
        place->steps = count;
        for (uint32_t s = 0; s < count; s++) {
            place->device_ns += rows[lane->rows[alike->at[s].from + p]].duration_ns;
        }
        keep(search, place);
    }
    search->report->changes.compared += len;
}

// How many steps of the stream each kind is in, by `segments` without the first and the
// last, which a profile may have cut.
static uint32_t *count_steps(Search *search, const ProfLane *lane, const Segments *segments) {
    const Profile *profile = search->report->profile;
    uint32_t *steps = NEW_N(&search->scratch, uint32_t, profile->kind_count);
    uint32_t *last = NEW_N(&search->scratch, uint32_t, profile->kind_count);
    for (uint32_t s = 1; s + 1 < segments->len; s++) {
        const Segment *segment = &segments->at[s];
        for (uint32_t i = segment->from; i < segment->from + segment->len; i++) {
            uint32_t kind = lane->kinds[i];
            steps[kind] += last[kind] != s;
            last[kind] = s;
        }
    }
    return steps;
}

// A kind by the hash of its name.
typedef struct Named {
    uint64_t name;
    uint32_t kind;
} Named;

static int by_name(const void *a, const void *b) {
    const Named *x = a, *y = b;
    if (x->name != y->name) return x->name < y->name ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

// The kinds that are in some step, those of one name together.
static Named *sort_names(uint32_t *count, Search *search, const uint32_t *steps) {
    const Profile *profile = search->report->profile;
    Named *out = NEW_N(&search->scratch, Named, profile->kind_count + 1);
    *count = 0;
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        Str name = profile->kinds[i].name;
        if (steps[i]) out[(*count)++] = (Named){hash_bytes(HASH_SEED, name.at, name.len), i};
    }
    qsort(out, *count, sizeof(*out), by_name);
    return out;
}

// Kinds of one name of which some come and go are one place.
static void compare_names(Search *search, const ProfLane *lane, const Segments *segments) {
    const Profile *profile = search->report->profile;
    uint32_t *steps = count_steps(search, lane, segments);
    uint32_t whole = segments->len - 2, count;
    const Named *names = sort_names(&count, search, steps);
    for (uint32_t i = 0; i < count;) {
        Shapes shapes = {.place = {.steps = whole, .by_name = true}};
        uint64_t name = names[i].name;
        bool changes = false;
        for (; i < count && names[i].name == name; i++) {
            const ProfKind *kind = &profile->kinds[names[i].kind];
            changes |= steps[names[i].kind] < whole;
            shapes.place.device_ns += kind->total_ns;
            add_shape(&shapes, names[i].kind, kind->first_row);
        }
        search->report->changes.compared++;
        if (changes && shapes.place.shapes > 1) keep(search, &shapes.place);
    }
}

static void search_lane(Search *search, const ProfLane *lane) {
    Segments segments = {0};
    ShapeChanges *changes = &search->report->changes;
    find_segments(&segments, search, lane);
    Segments alike = segments;
    alike.at = NEW_N(&search->scratch, Segment, segments.len + 1);
    if (segments.len) memcpy(alike.at, segments.at, segments.len * sizeof(Segment));
    uint32_t count = gather_alike(&alike);
    if (count > changes->steps) changes->steps = count;
    if (count > 1) compare_places(search, lane, &alike, count);
    else if (segments.len >= LEAST_STEPS_BY_NAME + 2) compare_names(search, lane, &segments);
    arena_clear(&search->scratch);
}

void dynamic_find(ProfReport *report, Arena *arena) {
    const Profile *profile = report->profile;
    Search search = {.report = report, .arena = arena};
    if (!profile->has.step || !profile->has.in_shapes) return;
    arena_init(&search.scratch);
    search.type_of = NEW_N(arena, uint64_t, profile->kind_count);
    for (uint32_t i = 0; i < profile->kind_count; i++) {
        Str type = profile->kinds[i].type;
        search.type_of[i] = hash_bytes(HASH_SEED, type.at, type.len);
    }
    for (uint32_t i = 0; i < profile->lane_count; i++) search_lane(&search, &profile->lanes[i]);
    report->changes.count = search.len;
    arena_free(&search.scratch);
}
