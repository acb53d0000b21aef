// api.c - `npufuse api`: what the installed torch_npu says of its operators.
#include "base/base.h"

#include "apidoc/operator.h"
#include "base/file.h"
#include "base/locate.h"
#include "cli/api_book.h"
#include "cli/api_check.h"
#include "cli/api_show.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "model/utf8.h"

#include <errno.h>
#include <stdlib.h>

#define PUBLIC_DOCS "https://gitcode.com/Ascend/op-plugin/tree/master/docs/zh/custom_APIs"

typedef struct ApiArgs {
    BookChoice choice;
    const char *format, *lang, *max, *prefix;
    bool full;
} ApiArgs;

#define FIELD(name) offsetof(ApiArgs, name)

static const Option options[] = {
    {"full", 0, OPTION_FLAG, NULL, "show: whole sections", FIELD(full)},
    {"max", 0, OPTION_TEXT, "N", "search: at most N results (10)", FIELD(max)},
    {"prefix", 0, OPTION_TEXT, "P", "list: names that begin with P", FIELD(prefix)},
    {"docs-path", 0, OPTION_TEXT, "PATH",
     "a _op_plugin_docs.py, a wheel, an unpacked torch_npu, or a folder of\n"
     "op-plugin's Markdown pages, in place of the installed one",
     FIELD(choice.docs_path)},
    {"python", 0, OPTION_TEXT, "EXE", "whose packages count (VIRTUAL_ENV, python3)",
     FIELD(choice.python)},
    {"format", 0, OPTION_TEXT, "text|json", "what is printed (text)", FIELD(format)},
    {"lang", 0, OPTION_TEXT, "en|zh", "of the titles (LANG)", FIELD(lang)},
    {"no-cache", 0, OPTION_FLAG, NULL, "read the shared library again", FIELD(choice.no_cache)},
};

static const Usage usage = {
    .name = "api",
    .operands = "show NAME | search WORD... | list | check",
    .purpose = "show: the text, signature and registered schema of one operator, and where\n"
               "they disagree.  search: operators whose name or text has every WORD.\n"
               "list: every name that has a text.  check: what npufuse states of operators (ops/)\n"
               "against what is registered; a rule whose operator differs is not recommended.\n"
               "The torch_npu is found by looking at files; it is not imported and no Python\n"
               "is started.",
    .example = "npufuse api show npu_rms_norm",
    .options = options,
    .option_count = COUNT(options),
    .exit_help = {
        [EXIT_NO] = "no such name, nothing found; check: an operator is absent or differs",
        [EXIT_USAGE] = "no torch_npu, or a file that cannot be read",
    },
};

typedef struct Job {
    Arena *run;
    const ApiArgs *given;
    Book book;
    Buf out;
} Job;

static bool wants_json(const Job *job) {
    return strcmp(job->given->format, "json") == 0;
}

// JSON escapes what could steer a terminal; text shows it as '?'.
static int finish(Job *job, int code) {
    Err err;
    Buf safe = {0};
    if (!wants_json(job)) utf8_add_safe(&safe, buf_str(&job->out));
    bool ok = output_write(buf_str(wants_json(job) ? &job->out : &safe), &err);
    buf_free(&job->out);
    buf_free(&safe);
    return ok ? code : output_fail(EXIT_USAGE, "%s", err.text);
}

static Names all_names(const Job *job) {
    Names names = {0};
    for (uint32_t i = 0; i < job->book.docs.at.len; i++) {
        if (job->book.docs.at.at[i].superseded) continue;
        vec_push(job->run, &names, job->book.docs.at.at[i].name);
    }
    for (uint32_t i = 0; i < job->book.library.schemas.len; i++) {
        Str name = job->book.library.schemas.at[i].name;
        if (i && str_eq(name, job->book.library.schemas.at[i - 1].name)) continue;
        vec_push(job->run, &names, name);
    }
    return names;
}

// ---- show -----------------------------------------------------------------------------

