// folders.c - the files of a scan by the folder that they stand in.
#include "base/base.h"

#include "base/file.h"
#include "py/project.h"

typedef struct Folder {
    Str path;
    VEC(uint32_t) files;
} Folder;

struct Folders {
    Folder *slots; // open addressing; no path: free
    uint32_t cap;  // more than there are files, so never full
};

static Folder *find_folder(const struct Folders *folders, Str path) {
    uint32_t i = (uint32_t)hash_bytes(HASH_SEED, path.at, path.len) & (folders->cap - 1);
    while (folders->slots[i].path.at && !str_eq(folders->slots[i].path, path)) {
        i = (i + 1) & (folders->cap - 1);
    }
    return &folders->slots[i];
}

static struct Folders *list_folders(Project *project) {
    struct Folders *folders = NEW(&project->arena, struct Folders);
    folders->cap = 16;
    while (folders->cap < project->file_count * 2) folders->cap *= 2;
    folders->slots = NEW_N(&project->arena, Folder, folders->cap);
    for (uint32_t i = 0; i < project->file_count; i++) {
        const char *path = project->files[i];
        Folder *folder = find_folder(folders, path_folder(str_of(path)));
        folder->path = path_folder(str_of(path));
        vec_push(&project->arena, &folder->files, i);
    }
    return folders;
}

FileList project_files_in(Project *project, Str folder) {
    if (!project->folders) project->folders = list_folders(project);
    const Folder *found = find_folder(project->folders, folder);
    return (FileList){found->files.at, found->files.len};
}
