// project.c - opening modules and resolving names through imports.
//
// The only state is the table of open modules. A module's names are indexed
// once, by a walk over its top-level statements (those inside if, try, with
// and for included and marked conditional).
#include "base/base.h"

#include "py/project.h"

#include "base/file.h"
#include "py/project_impl.h"

enum { FOLLOW_MAX = 24 }; // imports followed from one name

static uint32_t path_hash(const char *path) {
    return (uint32_t)hash_bytes(HASH_SEED, path, strlen(path));
}

void project_init(Project *project, SymTable *symbols) {
    *project = (Project){.symbols = symbols};
    arena_init(&project->arena);
    project->cap = 1024;
    project->by_path = NEW_N(&project->arena, Module *, project->cap);
    const char *here = path_real(&project->arena, ".");
    project->here = str_of(here ? here : "/");
    parser_init_symbols(symbols);
}

void project_free(Project *project) {
    for (Module *m = project->modules; m;) {
        Module *next = m->next;
        Arena arena = m->arena; // the module itself lives in it
        arena_free(&arena);
        m = next;
    }
    arena_free(&project->arena);
}

static uint32_t find_path_slot(const Project *project, const char *path) {
    uint32_t i = path_hash(path) & (project->cap - 1);
    while (project->by_path[i] && strcmp(project->by_path[i]->path, path)) {
        i = (i + 1) & (project->cap - 1);
    }
    return i;
}

void rebuild_paths(Project *project, uint32_t cap) {
    if (cap != project->cap) {
        project->by_path = NEW_N(&project->arena, Module *, cap);
        project->cap = cap;
    } else {
        memset(project->by_path, 0, sizeof(Module *) * cap);
    }
    project->len = 0;
    for (Module *m = project->modules; m; m = m->next) {
        project->by_path[find_path_slot(project, m->path)] = m;
        project->len++;
    }
}

// ---- module-level names ----------------------------------------------------

static uint32_t name_slot(const Module *m, const Sym *name) {
    return name->hash & (m->slot_count - 1);
}

static void bind(Module *m, Binding b) {
    Binding *at = NEW(&m->arena, Binding);
    *at = b;
    Binding **slot = &m->slots[name_slot(m, b.name)];
    for (Binding **old = slot; *old; old = &(*old)->chain) {
        if ((*old)->name != b.name) continue;
        at->earlier = *old;
        at->chain = (*old)->chain;
        *old = at;
        return;
    }
    at->chain = *slot;
    *slot = at;
}

const Binding *module_binding(const Module *m, const Sym *name) {
    for (Binding *b = m->slots[name_slot(m, name)]; b; b = b->chain) {
        if (b->name == name) return b;
    }
    return NULL;
}

// The package that `level` dots mean, then `.name`.
static Str absolute_module(Module *m, uint32_t level, const Sym *name) {
    Str base = m->package;
    if (level == 0) base = (Str){0};
    for (uint32_t i = 1; i < level; i++) {
        size_t n = base.len;
        while (n > 0 && base.at[n - 1] != '.') n--;
        base.len = n ? n - 1 : 0;
    }
    if (!name) return base;
    if (base.len == 0) return sym_str(name);
    return arena_printf(&m->arena, "%.*s.%s", STR_FMT(base), name->text);
}

static void bind_import(Module *m, Node *stmt, bool conditional) {
    for (uint32_t i = 0; i < stmt->u.import.names.len; i++) {
        Node *alias = stmt->u.import.names.at[i];
        Str full = sym_str(alias->u.alias.name);
        const Sym *name = alias->u.alias.asname;
        if (!name) { // `import a.b` binds `a`
            size_t n = 0;
            while (n < full.len && full.at[n] != '.') n++;
            full.len = n;
            name = sym_intern(m->project->symbols, full);
        }
        bind(m, (Binding){.kind = BIND_MODULE, .name = name, .node = stmt,
                          .module = full, .conditional = conditional});
    }
}

