// journal.c - journal.json, pristine/ and the order in which they are written.
#include "base/base.h"

#include "patch/journal.h"

#include "base/file.h"
#include "base/sha256.h"
#include "model/json.h"
#include "model/json_read.h"
#include "patch/target.h"

#include <stdlib.h>

enum { JOURNAL_SCHEMA = 1, JOURNAL_MAX_BYTES = 256 * 1024 * 1024 };

static Str hash_of(Arena *arena, Str bytes) {
    char hex[SHA256_HEX + 1];
    sha256_hex(hex, bytes);
    return arena_str(arena, str_of(hex));
}

static const char *path_in(const Journal *journal, const char *name) {
    return arena_printf(journal->arena, "%s/%s", journal->folder, name).at;
}

static const char *pristine_path(const Journal *journal, Str sha256) {
    return arena_printf(journal->arena, "%s/pristine/%.*s", journal->folder,
                        STR_FMT(sha256)).at;
}

// ---- reading ----------------------------------------------------------------

static bool is_hash(Str text) {
    if (text.len != SHA256_HEX) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!text.at[i] || !strchr("0123456789abcdef", text.at[i])) return false;
    }
    return true;
}

static bool is_line(int64_t number) {
    return number >= 1 && number <= UINT32_MAX;
}

static bool read_insert(Insert *out, const JsonVal *v) {
    int64_t line = json_int(json_member(v, "line"), 0);
    int64_t order = json_int(json_member(v, "order"), -1);
    *out = (Insert){(uint32_t)line, (uint32_t)order, json_text(json_member(v, "text"))};
    return is_line(line) && order >= 0 && order <= UINT32_MAX && out->text.len;
}

static bool read_edit(Finding *out, Arena *arena, Str file, const JsonVal *v) {
    int64_t start = json_int(json_member(v, "start_line"), 0);
    int64_t end = json_int(json_member(v, "end_line"), 0);
    *out = (Finding){.id = json_text(json_member(v, "id")), .file = file,
                     .start_line = (uint32_t)start, .end_line = (uint32_t)end,
                     .original = json_text(json_member(v, "original")),
                     .replacement = json_text(json_member(v, "replacement"))};
    JsonIter it = json_first(json_member(v, "inserts"));
    for (; it.value; json_next(&it)) {
        Insert insert;
        if (!read_insert(&insert, it.value)) return false;
        vec_push(arena, &out->inserts, insert);
    }
    return out->id.len && is_line(start) && is_line(end);
}

static const Finding *find_edit(const EditSet *set, Str id) {
    for (uint32_t i = 0; i < set->len; i++) {
        if (str_eq(set->at[i]->id, id)) return set->at[i];
    }
    return NULL;
}

// The edits of the ids that `list` holds.
static bool read_set(EditSet *out, Arena *arena, const EditSet *edits, const JsonVal *list) {
    for (JsonIter it = json_first(list); it.value; json_next(&it)) {
        const Finding *edit = find_edit(edits, json_text(it.value));
        if (!edit) return false;
        vec_push(arena, out, edit);
    }
    return true;
}

static bool read_file(JournalFile *out, Arena *arena, const JsonVal *v) {
    *out = (JournalFile){.file = json_text(json_member(v, "file")),
                         .pristine_sha256 = json_text(json_member(v, "pristine_sha256")),
                         .current_sha256 = json_text(json_member(v, "current_sha256")),
                         .pending_sha256 = json_text(json_member(v, "pending_sha256"))};
    bool pending = out->pending_sha256.len > 0;
    if (!out->file.len || !is_hash(out->pristine_sha256) || !is_hash(out->current_sha256) ||
        (pending && !is_hash(out->pending_sha256))) {
        return false;
    }
    EditSet edits = {0};
    for (JsonIter it = json_first(json_member(v, "edits")); it.value; json_next(&it)) {
        Finding *edit = NEW(arena, Finding);
        if (!read_edit(edit, arena, out->file, it.value)) return false;
        vec_push(arena, &edits, edit);
    }
    return read_set(&out->applied, arena, &edits, json_member(v, "applied")) &&
           read_set(&out->pending, arena, &edits, json_member(v, "pending"));
}

