// profile.c - a file to a Profile: threads take the file's blocks one after the
// other, then what they counted each for itself is made one. Which thread read a
// block leaves no trace in the result.
#include "base/base.h"

#include "prof/columns.h"
#include "prof/lanes.h"
#include "prof/rowread.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_JOBS = 64, HEADER_BYTES = 64 * 1024 };

typedef struct Job Job;

// The state that the threads share.
typedef struct Reading {
    const ProfRead *read;
    RowFile file;
    RowBlock *blocks;
    uint64_t block_count, next;
    pthread_mutex_t lock;
    int error; // errno of the first failure
    uint32_t job_count;
    Job *jobs;
    LaneShare *shares; // of each job
    Profile *profile;
    uint64_t *firsts; // of each of its kinds: block << 32 | row of the block
} Reading;

struct Job {
    Reading *reading;
    RowReader reader;
    pthread_t thread;
    bool started;
    uint32_t index;
    uint32_t *kind_of, *lane_of, *step_of; // the reader's index -> the profile's
    uint64_t first_block, end_block; // that it puts in place
};

// Numbers in the order of first appearance over all readers.
typedef struct Firsts {
    uint64_t first;
    uint32_t index;
} Firsts;

static uint64_t take_block(Reading *reading) {
    pthread_mutex_lock(&reading->lock);
    uint64_t index = reading->error ? reading->block_count : reading->next;
    if (index < reading->block_count) reading->next++;
    pthread_mutex_unlock(&reading->lock);
    return index;
}

static void fail_block(Reading *reading) {
    pthread_mutex_lock(&reading->lock);
    if (!reading->error) reading->error = errno ? errno : EIO;
    pthread_mutex_unlock(&reading->lock);
}

static void *read_blocks(void *data) {
    Job *job = data;
    Reading *reading = job->reading;
    uint64_t index;
    while ((index = take_block(reading)) < reading->block_count) {
        RowBlock *block = &reading->blocks[index];
        if (!row_reader_block(&job->reader, block, &reading->file, index)) fail_block(reading);
        block->reader = job->index;
        // The first thread is the caller's; it alone talks.
        if (job->index || !reading->read->progress) continue;
        reading->read->progress(reading->read->data, (uint32_t)index,
                                (uint32_t)reading->block_count);
    }
    return NULL;
}

static uint32_t count_jobs(const Reading *reading) {
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t jobs = reading->read->jobs ? reading->read->jobs
                                        : processors > 0 ? (uint64_t)processors : 1;
    if (jobs > reading->block_count) jobs = reading->block_count;
    if (jobs > MAX_JOBS) jobs = MAX_JOBS;
    return jobs ? (uint32_t)jobs : 1;
}

// Runs `work` on every job, the first one here.
static void run_jobs(Reading *reading, void *(*work)(void *)) {
    for (uint32_t i = 1; i < reading->job_count; i++) {
        Job *job = &reading->jobs[i];
        job->started = pthread_create(&job->thread, NULL, work, job) == 0;
    }
    work(&reading->jobs[0]);
    for (uint32_t i = 1; i < reading->job_count; i++) {
        Job *job = &reading->jobs[i];
        if (job->started) pthread_join(job->thread, NULL);
        else work(job);
    }
}

static int compare_firsts(const void *a, const void *b) {
    uint64_t x = ((const Firsts *)a)->first, y = ((const Firsts *)b)->first;
    return x < y ? -1 : x > y;
}

// new_index[i] for the i-th of `firsts`, by appearance.
static uint32_t *number_firsts(Arena *arena, Firsts *firsts, uint32_t count) {
    uint32_t *out = NEW_N(arena, uint32_t, count);
    if (count) qsort(firsts, count, sizeof(*firsts), compare_firsts);
    for (uint32_t i = 0; i < count; i++) out[firsts[i].index] = i;
    return out;
}

