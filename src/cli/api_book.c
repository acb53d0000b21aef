// api_book.c - finds the torch_npu that a command speaks of.
#include "base/base.h"

#include "cli/api_book.h"

#include "base/buf.h"
#include "cli/output.h"
#include "cli/paths_python.h"
#include "model/utf8.h"

enum { SHOWN_FOLDERS = 4 };

// The folders searched, so that a user sees which Python was looked at.
static void tell_searched(Arena *arena, const FolderVec *folders) {
    Buf line = {0};
    buf_add(&line, STR("npufuse: searched"));
    for (uint32_t i = 0; i < folders->len && i < SHOWN_FOLDERS; i++) {
        buf_addf(&line, "%s '%.*s'", i ? "," : "", STR_FMT(folders->at[i]));
    }
    if (folders->len > SHOWN_FOLDERS) {
        buf_addf(&line, " and %u more", (unsigned)folders->len - SHOWN_FOLDERS);
    }
    buf_add(&line, STR(" (--python, VIRTUAL_ENV, CONDA_PREFIX, python3 of PATH, PYTHONPATH, "
                       "their .pth files)"));
    output_note(utf8_one_line(arena, buf_str(&line)));
    buf_free(&line);
}

bool api_find(Install *out, Arena *arena, const BookChoice *choice, Err *err) {
    if (choice->docs_path) return install_at(out, arena, choice->docs_path, err);
    FolderVec folders;
    if (!python_search_folders(&folders, arena, choice->python, err)) return false;
    return install_find(out, arena, folders.at, folders.len, err);
}

bool api_open(Book *out, Arena *arena, const BookChoice *choice, Err *err) {
    Install install;
    Err why;
    if (!api_find(&install, arena, choice, &why)) {
        FolderVec searched = {0};
        for (uint32_t i = 0; i < install.searched.len; i++) {
            vec_push(arena, &searched, install.searched.at[i]);
        }
        if (searched.len) tell_searched(arena, &searched);
        return err_set(err, "%s%s", why.text,
                       searched.len ? "; install one, or name its files with --docs-path" : "");
    }
    return book_open(out, arena, &install, !choice->no_cache, err);
}

const Book *api_installed(Arena *arena, const char *python) {
    BookChoice choice = {.python = python};
    Install install;
    Err err;
    if (!api_find(&install, arena, &choice, &err)) return NULL;
    Book *book = NEW(arena, Book);
    // The texts are not needed to compare schemas, and reading them takes time.
    install.docs = NULL;
    if (!install.library) return NULL;
    if (!book_open(book, arena, &install, true, &err)) {
        output_complain("the installed torch_npu is not compared: %s", err.text);
        return NULL;
    }
    return book;
}