bool journal_open(Journal *out, Arena *arena, const char *folder, Err *err) {
    *out = (Journal){.folder = folder, .arena = arena};
    const char *path = path_in(out, "journal.json");
    if (file_kind(path) == FILE_NONE) return true;
    const JsonVal *v;
    if (!json_read_file(&v, arena, path, JOURNAL_MAX_BYTES, err)) return false;
    if (json_int(json_member(v, "schema"), 0) != JOURNAL_SCHEMA) {
        return err_set(err, "'%s' is no journal of this version of npufuse", path);
    }
    out->root = json_text(json_member(v, "root"));
    for (JsonIter it = json_first(json_member(v, "files")); it.value; json_next(&it)) {
        JournalFile file;
        if (!read_file(&file, arena, it.value)) {
            return err_set(err, "'%s': entry %u is damaged; restore the files from version "
                                "control and remove it", path, (unsigned)out->files.len + 1);
        }
        vec_push(arena, &out->files, file);
    }
    return true;
}

JournalFile *journal_find(const Journal *journal, Str file) {
    for (uint32_t i = 0; i < journal->files.len; i++) {
        if (str_eq(journal->files.at[i].file, file)) return &journal->files.at[i];
    }
    return NULL;
}

// ---- writing ----------------------------------------------------------------

static void add_ids(Json *json, const char *name, const EditSet *set) {
    json_key(json, name);
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < set->len; i++) json_str(json, set->at[i]->id);
    json_end(json);
}

static void write_edit(Json *json, const Finding *edit) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "id", edit->id);
    json_add_uint(json, "start_line", edit->start_line);
    json_add_uint(json, "end_line", edit->end_line);
    json_add_str(json, "original", edit->original);
    json_add_str(json, "replacement", edit->replacement);
    json_key(json, "inserts");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < edit->inserts.len; i++) {
        json_object(json, JSON_LINE);
        json_add_uint(json, "line", edit->inserts.at[i].line);
        json_add_uint(json, "order", edit->inserts.at[i].order);
        json_add_str(json, "text", edit->inserts.at[i].text);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

static void write_entry(Json *json, const JournalFile *file) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "file", file->file);
    json_add_str(json, "pristine_sha256", file->pristine_sha256);
    json_add_str(json, "current_sha256", file->current_sha256);
    json_add_str(json, "pending_sha256", file->pending_sha256);
    add_ids(json, "applied", &file->applied);
    add_ids(json, "pending", &file->pending);
    json_key(json, "edits");
    json_array(json, JSON_BLOCK);
    for (uint32_t i = 0; i < file->applied.len; i++) write_edit(json, file->applied.at[i]);
    for (uint32_t i = 0; i < file->pending.len; i++) {
        const Finding *edit = file->pending.at[i];
        if (!find_edit(&file->applied, edit->id)) write_edit(json, edit);
    }
    json_end(json);
    json_end(json);
}

static bool write_journal(const Journal *journal, Err *err) {
    Buf text = {0};
    Json json;
    json_init(&json, &text);
    json_object(&json, JSON_BLOCK);
    json_add_uint(&json, "schema", JOURNAL_SCHEMA);
    json_add_str(&json, "root", journal->root);
    json_key(&json, "files");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < journal->files.len; i++) write_entry(&json, &journal->files.at[i]);
    json_end(&json);
    json_end(&json);
    bool ok = file_write(path_in(journal, "journal.json"), buf_str(&text), err);
    buf_free(&text);
    return ok;
}

// ---- after a crash ----------------------------------------------------------

static void take_pending(JournalFile *entry) {
    entry->current_sha256 = entry->pending_sha256;
    entry->applied = entry->pending;
    entry->pending_sha256 = (Str){0};
    entry->pending = (EditSet){0};
}

bool journal_settle(const Journal *journal, JournalFile *entry, Str bytes, Err *err) {
    Str now = hash_of(journal->arena, bytes);
    if (str_eq(now, entry->pending_sha256)) {
        take_pending(entry);
        return true;
    }
    if (str_eq(now, entry->current_sha256)) {
        entry->pending_sha256 = (Str){0};
        entry->pending = (EditSet){0};
        return true;
    }
    return err_set(err, "'%.*s' was changed since candidates were applied to it; undo your "
                        "changes, or keep them and remove '%s'", STR_FMT(entry->file),
                   path_in(journal, "journal.json"));
}