static void bind_import_from(Module *m, Node *stmt, bool conditional) {
    Str module = absolute_module(m, stmt->u.import_from.level,
                                 stmt->u.import_from.module);
    for (uint32_t i = 0; i < stmt->u.import_from.names.len; i++) {
        Node *alias = stmt->u.import_from.names.at[i];
        if (str_is(sym_str(alias->u.alias.name), "*")) {
            if (!m->type_checking) vec_push(&m->arena, &m->stars, module);
            continue;
        }
        const Sym *name = alias->u.alias.asname ? alias->u.alias.asname
                                                : alias->u.alias.name;
        bind(m, (Binding){.kind = BIND_FROM, .name = name, .node = stmt,
                          .module = module, .attr = alias->u.alias.name,
                          .conditional = conditional});
    }
}

static void bind_target(Module *m, Node *stmt, Node *target, Node *value,
                        bool conditional) {
    if (target->kind == N_NAME) {
        bind(m, (Binding){.kind = value ? BIND_VALUE : BIND_OTHER,
                          .name = target->u.name.id, .node = stmt,
                          .value = value, .conditional = conditional});
    } else if (target->kind == N_TUPLE || target->kind == N_LIST) {
        for (uint32_t i = 0; i < target->u.list.elts.len; i++) {
            bind_target(m, stmt, target->u.list.elts.at[i], NULL, conditional);
        }
    } else if (target->kind == N_STARRED) {
        bind_target(m, stmt, target->u.return_.value, NULL, conditional);
    }
}

static void index_block(Module *m, NodeList body, bool conditional, int depth);

static void index_try(Module *m, Node *stmt, int depth) {
    index_block(m, stmt->u.try_->body, true, depth);
    for (uint32_t i = 0; i < stmt->u.try_->handlers.len; i++) {
        index_block(m, stmt->u.try_->handlers.at[i]->u.handler.body, true,
                    depth);
    }
    index_block(m, stmt->u.try_->orelse, true, depth);
    index_block(m, stmt->u.try_->finalbody, true, depth);
}

static void index_compound(Module *m, Node *stmt, int depth) {
    switch ((int)stmt->kind) {
    case N_IF:
    case N_WHILE:
        // `if TYPE_CHECKING:` does not run: its stars import nothing.
        m->type_checking = stmt->u.while_.test->kind == N_NAME &&
                           str_is(sym_str(stmt->u.while_.test->u.name.id), "TYPE_CHECKING");
        index_block(m, stmt->u.while_.body, true, depth);
        m->type_checking = false;
        index_block(m, stmt->u.while_.orelse, true, depth);
        break;
    case N_FOR:
        bind_target(m, stmt, stmt->u.for_->target, NULL, true);
        index_block(m, stmt->u.for_->body, true, depth);
        index_block(m, stmt->u.for_->orelse, true, depth);
        break;
    case N_WITH:
        index_block(m, stmt->u.with.body, true, depth);
        break;
    case N_TRY:
    case N_TRY_STAR:
        index_try(m, stmt, depth);
        break;
    default:
        break;
    }
}

static void index_statement(Module *m, Node *stmt, bool conditional,
                            int depth) {
    Binding b = {.node = stmt, .conditional = conditional};
    switch ((int)stmt->kind) {
    case N_FUNCTION_DEF:
    case N_ASYNC_FUNCTION_DEF:
        b.kind = BIND_FUNCTION;
        b.name = stmt->u.function->name;
        bind(m, b);
        break;
    case N_CLASS_DEF:
        b.kind = BIND_CLASS;
        b.name = stmt->u.class_->name;
        bind(m, b);
        break;
    case N_ASSIGN:
        for (uint32_t i = 0; i < stmt->u.assign.targets.len; i++) {
            bind_target(m, stmt, stmt->u.assign.targets.at[i],
                        stmt->u.assign.value, conditional);
        }
        break;
    case N_ANN_ASSIGN:
        if (stmt->u.ann_assign.value) {
            bind_target(m, stmt, stmt->u.ann_assign.target,
                        stmt->u.ann_assign.value, conditional);
        }
        break;
    case N_AUG_ASSIGN:
        bind_target(m, stmt, stmt->u.aug_assign.target, NULL, conditional);
        break;
    case N_IMPORT:
        bind_import(m, stmt, conditional);
        break;
    case N_IMPORT_FROM:
        bind_import_from(m, stmt, conditional);
        break;
    default:
        index_compound(m, stmt, depth + 1);
        break;
    }
}

static void index_block(Module *m, NodeList body, bool conditional,
                        int depth) {
    if (depth > 64) return;
    for (uint32_t i = 0; i < body.len; i++) {
        index_statement(m, body.at[i], conditional, depth);
    }
}

