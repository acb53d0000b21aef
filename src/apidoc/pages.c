// pages.c - a folder of op-plugin's Markdown pages: one page describes one
// function, and its title says which. File names are not looked at: they do
// not always agree with what the page is about.
#include "base/base.h"

#include "apidoc/docs.h"

#include "base/file.h"

enum { PAGE_MAX_BYTES = 4 * 1024 * 1024, FOLDERS_MAX_DEPTH = 12 };

typedef struct Walk {
    Docs *out;
    Arena *arena;
    uint32_t pages, unread; // unread: pages and folders
    Str first_fault;
} Walk;

static bool is_space(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

// A Markdown title as plain text: no '#', no backslashes, no <a> behind it.
static Str plain_title(Arena *arena, Str line) {
    while (line.len && (line.at[0] == '#' || is_space(line.at[0]))) {
        line = (Str){line.at + 1, line.len - 1};
    }
    char *copy = arena_alloc(arena, line.len + 1);
    size_t n = 0;
    for (size_t i = 0; i < line.len && line.at[i] != '<'; i++) {
        if (line.at[i] != '\\' && line.at[i] != '`') copy[n++] = line.at[i];
    }
    while (n && is_space(copy[n - 1])) n--;
    return (Str){copy, n};
}

// "npu_x" of "(beta)torch_npu.npu_x", also where a page is titled as its file is
// called ("torch_npu-npu_x"); empty where the title names nothing of torch_npu,
// or more than one thing.
static Str name_in_title(Str title) {
    static const char module[] = "torch_npu";
    const size_t n = sizeof(module) - 1;
    for (size_t i = 0; i + n + 1 < title.len; i++) {
        char joint = title.at[i + n];
        if (memcmp(title.at + i, module, n) != 0 || (joint != '.' && joint != '-')) continue;
        Str name = {title.at + i + n + 1, title.len - i - n - 1};
        for (size_t k = 0; k < name.len; k++) {
            char c = name.at[k];
            bool part = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
                        (c >= '0' && c <= '9') || (c == '.' && k && k + 1 < name.len);
            if (!part) return STR("");
        }
        return name;
    }
    return STR("");
}

static Str without_bom(Str text) {
    return str_starts(text, "\xef\xbb\xbf") ? (Str){text.at + 3, text.len - 3} : text;
}

static uint32_t count_lines(Str text) {
    uint32_t n = 1;
    for (size_t i = 0; i < text.len; i++) n += text.at[i] == '\n';
    return n;
}

// One page or folder that cannot be read does not cost the others.
static void note_unread(Walk *walk, const Err *why) {
    if (!walk->unread++) walk->first_fault = arena_str(walk->arena, str_of(why->text));
}

static void read_page(Walk *walk, const char *path) {
    Str text;
    Err why;
    ArenaMark mark = arena_mark(walk->arena);
    if (!file_read(&text, walk->arena, path, PAGE_MAX_BYTES, &why)) {
        note_unread(walk, &why);
        return;
    }
    Str rest = docs_plain_lines(walk->arena, without_bom(text));
    uint32_t line = 0;
    Str title = STR("");
    while (rest.len && !title.len) { // the first line that says something
        title = plain_title(walk->arena, str_take(&rest, '\n'));
        line++;
    }
    Str name = name_in_title(title);
    if (!name.len) {
        arena_reset(walk->arena, mark);
        return;
    }
    while (rest.len && strchr(" \t\n", rest.at[rest.len - 1])) rest.len--;
    DocEntry entry = {
        .name = name, .body = rest, .path = str_of(path), .line = line,
        .body_line = line + 1, .end_line = line + count_lines(rest), .markdown = true,
    };
    vec_push(walk->arena, &walk->out->at, entry);
}

static bool walk_folder(Walk *walk, const char *folder, uint32_t depth, Err *err) {
    FolderList list;
    if (!folder_read(&list, walk->arena, folder, err)) {
        if (!depth) return false;
        note_unread(walk, err);
        return true;
    }
    for (size_t i = 0; i < list.len; i++) {
        const FolderEntry *e = &list.at[i];
        char *path = path_join(walk->arena, str_of(folder), str_of(e->name));
        if (e->kind == FILE_FOLDER && !e->is_link && e->name[0] != '.') {
            if (depth >= FOLDERS_MAX_DEPTH) continue;
            if (!walk_folder(walk, path, depth + 1, err)) return false;
        } else if (e->kind == FILE_REGULAR && str_ends(str_of(e->name), ".md")) {
            if (++walk->pages > DOCS_MAX_PAGES) {
                return err_set(err, "'%s' has more than %d Markdown files: name the folder "
                               "of the operators' pages", folder, DOCS_MAX_PAGES);
            }
            read_page(walk, path);
        }
    }
    return true;
}

bool docs_read_pages(Docs *out, Arena *arena, const char *folder, Err *err) {
    *out = (Docs){0};
    Walk walk = {.out = out, .arena = arena};
    if (!walk_folder(&walk, folder, 0, err)) return false;
    if (walk.unread) {
        out->note = arena_printf(arena, "%.*s; pages and folders of '%s' that could not be read: "
                                 "%u", STR_FMT(walk.first_fault), folder, (unsigned)walk.unread);
    }
    docs_mark_superseded(out);
    if (out->at.len) return true;
    return err_set(err, "'%s' has neither a torch_npu nor pages whose title names something "
                   "of it (%u Markdown files looked at)", folder, (unsigned)walk.pages);
}
