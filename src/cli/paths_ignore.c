// paths_ignore.c - reading .gitignore and matching its patterns without
// recursion: a failed `*` or `**` resumes one character later, so the time is
// bounded by the product of the lengths.
#include "base/base.h"

#include "cli/paths_ignore.h"

#include "base/file.h"

enum { IGNORE_MAX_BYTES = 1 << 20 };

// Matches one character against the class at glob[*at] == '['; moves *at
// behind the class. An unclosed class is the character `[`.
static bool match_class(Str glob, size_t *at, char c) {
    size_t i = *at + 1;
    bool negated = i < glob.len && (glob.at[i] == '!' || glob.at[i] == '^');
    if (negated) i++;
    bool hit = false;
    for (size_t first = i; i < glob.len; i++) {
        if (glob.at[i] == ']' && i > first) {
            *at = i + 1;
            return hit != negated && c != '/';
        }
        if (glob.at[i] == '\\' && i + 1 < glob.len) i++;
        char low = glob.at[i], high = low;
        if (i + 2 < glob.len && glob.at[i + 1] == '-' &&
            glob.at[i + 2] != ']') {
            high = glob.at[i + 2];
            i += 2;
        }
        hit = hit || (c >= low && c <= high);
    }
    (*at)++;
    return c == '[';
}

// Matches one character of the path; moves *at behind what it used.
static bool match_one(Str glob, size_t *at, char c) {
    char g = glob.at[*at];
    if (g == '[') return match_class(glob, at, c);
    if (g == '\\' && *at + 1 < glob.len) g = glob.at[++*at];
    else if (g == '?') g = c == '/' ? '?' : c;
    ++*at;
    return g == c;
}

static bool has_at(Str s, size_t at, const char *text) {
    return at <= s.len && str_starts((Str){s.at + at, s.len - at}, text);
}

// Where to resume when the rest does not match; `glob` is what follows the
// star, `path` where it was last tried.
typedef struct Resume {
    size_t glob, path;
    bool active;
} Resume;

bool ignore_glob(Str glob, Str path) {
    Resume star = {0, 0, false}, deep = {0, 0, false};
    size_t g = 0, p = 0;
    for (;;) {
        bool at_segment = g == 0 || glob.at[g - 1] == '/';
        if (at_segment && has_at(glob, g, "**/")) {
            deep = (Resume){g += 3, p, true}; // zero or more folders
            star.active = false;
            continue;
        }
        if (at_segment && has_at(glob, g, "**") && g + 2 == glob.len) {
            return p < path.len; // everything inside
        }
        if (g < glob.len && glob.at[g] == '*') {
            while (g < glob.len && glob.at[g] == '*') g++;
            star = (Resume){g, p, true};
            continue;
        }
        if (g == glob.len && p == path.len) return true;
        if (g < glob.len && p < path.len && match_one(glob, &g, path.at[p])) {
            p++;
            continue;
        }
        if (star.active && star.path < path.len && path.at[star.path] != '/') {
            g = star.glob;
            p = ++star.path;
            continue;
        }
        if (!deep.active) return false;
        while (deep.path < path.len && path.at[deep.path] != '/') deep.path++;
        if (deep.path == path.len) return false;
        g = deep.glob;
        p = ++deep.path;
        star.active = false;
    }
}

static Str trim_line(Str line) {
    if (line.len && line.at[line.len - 1] == '\r') line.len--;
    while (line.len && line.at[line.len - 1] == ' ') {
        if (line.len > 1 && line.at[line.len - 2] == '\\') break;
        line.len--;
    }
    return line;
}

static Str without_first(Str s) {
    return (Str){s.at + 1, s.len - 1};
}

static void add_pattern(Arena *arena, Ignore *ignore, Str line) {
    IgnorePattern pattern = {0};
    if (line.len == 0 || line.at[0] == '#') return;
    if (line.at[0] == '!') {
        pattern.negated = true;
        line = without_first(line);
    }
    if (line.len && line.at[line.len - 1] == '/') {
        pattern.only_folders = true;
        line.len--;
    }
    pattern.anchored = line.len && memchr(line.at, '/', line.len);
    if (line.len && line.at[0] == '/') line = without_first(line);
    if (line.len == 0) return;
    pattern.glob = line;
    vec_push(arena, &ignore->patterns, pattern);
}

const Ignore *ignore_new(Arena *arena, const Ignore *outer, Str folder,
                         Str text) {
    Ignore *ignore = NEW(arena, Ignore);
    ignore->outer = outer;
    ignore->folder = folder;
    if (str_starts(text, "\xEF\xBB\xBF")) {
        text = (Str){text.at + 3, text.len - 3};
    }
    while (text.len) {
        add_pattern(arena, ignore, trim_line(str_take(&text, '\n')));
    }
    return ignore;
}

// `path` below `folder`, without the slash between them.
static Str below(Str folder, Str path) {
    size_t skip = folder.len + (folder.at[folder.len - 1] != '/');
    if (skip > path.len) BUG("path outside the folder of its .gitignore");
    return (Str){path.at + skip, path.len - skip};
}

bool ignore_hits(const Ignore *chain, Str path, bool is_folder) {
    for (; chain; chain = chain->outer) {
        Str inside = below(chain->folder, path);
        for (uint32_t i = chain->patterns.len; i-- > 0;) {
            const IgnorePattern *pattern = &chain->patterns.at[i];
            if (pattern->only_folders && !is_folder) continue;
            Str text = pattern->anchored ? inside : path_base(inside);
            if (ignore_glob(pattern->glob, text)) return !pattern->negated;
        }
    }
    return false;
}

static const Ignore *read_ignore(Arena *arena, const Ignore *outer,
                                 Str folder) {
    Str text;
    Err err;
    const char *path = path_join(arena, folder, STR(".gitignore"));
    if (file_kind(path) != FILE_REGULAR) return outer;
    if (!file_read(&text, arena, path, IGNORE_MAX_BYTES, &err)) return outer;
    return ignore_new(arena, outer, folder, text);
}

static bool has_git(Arena *arena, Str folder) {
    return file_kind(path_join(arena, folder, STR(".git"))) != FILE_NONE;
}

const Ignore *ignore_above(Arena *arena, Str folder) {
    // The folders from `folder` up to the one with .git, innermost first.
    VEC(Str) folders = {0};
    Str at = folder;
    for (;;) {
        vec_push(arena, &folders, arena_str(arena, at));
        if (has_git(arena, at)) break;
        if (at.len <= 1) return NULL;
        at = path_folder(at);
    }
    const Ignore *chain = NULL;
    for (uint32_t i = folders.len; i-- > 1;) {
        chain = read_ignore(arena, chain, folders.at[i]);
        if (ignore_hits(chain, folders.at[i - 1], true)) return NULL;
    }
    return chain;
}