// ---- opening ---------------------------------------------------------------

static void add_trace(Project *project, Str path, uint64_t hash) {
    if (!project->traces) return;
    Trace trace = {arena_str(&project->arena, path), hash};
    vec_push(&project->arena, &project->trace, trace);
}

static bool is_there(Project *project, const char *path) {
    bool there = file_kind(path) == FILE_REGULAR;
    add_trace(project, str_of(path), there ? TRACE_PRESENT : TRACE_ABSENT);
    return there;
}

static void trace_bytes(Project *project, const char *path, Str bytes) {
    if (!project->traces) return;
    uint64_t hash = hash_content(bytes);
    add_trace(project, str_of(path), hash <= TRACE_PRESENT ? hash + 2 : hash);
}

static bool is_package_folder(Project *project, Arena *scratch, Str folder) {
    return is_there(project, path_join(scratch, folder, STR("__init__.py")));
}

// Names the module by the packages around it.
static void name_module(Module *m, const char *path) {
    Str base = path_base(str_of(path));
    bool init = str_is(base, "__init__.py");
    Str stem = str_ends(base, ".py") ? (Str){base.at, base.len - 3} : base;
    Str folder = path_folder(str_of(path));
    Str package = {0};
    for (;;) {
        // The working folder may be a package too: its name is needed.
        if (str_is(folder, ".")) folder = m->project->here;
        if (folder.len <= 1 || !is_package_folder(m->project, &m->arena, folder)) break;
        Str part = path_base(folder);
        package = package.len ? arena_printf(&m->arena, "%.*s.%.*s",
                                             STR_FMT(part), STR_FMT(package))
                              : arena_str(&m->arena, part);
        folder = path_folder(folder);
    }
    m->search = arena_str(&m->arena, folder);
    m->package = package;
    m->dotted = stem;
    if (package.len) {
        m->dotted = init ? package
                         : arena_printf(&m->arena, "%.*s.%.*s",
                                        STR_FMT(package), STR_FMT(stem));
    }
}

static Module *new_module(Project *project, const char *path, Str shown) {
    Arena arena;
    arena_init(&arena);
    Module *m = NEW(&arena, Module);
    m->project = project;
    m->path = arena_cstr(&arena, str_of(path));
    m->shown = arena_str(&arena, shown);
    m->arena = arena;
    return m;
}

void drop_module(Module *m) {
    Arena arena = m->arena;
    arena_free(&arena);
}

static bool fill_module(Module *m, Str bytes, Err *err) {
    char *shown = arena_cstr(&m->arena, m->shown);
    if (!source_init(&m->source, &m->arena, shown, bytes, err)) return false;
    m->parsed = parser_parse(&m->source, &m->arena, m->project->symbols);
    m->slot_count = 64;
    while (m->slot_count < m->parsed.module->u.module.body.len) {
        m->slot_count *= 2;
    }
    m->slots = NEW_N(&m->arena, Binding *, m->slot_count);
    name_module(m, m->path);
    index_block(m, m->parsed.module->u.module.body, false, 0);
    return true;
}

static Module *keep_module(Project *project, Module *m) {
    m->next = project->modules;
    project->modules = m;
    if (project->len * 2 >= project->cap) {
        rebuild_paths(project, project->cap * 2);
    } else {
        project->by_path[find_path_slot(project, m->path)] = m;
        project->len++;
    }
    note_opened(m);
    return m;
}

void project_give_text(Project *project, const char *path, Str text) {
    GivenText given = {path, text};
    vec_push(&project->arena, &project->given, given);
}

static bool read_module(Str *out, Module *m, const char *path, Err *err) {
    const Project *project = m->project;
    for (uint32_t i = 0; i < project->given.len; i++) {
        if (strcmp(project->given.at[i].path, path) != 0) continue;
        *out = arena_str(&m->arena, project->given.at[i].text);
        return true;
    }
    return file_read(out, &m->arena, path, FILE_MAX_BYTES, err);
}

// Of a file without the word, only the bytes are read.
static Module *open_with_word(Project *project, const char *path, Str shown, Str word, Err *err) {
    Module *m = new_module(project, path, shown);
    Str bytes;
    bool read = read_module(&bytes, m, path, err);
    if (read) trace_bytes(project, path, bytes);
    else add_trace(project, str_of(path), TRACE_ABSENT);
    if (!read || !str_contains(bytes, word) || !fill_module(m, bytes, err)) {
        drop_module(m);
        return NULL;
    }
    return keep_module(project, m);
}