static void merge_kinds(Profile *out, Arena *arena, Reading *reading) {
    KindTable all;
    kinds_init(&all);
    for (uint32_t j = 0; j < reading->job_count; j++) {
        const KindTable *kinds = &reading->jobs[j].reader.kinds;
        reading->jobs[j].kind_of = NEW_N(arena, uint32_t, kinds->tallies.len);
        for (uint32_t i = 0; i < kinds->tallies.len; i++) {
            reading->jobs[j].kind_of[i] = kinds_merge(&all, &kinds->tallies.at[i]);
        }
    }
    uint32_t count = all.tallies.len;
    Firsts *firsts = NEW_N(arena, Firsts, count);
    for (uint32_t i = 0; i < count; i++) firsts[i] = (Firsts){all.tallies.at[i].first, i};
    uint32_t *number = number_firsts(arena, firsts, count);
    out->kinds = NEW_N(arena, ProfKind, count);
    out->kind_count = count;
    reading->firsts = NEW_N(arena, uint64_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        reading->firsts[number[i]] = all.tallies.at[i].first;
        kinds_describe(&out->kinds[number[i]], arena, &all.tallies.at[i],
                       reading->file.columns);
    }
    for (uint32_t j = 0; j < reading->job_count; j++) {
        Job *job = &reading->jobs[j];
        uint32_t len = job->reader.kinds.tallies.len;
        for (uint32_t i = 0; i < len; i++) job->kind_of[i] = number[job->kind_of[i]];
    }
    kinds_free(&all);
}

// The same for lanes and steps: ids, with their order of appearance.
typedef struct IdUnion {
    IdTable all;
    Arena *arena;
    uint32_t *number;
} IdUnion;

static void unite_ids(IdUnion *ids, const IdTable *from, uint32_t **map) {
    *map = NEW_N(ids->arena, uint32_t, from->len);
    for (uint32_t i = 0; i < from->len; i++) {
        uint32_t at = id_table_index(&ids->all, ids->arena, from->ids[i], from->first[i]);
        if (from->first[i] < ids->all.first[at]) ids->all.first[at] = from->first[i];
        (*map)[i] = at;
    }
}

static void number_ids(IdUnion *ids) {
    Firsts *firsts = NEW_N(ids->arena, Firsts, ids->all.len);
    for (uint32_t i = 0; i < ids->all.len; i++) firsts[i] = (Firsts){ids->all.first[i], i};
    ids->number = number_firsts(ids->arena, firsts, ids->all.len);
}

static void merge_lanes(Profile *out, Arena *arena, Reading *reading) {
    IdUnion ids = {.arena = arena};
    for (uint32_t j = 0; j < reading->job_count; j++) {
        unite_ids(&ids, &reading->jobs[j].reader.lanes, &reading->jobs[j].lane_of);
    }
    number_ids(&ids);
    out->lane_count = ids.all.len < UINT16_MAX ? ids.all.len : UINT16_MAX;
    out->lanes = NEW_N(arena, ProfLane, ids.all.len + 1);
    for (uint32_t i = 0; i < ids.all.len; i++) {
        uint64_t id = (uint64_t)ids.all.ids[i];
        out->lanes[ids.number[i]] = (ProfLane){.device = (int32_t)(id >> 32),
                                               .stream = (int32_t)(uint32_t)id};
    }
    for (uint32_t j = 0; j < reading->job_count; j++) {
        Job *job = &reading->jobs[j];
        for (uint32_t i = 0; i < job->reader.lanes.len; i++) {
            job->lane_of[i] = ids.number[job->lane_of[i]];
        }
    }
}

static void merge_steps(Profile *out, Arena *arena, Reading *reading) {
    IdUnion ids = {.arena = arena};
    for (uint32_t j = 0; j < reading->job_count; j++) {
        unite_ids(&ids, &reading->jobs[j].reader.steps, &reading->jobs[j].step_of);
    }
    number_ids(&ids);
    out->step_count = ids.all.len;
    out->steps = NEW_N(arena, ProfStep, ids.all.len + 1);
    for (uint32_t i = 0; i < ids.all.len; i++) {
        out->steps[ids.number[i]].id = ids.all.ids[i];
    }
    for (uint32_t j = 0; j < reading->job_count; j++) {
        Job *job = &reading->jobs[j];
        for (uint32_t i = 0; i < job->reader.steps.len; i++) {
            job->step_of[i] = ids.number[job->step_of[i]];
        }
    }
}