// "torch_npu.npu_x", "torch.ops.npu.npu_x" and "npu_x" are one name.
static Str bare_name(const char *word) {
    static const char *const prefixes[] = {"torch_npu.", "torch.ops.npu.", "npu::"};
    Str name = str_of(word);
    for (size_t i = 0; i < COUNT(prefixes); i++) {
        if (!str_starts(name, prefixes[i])) continue;
        size_t n = strlen(prefixes[i]);
        return (Str){name.at + n, name.len - n};
    }
    return name;
}

static void gather(ApiView *view, Job *job) {
    const Docs *docs = &job->book.docs;
    for (uint32_t i = 0; i < docs->at.len; i++) {
        if (!str_eq(docs->at.at[i].name, view->name)) continue;
        const DocEntry *entry = &docs->at.at[i];
        vec_push(job->run, &view->entries, entry);
    }
    for (uint32_t i = book_first(&job->book, view->name); i < job->book.library.schemas.len; i++) {
        if (!str_eq(job->book.library.schemas.at[i].name, view->name)) break;
        vec_push(job->run, &view->registered, job->book.library.schemas.at[i]);
    }
    if (view->entries.len) {
        page_read(&view->page, job->run, view->entries.at[view->entries.len - 1]);
    }
    signatures_compare(&view->disagreements, job->run, &view->page, view->registered.at,
                       view->registered.len);
}

static int print_missing(Job *job, Str name) {
    Names near, names = all_names(job);
    search_near(&near, job->run, &names, name);
    if (wants_json(job)) {
        Json json;
        json_init(&json, &job->out);
        json_object(&json, JSON_BLOCK);
        json_add_uint(&json, "schema", 1);
        json_add_str(&json, "name", name);
        json_add_bool(&json, "found", false);
        json_key(&json, "near");
        json_array(&json, JSON_LINE);
        for (uint32_t i = 0; i < near.len; i++) json_str(&json, near.at[i]);
        json_end(&json);
        json_add_word(&json, "public_docs", PUBLIC_DOCS);
        json_end(&json);
        buf_add_char(&job->out, '\n');
    } else {
        for (uint32_t i = 0; i < near.len; i++) {
            buf_addf(&job->out, "%.*s\n", STR_FMT(near.at[i]));
        }
    }
    output_complain("torch_npu%s%.*s has no '%.*s'%s; the public documentation: " PUBLIC_DOCS,
                    job->book.install.version.len ? " " : "",
                    STR_FMT(job->book.install.version), STR_FMT(name),
                    near.len ? "; near names are on stdout" : "");
    return finish(job, EXIT_NO);
}

// ops/<name>.py, or NULL where there is no such file.
static const char *known_file(Arena *run, Str name) {
    Str folder;
    Err ignored;
    // A name with a slash or a dot names no file of ours.
    if (memchr(name.at, '/', name.len) || memchr(name.at, '.', name.len)) return NULL;
    if (!locate_data(&folder, run, "ops", &ignored)) return NULL;
    Str file = arena_printf(run, "%.*s.py", STR_FMT(name));
    const char *path = path_join(run, folder, file);
    return file_kind(path) == FILE_REGULAR ? path : NULL;
}

static void print_view(Job *job, const ApiView *view) {
    if (wants_json(job)) {
        Json json;
        json_init(&json, &job->out);
        api_show_json(&json, view);
        buf_add_char(&job->out, '\n');
        return;
    }
    ApiShow how = {job->given->full, output_lang(job->given->lang)};
    api_show_text(&job->out, view, &how);
}

static int show(Job *job, const char *word) {
    ApiView view = {.name = bare_name(word), .install = &job->book.install};
    gather(&view, job);
    if (!view.entries.len && !view.registered.len) return print_missing(job, view.name);
    SymTable symbols;
    Project project;
    OperatorSet set = {0};
    Err err;
    sym_table_init(&symbols);
    project_init(&project, &symbols);
    const char *file = known_file(job->run, view.name);
    bool ok = !file || operators_load_file(&set, job->run, &project, file, &err);
    if (ok && file) view.known = &set.at.at[0];
    if (ok) print_view(job, &view);
    project_free(&project);
    sym_table_free(&symbols);
    return ok ? finish(job, EXIT_DONE) : output_fail(EXIT_USAGE, "%s", err.text);
}