Module *project_open(Project *project, const char *path, Str shown, Err *err) {
    Module *open = project->by_path[find_path_slot(project, path)];
    if (!open) return open_with_word(project, path, shown, STR(""), err);
    project_touch(open);
    return open;
}

Module *project_open_naming(Project *project, const char *path, Str word) {
    Module *open = project->by_path[find_path_slot(project, path)];
    Err ignored;
    if (!open) {
        return open_with_word(project, path, str_of(path + project->prefix.len), word, &ignored);
    }
    if (!str_contains(open->source.text, word)) return NULL;
    project_touch(open);
    return open;
}

// ---- resolving -------------------------------------------------------------

// Libraries whose meaning is built in (flow/ops.c) or that a model never
// defines its arithmetic in; their source is not read.
static bool is_foreign(Str dotted) {
    static const char *const roots[] = {
        "torch", "torch_npu", "numpy", "math", "typing", "collections",
        "functools", "dataclasses", "os", "sys", "re", "json", "copy", "abc",
        "enum", "warnings", "logging", "itertools", "einops", "inspect",
        "pathlib", "contextlib", "tensorflow", "jax", "flax",
        "huggingface_hub", "safetensors", "tokenizers", "types", "random",
        "triton", "apex", "PIL", "scipy",
    };
    size_t n = 0;
    while (n < dotted.len && dotted.at[n] != '.') n++;
    Str head = {dotted.at, n};
    for (size_t i = 0; i < COUNT(roots); i++) {
        if (str_is(head, roots[i])) return true;
    }
    return false;
}

static char *dotted_path(Arena *arena, Str folder, Str dotted) {
    char *name = arena_cstr(arena, dotted);
    for (char *p = name; *p; p++) {
        if (*p == '.') *p = '/';
    }
    return path_join(arena, folder, str_of(name));
}

static uint32_t memo_slot(const ModuleMemo *at, uint32_t cap, Str search,
                          Str dotted) {
    uint64_t h = hash_bytes(HASH_SEED, search.at, search.len);
    uint32_t i = (uint32_t)hash_bytes(h, dotted.at, dotted.len) & (cap - 1);
    while (at[i].dotted.at && !(str_eq(at[i].dotted, dotted) &&
                                str_eq(at[i].search, search))) {
        i = (i + 1) & (cap - 1);
    }
    return i;
}

static void grow_found(Project *project) {
    if (project->found_len * 2 < project->found_cap) return;
    uint32_t cap = project->found_cap ? project->found_cap * 2 : 256;
    ModuleMemo *at = NEW_N(&project->arena, ModuleMemo, cap);
    for (uint32_t i = 0; i < project->found_cap; i++) {
        const ModuleMemo *old = &project->found[i];
        if (old->dotted.at) at[memo_slot(at, cap, old->search, old->dotted)] = *old;
    }
    project->found = at;
    project->found_cap = cap;
}

// A path below the working folder as the paths of a scan are written, so that a
// file has one path, whoever leads to it.
static Str as_scanned(const Project *project, Str path) {
    Str here = project->here, prefix = project->prefix;
    bool relative = prefix.len == 0 || prefix.at[0] != '/';
    bool below = path.len > here.len + 1 && path.at[here.len] == '/' &&
                 memcmp(path.at, here.at, here.len) == 0;
    return relative && below ? (Str){path.at + here.len + 1, path.len - here.len - 1} : path;
}