static void merge_faults(ProfFaults *into, const ProfFaults *from, uint32_t base) {
    for (int i = 0; i < FAULT_COUNT; i++) {
        if (from->count[i] && !into->count[i]) into->first_row[i] = base + from->first_row[i];
        into->count[i] += from->count[i];
    }
}

// Changed where it is put: one that is changed first and copied then waits for itself.
static void copy_block(ProfRow *out, const RowBlock *block, const Job *reader) {
    for (uint32_t i = 0; i < block->count; i++) {
        ProfRow *row = &out[i];
        *row = block->rows[i];
        if (row->kind == PROF_NO_KIND) continue;
        row->kind = reader->kind_of[row->kind];
        row->lane = (uint16_t)reader->lane_of[row->lane];
        row->step = reader->step_of[row->step] & ((1 << 20) - 1);
    }
}

// The blocks follow each other, so that the rows of a thread do.
static void *copy_blocks(void *data) {
    const Job *job = data;
    const Reading *reading = job->reading;
    LaneShare *share = &reading->shares[job->index];
    ProfRow *to = reading->profile->rows + share->from;
    arena_touch(to, (share->end - share->from) * sizeof(*to));
    for (uint64_t b = job->first_block; b < job->end_block; b++) {
        const RowBlock *block = &reading->blocks[b];
        copy_block(to, block, &reading->jobs[block->reader]);
        uint32_t from = (uint32_t)(to - reading->profile->rows);
        lanes_count(share, reading->profile, from, from + block->count);
        to += block->count;
    }
    return NULL;
}

static void *place_rows(void *data) {
    Job *job = data;
    row_reader_free(&job->reader); // its rows were copied
    lanes_place(&job->reading->shares[job->index], job->reading->profile);
    return NULL;
}

// Gives each thread about as many rows.
static void share_rows(Reading *reading) {
    const Profile *profile = reading->profile;
    uint64_t block = 0;
    uint32_t row = 0;
    for (uint32_t j = 0; j < reading->job_count; j++) {
        Job *job = &reading->jobs[j];
        uint64_t until = (uint64_t)profile->row_count * (j + 1) / reading->job_count;
        job->first_block = block;
        reading->shares[j].from = row;
        bool last = j + 1 == reading->job_count;
        while (block < reading->block_count && (last || row < until)) {
            row += reading->blocks[block++].count;
        }
        job->end_block = block;
        reading->shares[j].end = row;
    }
}

static bool count_rows(Profile *out, const Reading *reading, Err *err) {
    uint64_t total = 0;
    for (uint64_t b = 0; b < reading->block_count; b++) {
        merge_faults(&out->faults, &reading->blocks[b].faults, (uint32_t)total);
        total += reading->blocks[b].count;
        if (total >= UINT32_MAX) {
            return err_set(err, "'%s' has more than 4 billion rows: split it",
                           reading->read->path);
        }
    }
    out->row_count = (uint32_t)total;
    return true;
}

// Rows into one array, and into their lanes.
static bool copy_rows(Profile *out, Arena *arena, Reading *reading, Err *err) {
    if (!count_rows(out, reading, err)) return false;
    out->rows = arena_raw_untouched(arena, (size_t)out->row_count * sizeof(ProfRow));
    reading->profile = out;
    LaneShare *shares = reading->shares = NEW_N(arena, LaneShare, reading->job_count);
    share_rows(reading);
    lanes_share(shares, reading->job_count, out, arena);
    run_jobs(reading, copy_blocks);
    lanes_begin(out, arena, shares, reading->job_count);
    run_jobs(reading, place_rows);
    lanes_end(out, shares, reading->job_count);
    return true;
}

// A kind knows the block and the row of the block that it was seen in first.
static void find_first_rows(Profile *out, Arena *arena, const Reading *reading) {
    uint32_t *base = NEW_N(arena, uint32_t, reading->block_count + 1);
    for (uint64_t b = 0; b < reading->block_count; b++) {
        base[b + 1] = base[b] + reading->blocks[b].count;
    }
    for (uint32_t i = 0; i < out->kind_count; i++) {
        uint64_t first = reading->firsts[i];
        out->kinds[i].first_row = base[first >> 32] + (uint32_t)first;
    }
}

