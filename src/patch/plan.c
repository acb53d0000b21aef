// plan.c - the next text of one file.
#include "base/base.h"

#include "patch/plan.h"

#include "base/file.h"
#include "base/sha256.h"
#include "patch/target.h"
#include "py/parser.h"

#include <stdlib.h>

static bool holds(const EditSet *set, Str id) {
    for (uint32_t i = 0; i < set->len; i++) {
        if (str_eq(set->at[i]->id, id)) return true;
    }
    return false;
}

static int compare_ids(const void *a, const void *b) {
    return str_cmp((*(const Finding *const *)a)->id, (*(const Finding *const *)b)->id);
}

// The applied ones with those of the wish put in or taken out, by id.
static EditSet next_set(Arena *arena, const EditSet *applied, const PlanWish *wish) {
    EditSet set = {0};
    for (uint32_t i = 0; i < applied->len; i++) {
        bool named = holds(&wish->candidates, applied->at[i]->id);
        if (!named || !wish->revert) vec_push(arena, &set, applied->at[i]);
    }
    for (uint32_t i = 0; i < wish->candidates.len && !wish->revert; i++) {
        if (holds(applied, wish->candidates.at[i]->id)) continue;
        vec_push(arena, &set, wish->candidates.at[i]);
    }
    if (set.len) qsort(set.at, set.len, sizeof(*set.at), compare_ids);
    return set;
}

static EditList list_of(const EditSet *set) {
    return (EditList){set->at, set->len};
}

// Candidates are put into the file that they were found in.
static bool check_scanned(const Plan *plan, const PlanWish *wish, const EditSet *applied,
                          Err *err) {
    char hex[65];
    sha256_hex(hex, plan->change.pristine);
    for (uint32_t i = 0; i < wish->candidates.len && !wish->revert; i++) {
        const Finding *f = wish->candidates.at[i];
        if (str_is(f->file_sha256, hex) || holds(applied, f->id)) continue;
        return applied->len
            ? err_set(err, "'%.*s' was scanned with candidates applied to it; take them back "
                           "(npufuse apply --revert) and scan again", STR_FMT(wish->file))
            : err_set(err, "'%.*s' was changed since the scan; scan again",
                      STR_FMT(wish->file));
    }
    return true;
}

static uint32_t count_faults(Str text, SyntaxFault *first) {
    Arena arena;
    arena_init(&arena);
    SymTable symbols;
    sym_table_init(&symbols);
    parser_init_symbols(&symbols);
    SourceText source;
    Err err;
    uint32_t count = 1;
    if (source_init(&source, &arena, "", text, &err)) {
        ParseResult parsed = parser_parse(&source, &arena, &symbols);
        count = parsed.fault_count;
        if (count) first->offset = source_line(&source, parsed.faults[0].offset);
    }
    sym_table_free(&symbols);
    arena_free(&arena);
    return count;
}

static bool check_syntax(const Plan *plan, Err *err) {
    SyntaxFault first = {0};
    uint32_t before = count_faults(plan->before.text, &first);
    if (count_faults(plan->after.text, &first) <= before) return true;
    return err_set(err, "'%.*s' line %u: the result would not parse; please report this with "
                        "the file", STR_FMT(plan->change.file), (unsigned)first.offset);
}

bool plan_file(Plan *out, const Journal *journal, const PlanWish *wish, Err *err) {
    Arena *arena = journal->arena;
    *out = (Plan){.change = {.file = wish->file}};
    FileChange *change = &out->change;
    Str bytes;
    if (!target_path(&change->path, arena, wish->root, wish->file, err) ||
        !file_read(&bytes, arena, change->path, FILE_MAX_BYTES, err) ||
        !journal_pristine(&change->pristine, journal, wish->file, bytes, err)) {
        return false;
    }
    const JournalFile *entry = journal_find(journal, wish->file);
    EditSet applied = entry ? entry->applied : (EditSet){0};
    if (!check_scanned(out, wish, &applied, err)) return false;
    change->set = next_set(arena, &applied, wish);
    if (!edits_render(&out->before, arena, change->pristine, list_of(&applied), err) ||
        !edits_render(&out->after, arena, change->pristine, list_of(&change->set), err)) {
        return false;
    }
    change->text = out->after.text;
    if (!str_eq(out->before.text, bytes)) {
        return err_set(err, "'%.*s' is not what '%s/journal.json' makes of it; restore it from "
                            "version control", STR_FMT(wish->file), journal->folder);
    }
    return check_syntax(out, err);
}
