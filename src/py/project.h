// project.h - the modules of the scanned code: names, imports, classes.
//
// A name is resolved through imports, re-exports and aliases to where it is
// defined. Modules are read on demand and kept until project_trim drops the
// ones that were not used lately; nothing is ever imported or executed. Names
// of torch stay external: what they mean is the business of flow/ops.c.
#ifndef NPUFUSE_PROJECT_H
#define NPUFUSE_PROJECT_H

#include "base/arena.h"
#include "base/sym.h"
#include "py/ast.h"
#include "py/parser.h"
#include "py/source.h"

typedef struct Project Project;
typedef struct Module Module;

typedef enum BindKind {
    BIND_FUNCTION, BIND_CLASS,
    BIND_VALUE,  // name = value
    BIND_MODULE, // import a.b as name
    BIND_FROM,   // from a.b import attr as name
    BIND_OTHER,  // for, with, unpacking, del, global statements
} BindKind;

// One binding of a module-level name, in source order.
typedef struct Binding {
    BindKind kind;
    const Sym *name;
    Node *node;      // the statement
    Node *value;     // BIND_VALUE
    Str module;      // BIND_MODULE, BIND_FROM: absolute dotted name
    const Sym *attr; // BIND_FROM
    bool conditional; // inside if, try, for, with or while
    struct Binding *earlier; // the same name, bound before
    struct Binding *chain;   // hash chain
} Binding;

struct Module {
    Project *project;
    Arena arena;
    const char *path; // to open
    Str shown;        // for people
    Str dotted;       // "pkg.sub.mod"
    Str package;      // what relative imports start from
    Str search;       // the folder that holds the top-level package
    SourceText source;
    ParseResult parsed;
    Binding **slots; // hash of names
    uint32_t slot_count;
    VEC(Str) stars; // modules of `from m import *`
    VEC(Node *) calls; // every Call of the file, for finding constructors
    Node **call_owners;  // the innermost function of each call, or NULL
    Node **call_classes; // the class whose method that is, or NULL
    uint32_t *call_first, *call_next; // calls by the last name of what they call:
    uint32_t call_slots;              // indices plus 1, in source order
    bool calls_listed;
    bool type_checking; // while names are indexed: inside such a branch
    uint64_t last_use;
    uint32_t uses;    // scanned files that asked for it
    uint64_t used_in; // the latest of them, as `scanned` of the project, plus 1
    bool kept;        // while modules are dropped
    const Sym *star_name; // looked for behind the stars of this module ...
    uint64_t star_search; // ... in this search
    struct Changes *changes; // what it changes after binding (flow/changes.c)
    struct NameMemo *memo; // what names were found to mean
    uint32_t memo_cap, memo_len;
    uint64_t memo_epoch;
    Module *next;
};

typedef enum DefKind {
    DEF_NONE, DEF_FUNCTION, DEF_CLASS, DEF_VALUE, DEF_MODULE, DEF_EXTERNAL,
} DefKind;

// What a name means. FUNCTION and CLASS: `node` is the statement; VALUE:
// `node` is the expression; EXTERNAL: only `dotted` is known.
typedef struct Def {
    DefKind kind;
    Module *module;
    Node *node;
    Str dotted;
    const struct Def *other; // of the next binding that could be the one in force, or NULL
} Def;

// Where a dotted name was looked for, and what was found.
typedef struct ModuleMemo {
    Str search, dotted;
    char *path;  // NULL: no file of the project
    Str shown;
} ModuleMemo;

// Text that is read in place of what the file at `path` holds.
typedef struct GivenText {
    const char *path;
    Str text;
} GivenText;

// One thing that the answers of a project rest on: a file's bytes, or that a
// place holds a file or not.
typedef struct Trace {
    Str path;
    uint64_t hash; // of the bytes (hash_content); TRACE_*
} Trace;

enum { TRACE_ABSENT, TRACE_PRESENT }; // a hash is neither

