// scan_cache.c - two files for each kept scan: KEY.rests, a line for everything
// the findings rest on, and KEY.json, the findings. The first is written last and
// has the hash of the second.
#include "base/base.h"

#include "cli/scan_cache.h"

#include "apidoc/book.h"
#include "base/aside.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/sha256.h"
#include "model/finding_read.h"
#include "py/project.h"
#include "report/findings_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SCANS_MAX = 16, RESTS_MAX = 64 * 1024 * 1024, TEXT_MAX = 256 * 1024 * 1024 };

// ---- the key --------------------------------------------------------------------------

// Size, time and inode of a file that is too large to be read for a key.
static void add_identity(Buf *out, const char *path) {
    struct stat status;
    if (!path || stat(path, &status) != 0) return;
    buf_addf(out, "%s %lld %lld.%09ld %llu\n", path, (long long)status.st_size,
             (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
             (unsigned long long)status.st_ino);
}

static void add_folder(Buf *out, Arena *run, const char *folder) {
    FolderList list;
    Err ignored;
    if (!folder_read(&list, run, folder, &ignored)) return;
    for (size_t i = 0; i < list.len; i++) {
        Str text;
        const char *path = path_join(run, str_of(folder), str_of(list.at[i].name));
        if (!str_ends(str_of(path), ".py")) continue;
        if (!file_read(&text, run, path, FILE_MAX_BYTES, &ignored)) continue;
        buf_addf(out, "%s %016" PRIx64 "\n", path, hash_content(text));
    }
}

static const char *cache_folder(Arena *run) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') return path_join(run, str_of(cache), STR("npufuse"));
    if (!home || home[0] != '/') return NULL;
    return path_join(run, str_of(home), STR(".cache/npufuse"));
}

void scan_key(ScanKey *out, Arena *run, ScanInputs inputs, const ScanOptions *options) {
    Buf text = {0};
    const char *here = path_real(run, "."), *folder = cache_folder(run);
    char hex[SHA256_HEX + 1];
    *out = (ScanKey){0};
    if (!here || !folder) return;
    buf_addf(&text, "npufuse scan 1 %s\n", here);
    add_identity(&text, path_real(run, "/proc/self/exe"));
    buf_addf(&text, "%.*s %.*s %d\n", STR_FMT(options->root), STR_FMT(options->only_rule),
             options->no_filter);
    if (options->book) add_identity(&text, options->book->install.library);
    for (uint32_t i = 0; i < options->rule_folder_count; i++) {
        add_folder(&text, run, options->rule_folders[i]);
        add_folder(&text, run, path_join(run, str_of(options->rule_folders[i]), STR("../ops")));
    }
    for (uint32_t i = 0; i < inputs.len; i++) {
        buf_addf(&text, "%s %.*s\n", inputs.at[i].path, STR_FMT(inputs.at[i].shown));
        // Text that comes from elsewhere has no file to compare with.
        if (inputs.at[i].has_text) folder = NULL;
    }
    out->text = arena_str(run, buf_str(&text));
    buf_free(&text);
    sha256_hex(hex, out->text);
    if (!folder) return;
    Str name = arena_printf(run, "scan-%.32s", hex);
    out->file = path_join(run, str_of(folder), name);
}

// ---- what findings rest on ----------------------------------------------------------------

static const char *file_of(Arena *run, const ScanKey *key, const char *ending) {
    return arena_printf(run, "%s%s", key->file, ending).at;
}

// The hash of the file's bytes as a trace has it, or whether there is a file.
static uint64_t now(Arena *scratch, const char *path, uint64_t then) {
    Str bytes;
    Err ignored;
    if (then <= TRACE_PRESENT) return file_kind(path) == FILE_REGULAR;
    arena_clear(scratch);
    if (!file_read(&bytes, scratch, path, FILE_MAX_BYTES, &ignored)) return TRACE_ABSENT;
    uint64_t hash = hash_content(bytes);
    return hash <= TRACE_PRESENT ? hash + 2 : hash;
}

static bool still_holds(Arena *scratch, Str line) {
    char hex[17] = {0}, *end;
    Str rest = line, hash = str_take(&rest, ' ');
    if (hash.len != 16 || !rest.len) return false;
    memcpy(hex, hash.at, 16);
    uint64_t then = strtoull(hex, &end, 16);
    // The line's path is NUL terminated by its reader.
    return *end == '\0' && now(scratch, rest.at, then) == then;
}

typedef struct Holds {
    Str lines;
    bool all;
} Holds;

static void *ask_all(void *data) {
    Holds *holds = data;
    Arena scratch;
    arena_init(&scratch);
    holds->all = true;
    while (holds->all && holds->lines.len) {
        Str line = str_take(&holds->lines, '\0');
        holds->all = still_holds(&scratch, line);
    }
    arena_free(&scratch);
    return NULL;
}