// Looks for `a/b/c.py` and `a/b/c/__init__.py` below the search folder.
static ModuleMemo look_for_module(Project *project, Str search, Str dotted) {
    Arena *arena = &project->arena;
    ModuleMemo memo = {arena_str(arena, search), arena_str(arena, dotted), NULL, {0}};
    char *stem = dotted_path(arena, search, dotted);
    char *shown = dotted_path(arena, STR(""), dotted);
    Str init = as_scanned(project, arena_printf(arena, "%s/__init__.py", stem));
    Str file = as_scanned(project, arena_printf(arena, "%s.py", stem));
    if (is_there(project, init.at)) {
        memo.path = (char *)(uintptr_t)init.at;
        memo.shown = arena_printf(arena, "%s/__init__.py", shown);
    } else if (is_there(project, file.at)) {
        memo.path = (char *)(uintptr_t)file.at;
        memo.shown = arena_printf(arena, "%s.py", shown);
    }
    Str path = str_of(memo.path);
    Str prefix = project->prefix;
    // A scan of the working folder has no prefix: its paths are shown as they are.
    bool below = memo.path && path.len > prefix.len && path.at[0] != '/' &&
                 prefix.len == 0;
    below |= memo.path && prefix.len && path.len > prefix.len &&
             memcmp(path.at, prefix.at, prefix.len) == 0;
    if (below) {
        memo.shown = (Str){path.at + prefix.len, path.len - prefix.len};
        if (str_starts(memo.shown, "./")) memo.shown = (Str){memo.shown.at + 2, memo.shown.len - 2};
    }
    return memo;
}

enum { UPWARDS_MAX = 8 };

// The folder around `folder`, as long as that belongs to what is scanned or is the working
// folder; empty otherwise.
static Str folder_around(const Project *project, Str folder) {
    Str up = path_folder(folder), prefix = project->prefix;
    if (folder.len == 0 || folder.at[0] == '.') return (Str){0}; // ".", "../x"
    if (folder.at[0] != '/') return str_is(up, ".") ? project->here : up;
    bool inside = prefix.len > 1 && up.len + 1 >= prefix.len && prefix.at[0] == '/' &&
                  memcmp(up.at, prefix.at, prefix.len - 1) == 0;
    return inside ? up : (Str){0};
}

// Beside the package that `search` holds, then in the folders around it and their `src`:
// examples/chat/model.py runs with the packages of the repository on its path.
static ModuleMemo look_around(Project *project, Str search, Str dotted) {
    ModuleMemo memo = look_for_module(project, search, dotted);
    Str folder = search;
    for (int i = 0; i < UPWARDS_MAX && !memo.path; i++) {
        folder = folder_around(project, folder);
        if (folder.len == 0) break;
        ModuleMemo found = look_for_module(project, folder, dotted);
        if (!found.path) {
            Str src = str_of(path_join(&project->arena, folder, STR("src")));
            found = look_for_module(project, src, dotted);
        }
        memo.path = found.path;
        if (found.path) memo.shown = found.shown;
    }
    return memo;
}

// Where `a.b.c` is, seen from `from`; NULL if it is no file of the project.
static const ModuleMemo *locate_module(Module *from, Str dotted) {
    if (dotted.len == 0 || is_foreign(dotted)) return NULL;
    for (size_t i = 0; i < dotted.len; i++) {
        if (dotted.at[i] == '/' || dotted.at[i] == 0) return NULL;
    }
    Project *project = from->project;
    grow_found(project);
    uint32_t i = memo_slot(project->found, project->found_cap, from->search, dotted);
    if (!project->found[i].dotted.at) {
        project->found[i] = look_around(project, from->search, dotted);
        project->found_len++;
    }
    return project->found[i].path ? &project->found[i] : NULL;
}

// Opens `a.b.c` seen from `from`.
static Module *find_module(Module *from, Str dotted) {
    const ModuleMemo *memo = locate_module(from, dotted);
    Err err;
    return memo ? project_open(from->project, memo->path, memo->shown, &err) : NULL;
}

Def project_lookup_shallow(Module *module, const Binding *binding) {
    Def def = {.kind = DEF_EXTERNAL, .dotted = binding->module};
    if (locate_module(module, binding->module)) def.kind = DEF_MODULE;
    if (binding->kind != BIND_FROM || def.kind == DEF_MODULE) return def;
    Str sub = arena_printf(&module->arena, "%.*s.%s", STR_FMT(binding->module),
                           binding->attr->text);
    if (locate_module(module, sub)) def.kind = DEF_MODULE;
    return def;
}

static Def lookup(Module *module, const Sym *name, int follow);

static Def external(Arena *arena, Str owner, const Sym *attr) {
    Def def = {.kind = DEF_EXTERNAL};
    def.dotted = attr ? arena_dotted(arena, owner, sym_str(attr)) : owner;
    return def;
}