// What a module-level name means; forgotten when modules are dropped.
typedef struct NameMemo {
    const Sym *name;
    Def def;
} NameMemo;

struct Project {
    Arena arena; // run lifetime
    SymTable *symbols;
    Module *modules;
    Module **by_path; // open addressing by path hash
    uint32_t cap, len;
    uint64_t clock;
    uint64_t star_search; // counts the names looked for
    uint64_t epoch; // counts the times that modules were dropped
    Str here;       // the working folder, absolute
    Str prefix;     // paths that start so are shown without it
    const char **files; // every file of the scan, for finding callers
    uint32_t file_count;
    uint64_t scanned; // files: counts the calls of project_trim
    struct UseCounts *counts; // what was asked for how often (trim.c)
    size_t read_bytes; // since modules were last dropped, or that was thought of
    struct Folders *folders; // of `files`, once asked for (folders.c)
    struct Options *options; // that they declare, once asked for (options.c)
    VEC(GivenText) given;
    bool traces;      // whether `trace` is kept
    VEC(Trace) trace; // may name a path more than once
    ModuleMemo *found; // open addressing
    uint32_t found_cap, found_len;
};

void project_init(Project *project, SymTable *symbols);
void project_free(Project *project);
// Reads and parses `path` (once). NULL with a message if it can't be read.
Module *project_open(Project *project, const char *path, Str shown, Err *err);
// The same of a scanned file that has the word somewhere; NULL if it has not, or cannot be
// read. One that is not open yet is not parsed for that.
Module *project_open_naming(Project *project, const char *path, Str word);
// From now on the module at `path` has this text, whoever leads to it; there
// need be no such file. Both are borrowed.
void project_give_text(Project *project, const char *path, Str text);
// Somebody asks for the module: it stays open longer.
void project_touch(Module *module);
// A file was scanned. Drops the least used modules until at most `max_bytes` are held. No pointer
// into a module may be kept across this call.
void project_trim(Project *project, size_t max_bytes);

// What `name` means at module level of `module`, imports followed.
Def project_lookup(Module *module, const Sym *name);
// Whether an imported binding leads into the project, without reading more
// than the folder: MODULE or EXTERNAL.
Def project_lookup_shallow(Module *module, const Binding *binding);
// What the `index`-th name of an import statement binds, and to what;
// `*name` is NULL for a star.
Def project_import(Module *module, const Node *stmt, uint32_t index,
                   const Sym **name);
// `attr` of a module, class-level attribute or external name.
Def project_member(const Def *owner, const Sym *attr);
// The last binding of the name in this module itself, or NULL.
const Binding *module_binding(const Module *module, const Sym *name);

// The class statement's own function `name`, or NULL.
Node *class_method(const Node *class_node, const Sym *name);
// The class statement's own `name = value` or `name: T = value`; else NULL.
Node *class_value(const Node *class_node, const Sym *name);
// The annotation of `name: T` in the class body, or NULL.
Node *class_annotation(const Node *class_node, const Sym *name);

// Whether the class statement has the text as a literal.
bool class_has_text(const Def *class_def, Str text);

enum { MRO_MAX = 16 };
// The class and its bases, nearest first (depth first, left to right, no
// repeats); bases that are not in the project are EXTERNAL. Returns the count.
uint32_t class_mro(Def *out, const Def *class_def);

// Fills module->calls.
void module_list_calls(Module *module);
// Walks the calls of what may be called `name`, f() or x.f(), in source order:
// the index plus 1 of the first one, and of the one behind `call`; 0 at the end.
uint32_t module_first_call(const Module *module, const Sym *name);
uint32_t module_next_call(const Module *module, uint32_t call);

// Files of the scan, as indices in project->files, in order.
typedef struct FileList {
    const uint32_t *at;
    uint32_t len;
} FileList;
// Those that stand in the folder itself.
FileList project_files_in(Project *project, Str folder);

#endif