// The head of KEY.rests: the length of the key, the key, and the hash of KEY.json.
static bool take_head(Str *rest, const ScanKey *key, Str *json_hash) {
    Str length = str_take(rest, '\n');
    char text[32] = {0};
    if (!length.len || length.len >= sizeof(text)) return false;
    memcpy(text, length.at, length.len);
    if (strtoull(text, NULL, 10) != key->text.len || rest->len < key->text.len) return false;
    if (memcmp(rest->at, key->text.at, key->text.len) != 0) return false;
    *rest = (Str){rest->at + key->text.len, rest->len - key->text.len};
    *json_hash = str_take(rest, '\n');
    return true;
}

static bool has_hash(Str text, Str hex) {
    char own[17];
    snprintf(own, sizeof(own), "%016" PRIx64, hash_content(text));
    return str_is(hex, own);
}

static bool read_kept(FindingSet *out, Arena *run, const char *path, Str hash) {
    Str json;
    Err ignored;
    return file_read(&json, run, path, TEXT_MAX, &ignored) && has_hash(json, hash) &&
           findings_parse(out, run, json, path, &ignored);
}

bool scan_cache_read(FindingSet *out, Arena *run, const ScanKey *key, uint32_t jobs) {
    Str rests, hash;
    Err ignored;
    if (!key->file) return false;
    const char *rests_file = file_of(run, key, ".rests"), *json_file = file_of(run, key, ".json");
    if (file_kind(rests_file) != FILE_REGULAR) return false;
    if (!file_read(&rests, run, rests_file, RESTS_MAX, &ignored)) return false;
    if (!take_head(&rests, key, &hash)) return false;
    Holds holds = {.lines = rests};
    Aside asking = {.work = ask_all, .data = &holds};
    aside_start(&asking, jobs != 1);
    bool read = read_kept(out, run, json_file, hash);
    aside_wait(&asking);
    return read && holds.all;
}

static int by_path(const void *a, const void *b) {
    const Trace *x = a, *y = b;
    int order = str_cmp(x->path, y->path);
    return order ? order : x->hash < y->hash ? -1 : x->hash > y->hash;
}

static void add_rests(Buf *out, const ScanTraces *traces) {
    for (uint32_t i = 0; i < traces->len; i++) {
        const Trace *t = &traces->at[i];
        const Trace *before = i ? t - 1 : NULL;
        if (before && before->hash == t->hash && str_eq(before->path, t->path)) continue;
        buf_addf(out, "%016" PRIx64 " %.*s", t->hash, STR_FMT(t->path));
        buf_add_char(out, '\0');
    }
}

// Kept scans of trees that are gone would stay for ever: the oldest go.
static void drop_oldest(Arena *run, const char *folder) {
    FolderList list;
    Err ignored;
    struct stat status;
    const char *oldest = NULL;
    int64_t oldest_time = INT64_MAX;
    uint32_t count = 0;
    if (!folder_read(&list, run, folder, &ignored)) return;
    for (size_t i = 0; i < list.len; i++) {
        Str name = str_of(list.at[i].name);
        if (!str_starts(name, "scan-") || !str_ends(name, ".rests")) continue;
        const char *path = path_join(run, str_of(folder), name);
        if (stat(path, &status) != 0) continue;
        count++;
        if ((int64_t)status.st_mtim.tv_sec >= oldest_time) continue;
        oldest_time = (int64_t)status.st_mtim.tv_sec;
        oldest = path;
    }
    if (count <= SCANS_MAX || !oldest) return;
    Str stem = {oldest, strlen(oldest) - strlen(".rests")};
    if (!file_remove(oldest, &ignored)) return;
    (void)!file_remove(arena_printf(run, "%.*s.json", STR_FMT(stem)).at, &ignored);
}

void scan_cache_write(const FindingSet *set, Arena *run, const ScanKey *key,
                      const ScanTraces *traces) {
    Err ignored;
    Buf json = {0}, rests = {0};
    if (!key->file) return;
    const char *folder = arena_cstr(run, path_folder(str_of(key->file)));
    if (!file_make_folder(folder, &ignored)) return;
    drop_oldest(run, folder);
    if (traces->len) qsort(traces->at, traces->len, sizeof(Trace), by_path);
    findings_json_write(&json, set);
    buf_addf(&rests, "%zu\n%.*s%016" PRIx64 "\n", key->text.len, STR_FMT(key->text),
             hash_content(buf_str(&json)));
    add_rests(&rests, traces);
    bool ok = file_write(file_of(run, key, ".json"), buf_str(&json), &ignored);
    ok = ok && file_write(file_of(run, key, ".rests"), buf_str(&rests), &ignored);
    (void)ok;
    buf_free(&json);
    buf_free(&rests);
}