static bool merge(Profile *out, Arena *arena, Reading *reading, Err *err) {
    merge_kinds(out, arena, reading);
    merge_lanes(out, arena, reading);
    merge_steps(out, arena, reading);
    if (!copy_rows(out, arena, reading, err)) return false;
    for (uint32_t j = 0; j < reading->job_count; j++) {
        out->has.rounded |= reading->jobs[j].reader.rounded;
    }
    find_first_rows(out, arena, reading);
    return true;
}

static bool read_rows(Profile *out, Arena *arena, Reading *reading, Err *err) {
    reading->job_count = count_jobs(reading);
    reading->jobs = NEW_N(arena, Job, reading->job_count);
    reading->blocks = NEW_N(arena, RowBlock, reading->block_count);
    for (uint32_t j = 0; j < reading->job_count; j++) {
        reading->jobs[j].reading = reading;
        reading->jobs[j].index = j;
        row_reader_init(&reading->jobs[j].reader);
    }
    pthread_mutex_init(&reading->lock, NULL);
    run_jobs(reading, read_blocks);
    pthread_mutex_destroy(&reading->lock);
    bool ok = !reading->error || err_set(err, "cannot read '%s': %s", reading->read->path,
                                         strerror(reading->error));
    ok = ok && merge(out, arena, reading, err);
    for (uint32_t j = 0; j < reading->job_count; j++) row_reader_free(&reading->jobs[j].reader);
    if (reading->read->progress) {
        reading->read->progress(reading->read->data, (uint32_t)reading->block_count,
                                (uint32_t)reading->block_count);
    }
    return ok;
}

// The header line, without a BOM; *bytes: where the rows begin.
static bool read_header(Str *out, uint64_t *bytes, Arena *arena, Reading *reading, Err *err) {
    const char *path = reading->read->path;
    char *text = arena_alloc(arena, HEADER_BYTES + 1);
    ssize_t got = pread(reading->file.fd, text, HEADER_BYTES, 0);
    if (got < 0) return err_set(err, "cannot read '%s': %s", path, strerror(errno));
    if (got == 0) return err_set(err, "'%s' is empty", path);
    const char *newline = memchr(text, '\n', (size_t)got);
    if (!newline && got == HEADER_BYTES) {
        return err_set(err, "'%s' has no line end in its first 64 KB: this is no CSV file", path);
    }
    if (memchr(text, 0, (size_t)(newline ? newline - text : got))) {
        return err_set(err, "'%s' is no text file: give a kernel_details.csv or "
                       "op_summary.csv", path);
    }
    *bytes = newline ? (uint64_t)(newline - text) + 1 : (uint64_t)got;
    Str line = {text, newline ? (size_t)(newline - text) : (size_t)got};
    if (line.len && line.at[line.len - 1] == '\r') line.len--;
    if (line.len >= 3 && memcmp(line.at, "\xEF\xBB\xBF", 3) == 0) {
        line = (Str){line.at + 3, line.len - 3};
    }
    *out = line;
    return true;
}

static bool read_open(Profile *out, Arena *arena, Reading *reading, Err *err) {
    Columns *columns = NEW(arena, Columns);
    struct stat st;
    Str header;
    const char *path = reading->read->path;
    if (fstat(reading->file.fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        return err_set(err, "'%s' is not a regular file", path);
    }
    reading->file.columns = columns;
    reading->file.size = (uint64_t)st.st_size;
    if (!read_header(&header, &reading->file.first, arena, reading, err)) return false;
    if (!columns_read(columns, &out->has, header, path, err)) return false;
    uint64_t data = reading->file.size - reading->file.first;
    reading->block_count = (data + BLOCK_BYTES - 1) / BLOCK_BYTES;
    if (!read_rows(out, arena, reading, err)) return false;
    return true;
}

bool profile_read(Profile *out, Arena *arena, const ProfRead *read, Err *err) {
    Reading reading = {.read = read};
    *out = (Profile){0};
    reading.file.fd = open(read->path, O_RDONLY | O_CLOEXEC);
    if (reading.file.fd < 0) {
        return err_set(err, "cannot open '%s': %s", read->path, strerror(errno));
    }
    bool ok = read_open(out, arena, &reading, err);
    close(reading.file.fd);
    return ok;
}
