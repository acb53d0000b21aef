// environment.c - versions by the files that installers leave.
#include "base/base.h"

#include "cli/environment.h"

#include "base/file.h"
#include "base/package.h"
#include "base/proc.h"
#include "cli/paths_python.h"

#include <stdlib.h>

enum { SMI_MAX_BYTES = 1 << 20 };

static const double SMI_LIMIT_S = 5;

static Str system_path(Arena *arena, const char *path) {
    const char *root = getenv("NPUFUSE_SYSROOT");
    return root && *root ? arena_printf(arena, "%s%s", root, path) : str_of(path);
}

// ---- Python and its packages ----------------------------------------------------------

static Str find_version(Arena *arena, const FolderVec *folders, const char *package) {
    for (uint32_t i = 0; i < folders->len; i++) {
        Str version = package_version(arena, folders->at[i], package);
        if (version.len) return version;
    }
    return STR("");
}

// .../lib/python3.11/site-packages -> 3.11; a venv's pyvenv.cfg has it in full.
static Str python_version(Arena *arena, const char *python, const FolderVec *folders) {
    const char *prefix = arena_cstr(arena, path_folder(path_folder(str_of(python))));
    Str config = text_small(arena, path_join(arena, str_of(prefix), STR("pyvenv.cfg")));
    Str version = text_value(config, "version");
    if (!version.len) version = text_value(config, "version_info"); // 3.11.9.final.0
    size_t n = 0;
    while (n < version.len && strchr("0123456789.", version.at[n])) n++;
    while (n && version.at[n - 1] == '.') n--;
    if (n) return (Str){version.at, n};
    for (uint32_t i = 0; i < folders->len; i++) {
        Str base = path_base(path_folder(folders->at[i]));
        if (str_starts(base, "python3.")) return (Str){base.at + 6, base.len - 6};
    }
    return STR("");
}

static void read_python(Environment *out, Arena *arena, const char *python) {
    FolderVec folders;
    Err ignored;
    const char *found = python_find(arena, python);
    out->python = str_of(found ? found : "");
    if (!python_search_folders(&folders, arena, python ? found : NULL, &ignored)) return;
    if (found) out->python_version = python_version(arena, found, &folders);
    out->torch = find_version(arena, &folders, "torch");
    out->torch_npu = find_version(arena, &folders, "torch_npu");
}

// ---- Ascend -----------------------------------------------------------------------------

static Str cann_version(Arena *arena, const char *home) {
    static const char *const files[] = {
        "version.cfg", "runtime/version.info", "compiler/version.info", "version.info",
        "toolkit/version.info",
    };
    static const char *const keys[] = {"runtime_running_version", "toolkit_running_version",
                                       "version"};
    for (size_t i = 0; i < COUNT(files); i++) {
        Str text = text_small(arena, path_join(arena, str_of(home), str_of(files[i])));
        for (size_t k = 0; text.len && k < COUNT(keys); k++) {
            Str version = text_value(text, keys[k]);
            if (version.len) return version;
        }
    }
    // ascend_toolkit_install.info lies in a folder named by the architecture.
    FolderList list;
    Err ignored;
    if (file_kind(home) != FILE_FOLDER) return STR("");
    if (!folder_read(&list, arena, home, &ignored)) return STR("");
    for (size_t i = 0; i < list.len; i++) {
        Str inner = arena_printf(arena, "%s/ascend_toolkit_install.info", list.at[i].name);
        Str text = text_small(arena, path_join(arena, str_of(home), inner));
        Str version = text_value(text, "version");
        if (version.len) return version;
    }
    return STR("");
}

static void read_cann(Environment *out, Arena *arena) {
    static const char *const names[] = {"ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME"};
    for (size_t i = 0; i < COUNT(names) && !out->cann.len; i++) {
        const char *home = getenv(names[i]);
        if (home && *home) out->cann = cann_version(arena, home);
    }
    static const char *const homes[] = {"/usr/local/Ascend/ascend-toolkit/latest",
                                        "/usr/local/Ascend/cann", "/usr/local/Ascend/latest"};
    for (size_t i = 0; i < COUNT(homes) && !out->cann.len; i++) {
        out->cann = cann_version(arena, arena_cstr(arena, system_path(arena, homes[i])));
    }
}

static bool is_device(const char *name) {
    if (strncmp(name, "davinci", 7) != 0 || !name[7]) return false;
    return name[7 + strspn(name + 7, "0123456789")] == 0; // not davinci_manager
}

static void read_devices(Environment *out, Arena *arena) {
    FolderList list;
    Err ignored;
    const char *dev = arena_cstr(arena, system_path(arena, "/dev"));
    if (!folder_read(&list, arena, dev, &ignored)) return;
    for (size_t i = 0; i < list.len; i++) {
        if (!is_device(list.at[i].name)) continue;
        Str path = arena_printf(arena, "/dev/%s", list.at[i].name);
        vec_push(arena, &out->devices, path);
    }
}