bool journal_pristine(Str *out, const Journal *journal, Str file, Str bytes, Err *err) {
    JournalFile *entry = journal_find(journal, file);
    *out = bytes;
    if (!entry) return true;
    if (!journal_settle(journal, entry, bytes, err)) return false;
    if (str_eq(entry->current_sha256, entry->pristine_sha256)) return true;
    const char *path = pristine_path(journal, entry->pristine_sha256);
    if (!file_read(out, journal->arena, path, FILE_MAX_BYTES, err)) return false;
    if (str_eq(hash_of(journal->arena, *out), entry->pristine_sha256)) return true;
    return err_set(err, "'%s' is damaged; restore '%.*s' from version control", path,
                   STR_FMT(file));
}

static void drop_entry(Journal *journal, JournalFile *entry) {
    JournalFile *end = journal->files.at + journal->files.len;
    memmove(entry, entry + 1, (size_t)(end - entry - 1) * sizeof(*entry));
    journal->files.len--;
}

// A killed process may leave `<name>.<its number>.tmp` beside the file.
static bool is_leftover(Str name, Str base) {
    Str tail = {name.at + base.len, name.len - base.len};
    if (name.len < base.len + 6 || memcmp(name.at, base.at, base.len) != 0 ||
        tail.at[0] != '.' || !str_ends(tail, ".tmp")) {
        return false;
    }
    for (size_t i = 1; i < tail.len - 4; i++) {
        if (tail.at[i] < '0' || tail.at[i] > '9') return false;
    }
    return true;
}

static bool remove_leftovers(Arena *arena, const char *path, Err *err) {
    FolderList list;
    Str folder = path_folder(str_of(path));
    if (!folder_read(&list, arena, arena_cstr(arena, folder), err)) return false;
    for (size_t i = 0; i < list.len; i++) {
        Str name = str_of(list.at[i].name);
        if (!is_leftover(name, path_base(str_of(path)))) continue;
        if (!file_remove(path_join(arena, folder, name), err)) return false;
    }
    return true;
}

bool journal_recover(Journal *journal, Err *err) {
    bool changed = false;
    for (uint32_t i = journal->files.len; i-- > 0;) {
        JournalFile *entry = &journal->files.at[i];
        if (!entry->pending_sha256.len) continue;
        const char *path;
        Str bytes;
        if (!target_path(&path, journal->arena, journal->root, entry->file, err) ||
            !file_read(&bytes, journal->arena, path, FILE_MAX_BYTES, err) ||
            !journal_settle(journal, entry, bytes, err) ||
            !remove_leftovers(journal->arena, path, err)) {
            return false;
        }
        if (!entry->applied.len) drop_entry(journal, entry);
        changed = true;
    }
    return !changed || write_journal(journal, err);
}

// ---- one file ---------------------------------------------------------------

static int compare_files(const void *a, const void *b) {
    return str_cmp(((const JournalFile *)a)->file, ((const JournalFile *)b)->file);
}

static JournalFile *add_entry(Journal *journal, const FileChange *change) {
    JournalFile entry = {.file = change->file};
    entry.pristine_sha256 = hash_of(journal->arena, change->pristine);
    entry.current_sha256 = entry.pristine_sha256;
    vec_push(journal->arena, &journal->files, entry);
    qsort(journal->files.at, journal->files.len, sizeof(*journal->files.at), compare_files);
    return journal_find(journal, change->file);
}

static bool save_pristine(const Journal *journal, const JournalFile *entry, Str bytes, Err *err) {
    const char *path = pristine_path(journal, entry->pristine_sha256);
    Str saved;
    Err ignored;
    bool there = file_read(&saved, journal->arena, path, FILE_MAX_BYTES, &ignored);
    if (there && str_eq(saved, bytes)) return true;
    return file_make_folder(path_in(journal, "pristine"), err) && file_write(path, bytes, err);
}

bool journal_write_file(Journal *journal, const FileChange *change, Err *err) {
    JournalFile *entry = journal_find(journal, change->file);
    if (!entry) entry = add_entry(journal, change);
    if (!save_pristine(journal, entry, change->pristine, err)) return false;
    entry->pending_sha256 = hash_of(journal->arena, change->text);
    entry->pending = change->set;
    if (!write_journal(journal, err) || !file_write(change->path, change->text, err)) {
        return false;
    }
    take_pending(entry);
    if (!entry->applied.len) drop_entry(journal, entry);
    return write_journal(journal, err);
}