// ---- search and list ------------------------------------------------------------------

static uint32_t hit_line(const SearchHit *hit) {
    return hit->entry ? hit->entry->body_line : 0;
}

static void print_hits(Job *job, const SearchHits *hits, uint32_t shown) {
    for (uint32_t i = 0; i < shown; i++) {
        const SearchHit *hit = &hits->at[i];
        Str summary = hit->entry ? utf8_one_line(job->run, search_summary(job->run, hit->entry))
                                 : STR("(registered, without a text)");
        buf_addf(&job->out, "%.*s\t%u\t%.*s\n", STR_FMT(hit->name), hit_line(hit),
                 STR_FMT(summary));
    }
    if (shown < hits->len) {
        output_complain("%u of %u are shown (--max)", shown, (unsigned)hits->len);
    }
}

static void print_hits_json(Job *job, const SearchHits *hits, uint32_t shown,
                            const Names *words) {
    Json json;
    json_init(&json, &job->out);
    json_object(&json, JSON_BLOCK);
    json_add_uint(&json, "schema", 1);
    json_key(&json, "words");
    json_array(&json, JSON_LINE);
    for (uint32_t i = 0; i < words->len; i++) json_str(&json, words->at[i]);
    json_end(&json);
    json_add_uint(&json, "total", hits->len);
    json_key(&json, "results");
    json_array(&json, JSON_BLOCK);
    for (uint32_t i = 0; i < shown; i++) {
        const SearchHit *hit = &hits->at[i];
        json_object(&json, JSON_LINE);
        json_add_str(&json, "name", hit->name);
        json_add_uint(&json, "start_line", hit_line(hit));
        json_add_str(&json, "summary",
                     hit->entry ? search_summary(job->run, hit->entry) : STR(""));
        json_end(&json);
    }
    json_end(&json);
    json_end(&json);
    buf_add_char(&job->out, '\n');
}

// The number of --max, or 0 with a complaint.
static uint32_t read_max(const char *text) {
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || *end || end == text || !n || n > 100000 || text[0] == '-') {
        output_complain("--max takes a number from 1 to 100000, not '%s'", text);
        return 0;
    }
    return (uint32_t)n;
}

static int search(Job *job, const ArgList *operands) {
    Names words = {0}, registered = {0};
    uint32_t max = read_max(job->given->max);
    if (!max) return EXIT_USAGE;
    for (uint32_t i = 1; i < operands->len; i++) {
        Str rest = str_of(operands->at[i]);
        while (rest.len) { // "rms norm" in quotes is two words
            Str word = str_take(&rest, ' ');
            if (word.len) vec_push(job->run, &words, word);
        }
    }
    if (!words.len) return output_fail(EXIT_USAGE, "api search takes at least one word");
    for (uint32_t i = 0; i < job->book.library.schemas.len; i++) {
        const Schema *at = &job->book.library.schemas.at[i];
        // Overloads of one name stand side by side, and are one result.
        if (i && str_eq(at->name, at[-1].name)) continue;
        vec_push(job->run, &registered, at->name);
    }
    SearchHits hits;
    search_docs(&hits, job->run, &job->book.docs, &registered, &words);
    uint32_t shown = hits.len < max ? hits.len : max;
    if (wants_json(job)) print_hits_json(job, &hits, shown, &words);
    else print_hits(job, &hits, shown);
    if (!hits.len) output_complain("nothing has every one of these words");
    return finish(job, hits.len ? EXIT_DONE : EXIT_NO);
}

typedef struct ListItem {
    Str name;
    uint32_t line; // 0: it has no text
} ListItem;

typedef VEC(ListItem) ListItems;