static void read_processor(Environment *out, Arena *arena) {
    static const char *const keys[] = {"model name", "CPU part"};
    const char *path = arena_cstr(arena, system_path(arena, "/proc/cpuinfo"));
    Str text = text_small(arena, path);
    for (size_t i = 0; i < COUNT(keys) && !out->processor.len; i++) {
        out->processor = text_value(text, keys[i]);
    }
}

static ProcAnswer keep(void *data, Str chunk) {
    Buf *text = data;
    if (text->len < SMI_MAX_BYTES) buf_add(text, chunk);
    return PROC_GO;
}

// "| 0     910B3               | OK ..." -> 910B3, of npu-smi's table.
static Str product_in(Arena *arena, Str text) {
    while (text.len) {
        Str line = str_take(&text, '\n');
        size_t i = 0;
        while (i < line.len && (line.at[i] == '|' || line.at[i] == ' ')) i++;
        size_t digits = i;
        while (i < line.len && line.at[i] >= '0' && line.at[i] <= '9') i++;
        if (i == digits || digits == 0 || i >= line.len || line.at[i] != ' ') continue;
        while (i < line.len && line.at[i] == ' ') i++;
        size_t start = i;
        while (i < line.len && line.at[i] > ' ' && line.at[i] != '|') i++;
        bool chip = i - start >= 3 && line.at[start] != '0';
        if (chip) return arena_str(arena, (Str){line.at + start, i - start});
    }
    return STR("");
}

static void read_product(Environment *out, Arena *arena) {
    const char *argv[] = {proc_find(arena, "npu-smi"), "info", NULL};
    if (!argv[0]) return;
    Buf text = {0};
    ProcSpec spec = {.argv = argv, .limit_s = SMI_LIMIT_S, .take = keep, .data = &text};
    ProcResult result;
    Err ignored;
    if (proc_run(&result, &spec, &ignored) && result.end == PROC_EXITED) {
        out->product = product_in(arena, buf_str(&text));
    }
    buf_free(&text);
}

void environment_read(Environment *out, Arena *arena, const char *python) {
    *out = (Environment){0};
    read_python(out, arena, python);
    read_cann(out, arena);
    Str driver = system_path(arena, "/usr/local/Ascend/driver/version.info");
    out->driver = text_value(text_small(arena, arena_cstr(arena, driver)), "version");
    read_devices(out, arena);
    read_processor(out, arena);
    read_product(out, arena);
    out->visible = str_of(getenv("ASCEND_RT_VISIBLE_DEVICES"));
}

Str environment_hardware(Arena *arena, const Environment *environment) {
    uint32_t count = environment->devices.len;
    Str product = environment->product;
    if (!count) return environment->processor;
    return arena_printf(arena, "%.*s, %u device%s, %.*s",
                        STR_FMT(product.len ? product : STR("Ascend")), (unsigned)count,
                        count == 1 ? "" : "s", STR_FMT(environment->processor));
}

Str environment_key(Arena *arena, const Environment *environment) {
    const char *own = getenv("NPUFUSE_MACHINE");
    if (own && *own) return str_of(own);
    const Environment *e = environment;
    // Not what npu-smi says: it may fail now and then.
    return arena_printf(arena, "%.*s|%.*s|%.*s|%.*s|%.*s|%.*s|%u", STR_FMT(e->processor),
                        STR_FMT(e->driver), STR_FMT(e->cann), STR_FMT(e->python_version),
                        STR_FMT(e->torch), STR_FMT(e->torch_npu), (unsigned)e->devices.len);
}

Str environment_release(Str version) {
    size_t dots = 0, i = 0;
    while (i < version.len && ((version.at[i] >= '0' && version.at[i] <= '9') ||
                               (version.at[i] == '.' && dots++ == 0))) {
        i++;
    }
    return (Str){version.at, i};
}

void environment_write(Json *json, const Environment *environment) {
    json_object(json, JSON_BLOCK);
    json_add_str(json, "python", environment->python_version);
    json_add_str(json, "python_path", environment->python);
    json_add_str(json, "torch", environment->torch);
    json_add_str(json, "torch_npu", environment->torch_npu);
    json_add_str(json, "cann", environment->cann);
    json_add_str(json, "driver", environment->driver);
    json_add_str(json, "product", environment->product);
    json_key(json, "devices");
    json_array(json, JSON_LINE);
    for (uint32_t i = 0; i < environment->devices.len; i++) {
        json_str(json, environment->devices.at[i]);
    }
    json_end(json);
    json_add_str(json, "visible_devices", environment->visible);
    json_add_str(json, "npufuse", STR(NPUFUSE_VERSION));
    json_end(json);
}