static Def module_def(Module *from, Str dotted) {
    Module *m = find_module(from, dotted);
    if (!m) return external(&from->arena, dotted, NULL);
    return (Def){.kind = DEF_MODULE, .module = m, .dotted = m->dotted};
}

// `attr` of the module `dotted`: a name in it, or a submodule.
static Def from_import(Module *from, Str dotted, const Sym *attr, int follow) {
    Module *m = find_module(from, dotted);
    Str sub = arena_dotted(&from->arena, dotted, sym_str(attr));
    if (!m) {
        Module *submodule = find_module(from, sub);
        if (submodule) {
            return (Def){.kind = DEF_MODULE, .module = submodule, .dotted = sub};
        }
        return external(&from->arena, sub, NULL);
    }
    // A submodule comes before the stars of the package: fewer files are read.
    bool own = module_binding(m, attr) != NULL;
    if (own && m != from) {
        Def def = lookup(m, attr, follow + 1);
        if (def.kind != DEF_NONE) return def;
    }
    Module *submodule = find_module(from, sub);
    if (submodule) {
        return (Def){.kind = DEF_MODULE, .module = submodule, .dotted = sub};
    }
    Def def = own || m == from ? (Def){0} : lookup(m, attr, follow + 1);
    return def.kind != DEF_NONE ? def : external(&from->arena, sub, NULL);
}

static Def binding_def(Module *m, const Binding *b, int follow) {
    Def def = {.module = m, .node = b->node};
    switch (b->kind) {
    case BIND_FUNCTION:
    case BIND_CLASS:
        def.kind = b->kind == BIND_CLASS ? DEF_CLASS : DEF_FUNCTION;
        def.dotted = arena_dotted(&m->arena, m->dotted, sym_str(b->name));
        return def;
    case BIND_VALUE:
        if (b->value->kind == N_NAME && b->value->u.name.id != b->name) {
            Def alias = lookup(m, b->value->u.name.id, follow + 1);
            if (alias.kind != DEF_NONE) return alias;
        }
        def.kind = DEF_VALUE;
        def.node = b->value;
        def.dotted = arena_dotted(&m->arena, m->dotted, sym_str(b->name));
        return def;
    case BIND_MODULE:
        return module_def(m, b->module);
    case BIND_FROM:
        return from_import(m, b->module, b->attr, follow);
    case BIND_OTHER:
        break;
    }
    return (Def){0};
}

// The binding in force after the module ran: the last one, but among
// conditional ones (try: import / except: stub) the first that is not a
// constant or a stub assignment.
static const Binding *binding_in_force(const Binding *last) {
    if (!last->conditional || !last->earlier) return last;
    const Binding *best = last;
    for (const Binding *b = last; b; b = b->earlier) {
        if (b->kind != BIND_OTHER && !(b->kind == BIND_VALUE && b->value &&
                                       b->value->kind == N_CONSTANT)) {
            best = b;
        }
        if (!b->conditional) break;
    }
    return best;
}

// Names of the language itself are not looked for behind stars.
static bool is_builtin(const Sym *name) {
    static const char *const names[] = {
        "abs", "all", "any", "bool", "bytes", "callable", "classmethod", "dict",
        "dir", "divmod", "enumerate", "eval", "filter", "float", "format",
        "frozenset", "getattr", "hasattr", "hash", "hex", "id", "input", "int",
        "isinstance", "issubclass", "iter", "len", "list", "map", "max", "min",
        "next", "object", "open", "ord", "pow", "print", "property", "range",
        "repr", "reversed", "round", "set", "setattr", "slice", "sorted",
        "staticmethod", "str", "sum", "super", "tuple", "type", "vars", "zip",
        "ValueError", "TypeError", "KeyError", "RuntimeError", "Exception",
        "ImportError", "NotImplementedError", "AttributeError", "IndexError",
        "OSError", "StopIteration", "AssertionError", "self", "NotImplemented",
    };
    for (size_t i = 0; i < COUNT(names); i++) {
        if (str_is(sym_str(name), names[i])) return true;
    }
    return false;
}

// The bindings besides `best`: of one branch or another.
static void add_others(Def *def, Module *m, const Binding *last, const Binding *best,
                       int follow) {
    for (const Binding *b = last; b; b = b->earlier) {
        if (b != best) {
            Def *other = NEW(&m->arena, Def);
            *other = binding_def(m, b, follow);
            const Def **end = &other->other;
            while (*end) end = (const Def **)(uintptr_t)&(*end)->other;
            *end = def->other;
            def->other = other;
        }
        if (!b->conditional) break;
    }
}