// Every name that has a text; where there are no texts, what is registered.
static ListItems listed(const Job *job) {
    const Docs *docs = &job->book.docs;
    const Library *library = &job->book.library;
    Str prefix = str_of(job->given->prefix);
    ListItems items = {0};
    for (uint32_t i = 0; i < docs->at.len; i++) {
        const DocEntry *entry = &docs->at.at[i];
        if (entry->superseded || !str_starts(entry->name, prefix.at)) continue;
        vec_push(job->run, &items, ((ListItem){entry->name, entry->body_line}));
    }
    for (uint32_t i = 0; !docs->at.len && i < library->schemas.len; i++) {
        Str name = library->schemas.at[i].name;
        if (i && str_eq(name, library->schemas.at[i - 1].name)) continue;
        if (!str_starts(name, prefix.at)) continue;
        vec_push(job->run, &items, ((ListItem){name, 0}));
    }
    return items;
}

static int list(Job *job) {
    ListItems items = listed(job);
    Json json;
    json_init(&json, &job->out);
    if (wants_json(job)) {
        json_object(&json, JSON_BLOCK);
        json_add_uint(&json, "schema", 1);
        json_key(&json, "names");
        json_array(&json, JSON_BLOCK);
    }
    for (uint32_t i = 0; i < items.len; i++) {
        if (!wants_json(job)) {
            buf_addf(&job->out, "%.*s\n", STR_FMT(items.at[i].name));
            continue;
        }
        json_object(&json, JSON_LINE);
        json_add_str(&json, "name", items.at[i].name);
        json_add_uint(&json, "start_line", items.at[i].line);
        json_end(&json);
    }
    if (wants_json(job)) {
        json_end(&json);
        json_add_uint(&json, "count", items.len);
        json_end(&json);
        buf_add_char(&job->out, '\n');
    }
    return finish(job, items.len ? EXIT_DONE : EXIT_NO);
}

// ---- the command ----------------------------------------------------------------------

static int run_verb(Job *job, const ArgList *operands) {
    const char *verb = operands->at[0];
    if (strcmp(verb, "search") == 0) return search(job, operands);
    if (strcmp(verb, "show") == 0) return show(job, operands->at[1]);
    if (strcmp(verb, "check") == 0) {
        int code = api_check(&job->out, job->run, &job->book, wants_json(job));
        return code <= EXIT_NO ? finish(job, code) : code;
    }
    return list(job);
}

// Complains where the operands are not what a verb takes.
static bool check_operands(const ArgList *operands) {
    const char *verb = operands->len ? operands->at[0] : "";
    if (strcmp(verb, "show") == 0) {
        if (operands->len == 2) return true;
        output_complain("api show takes one NAME");
    } else if (strcmp(verb, "list") == 0 || strcmp(verb, "check") == 0) {
        if (operands->len == 1) return true;
        output_complain("api %s takes no operand, not '%s'", verb, operands->at[1]);
    } else if (strcmp(verb, "search") == 0) {
        return true;
    } else {
        output_complain("api takes 'show NAME', 'search WORD...', 'list' or 'check'");
    }
    return false;
}

int api_command(const Args *args) {
    ApiArgs given = {.format = "text", .max = "10", .prefix = ""};
    ArgList operands = {0};
    int code;
    if (!options_read(&given, &operands, &usage, args, &code)) return code;
    if (!check_operands(&operands)) return EXIT_USAGE;
    Job job = {.run = args->run, .given = &given};
    Err err;
    if (!api_open(&job.book, args->run, &given.choice, &err)) {
        return output_fail(EXIT_USAGE, "%s", err.text);
    }
    if (job.book.docs.note.len) output_complain("%.*s", STR_FMT(job.book.docs.note));
    if (job.book.docs_fault.len) output_complain("%.*s", STR_FMT(job.book.docs_fault));
    if (job.book.library_fault.len) output_complain("%.*s", STR_FMT(job.book.library_fault));
    return run_verb(&job, &operands);
}