static Def lookup(Module *module, const Sym *name, int follow) {
    if (follow > FOLLOW_MAX) return (Def){0};
    const Binding *b = module_binding(module, name);
    if (b) {
        const Binding *best = binding_in_force(b);
        Def def = binding_def(module, best, follow);
        if (b->conditional && b->earlier) add_others(&def, module, b, best, follow);
        return def;
    }
    if (module->stars.len == 0 || is_builtin(name)) return (Def){0};
    // Packages may star-import each other: each module is asked once.
    uint64_t search = module->project->star_search;
    if (module->star_search == search && module->star_name == name) return (Def){0};
    module->star_search = search;
    module->star_name = name;
    for (uint32_t i = module->stars.len; i-- > 0;) {
        Module *star = find_module(module, module->stars.at[i]);
        if (!star || star == module) continue;
        Def def = lookup(star, name, follow + 1);
        if (def.kind != DEF_NONE) return def;
    }
    return (Def){0};
}

static uint32_t name_memo_slot(const NameMemo *at, uint32_t cap, const Sym *name) {
    uint32_t i = name->hash & (cap - 1);
    while (at[i].name && at[i].name != name) i = (i + 1) & (cap - 1);
    return i;
}

static void grow_name_memo(Module *m) {
    if (m->memo_epoch != m->project->epoch) { // modules it speaks of are gone
        if (m->memo_cap) memset(m->memo, 0, sizeof(NameMemo) * m->memo_cap);
        m->memo_len = 0;
        m->memo_epoch = m->project->epoch;
    }
    if (m->memo_len * 2 < m->memo_cap) return;
    uint32_t cap = m->memo_cap ? m->memo_cap * 2 : 64;
    NameMemo *at = NEW_N(&m->arena, NameMemo, cap);
    for (uint32_t i = 0; i < m->memo_cap; i++) {
        if (m->memo[i].name) at[name_memo_slot(at, cap, m->memo[i].name)] = m->memo[i];
    }
    m->memo = at;
    m->memo_cap = cap;
}

Def project_lookup(Module *module, const Sym *name) {
    grow_name_memo(module);
    uint32_t i = name_memo_slot(module->memo, module->memo_cap, name);
    if (module->memo[i].name) return module->memo[i].def;
    module->project->star_search++;
    Def def = lookup(module, name, 0);
    grow_name_memo(module); // the lookup may have used it
    i = name_memo_slot(module->memo, module->memo_cap, name);
    if (!module->memo[i].name) module->memo_len++;
    module->memo[i] = (NameMemo){name, def};
    return def;
}

Def project_import(Module *module, const Node *stmt, uint32_t index,
                   const Sym **name) {
    bool from = stmt->kind == N_IMPORT_FROM;
    Node *alias = from ? stmt->u.import_from.names.at[index]
                       : stmt->u.import.names.at[index];
    const Sym *full = alias->u.alias.name;
    *name = alias->u.alias.asname;
    if (from) {
        if (!*name) *name = full;
        if (str_is(sym_str(full), "*")) {
            *name = NULL;
            return (Def){0};
        }
        Str dotted = absolute_module(module, stmt->u.import_from.level,
                                     stmt->u.import_from.module);
        module->project->star_search++;
        return from_import(module, dotted, full, 0);
    }
    Str dotted = sym_str(full);
    if (!*name) { // `import a.b` binds `a`
        size_t n = 0;
        while (n < dotted.len && dotted.at[n] != '.') n++;
        dotted.len = n;
        *name = sym_intern(module->project->symbols, dotted);
    }
    return module_def(module, dotted);
}

Def project_member(const Def *owner, const Sym *attr) {
    if (owner->kind == DEF_EXTERNAL) {
        return external(&owner->module->arena, owner->dotted, attr);
    }
    if (owner->kind == DEF_MODULE) {
        owner->module->project->star_search++;
        bool own = module_binding(owner->module, attr) != NULL;
        Def def = own ? lookup(owner->module, attr, 1) : (Def){0};
        if (def.kind != DEF_NONE) return def;
        return from_import(owner->module, owner->module->dotted, attr, 0);
    }
    return (Def){0};
}
