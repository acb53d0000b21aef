// trace.c - collects from a trace's events what tells where kernels come from, and
// joins it to the rows of a profile by stream and start.
#include "base/base.h"

#include "prof/trace.h"

#include "prof/trace_impl.h"

#include <stdlib.h>

#define OPTIMIZER_STEP "Optimizer.step#"
#define MODULE_FRAME "nn.Module: "

// A double that holds the time of day is off by a quarter of a microsecond.
enum { JOIN_NS = 300, SPANS_MAX = 200 * 1000 * 1000 };

// ---- texts ------------------------------------------------------------------------

uint32_t text_id(TextTable *table, Arena *arena, Str text) {
    if (!table->list.len) vec_push(arena, &table->list, NULL);
    if (!text.len) return 0;
    const Sym *sym = sym_find(&table->syms, text);
    if (!sym) {
        sym = sym_intern_tag(&table->syms, text, table->list.len);
        vec_push(arena, &table->list, sym);
    }
    return sym->tag;
}

Str text_at(const TextTable *table, uint32_t id) {
    return id ? sym_str(table->list.at[id]) : STR("");
}

// ---- source lines -----------------------------------------------------------------

// Code of the frameworks, and what is no Python, is nobody's place to change.
static bool is_foreign(Str frame) {
    static const char *const parts[] = {
        "/torch/", "/torch_npu/", "<frozen ", "<built-in", "<string>", "/runpy.py(",
    };
    if (str_starts(frame, "torch/") || str_starts(frame, "torch_npu/")) return true;
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (str_contains(frame, str_of(parts[i]))) return true;
    }
    return false;
}

// "dir/file.py(12): func" -> "dir/file.py:12"; empty if it is no such frame.
static Str frame_site(Arena *arena, Str frame) {
    size_t open = 0, digits = 0;
    while (open < frame.len && frame.at[open] != '(') open++;
    if (open == 0 || open + 2 >= frame.len) return STR("");
    while (open + 1 + digits < frame.len && frame.at[open + 1 + digits] >= '0' &&
           frame.at[open + 1 + digits] <= '9') {
        digits++;
    }
    if (!digits || digits > 9 || open + 1 + digits >= frame.len ||
        frame.at[open + 1 + digits] != ')') {
        return STR("");
    }
    return arena_printf(arena, "%.*s:%.*s", (int)open, frame.at, (int)digits,
                        frame.at + open + 1);
}

static Str trim(Str text) {
    while (text.len && (unsigned char)text.at[0] <= ' ') text = (Str){text.at + 1, text.len - 1};
    while (text.len && (unsigned char)text.at[text.len - 1] <= ' ') text.len--;
    return text;
}

// The innermost line of a call stack ("frame;\r\nframe;...", innermost first) that
// the user can change.
static uint32_t stack_site(Trace *trace, Str stack) {
    ArenaMark mark = arena_mark(&trace->arena);
    Str site = STR("");
    while (stack.len && !site.len) {
        Str frame = trim(str_take(&stack, ';'));
        if (!is_foreign(frame)) site = frame_site(&trace->arena, frame);
    }
    if (!site.len) {
        arena_reset(&trace->arena, mark);
        return 0;
    }
    return text_id(&trace->texts, &trace->arena, site);
}

// The modules that a call stack names, the outermost first; 0 if there is none.
static uint32_t stack_module(Trace *trace, Str stack) {
    Str path = STR("");
    while (stack.len) {
        Str frame = trim(str_take(&stack, ';'));
        if (!str_starts(frame, MODULE_FRAME)) continue;
        frame = (Str){frame.at + strlen(MODULE_FRAME), frame.len - strlen(MODULE_FRAME)};
        path = arena_printf(&trace->arena, "%.*s%s%.*s", STR_FMT(frame), path.len ? "/" : "",
                            STR_FMT(path));
    }
    return text_id(&trace->texts, &trace->arena, path);
}

static StackFact stack_fact(Trace *trace, Str stack) {
    uint32_t id = text_id(&trace->stacks, &trace->arena, stack);
    while (trace->stack_facts.len <= id) {
        StackFact fact = {0};
        if (trace->stack_facts.len == id) {
            fact = (StackFact){stack_site(trace, stack), stack_module(trace, stack)};
        }
        vec_push(&trace->arena, &trace->stack_facts, fact);
    }
    return trace->stack_facts.at[id];
}

// ---- events -----------------------------------------------------------------------

static const JsonVal *argument(const JsonVal *event, const char *name) {
    return json_member(json_member(event, "args"), name);
}

// Numbers and texts name processes and threads.
static void add_name(Buf *out, const JsonVal *v) {
    if (json_is_text(v)) buf_add(out, json_text(v));
    else buf_addf(out, "%lld", (long long)json_int(v, -1));
}

static uint32_t track_of(Trace *trace, const JsonVal *event) {
    Buf name = {0};
    add_name(&name, json_member(event, "pid"));
    buf_add_char(&name, ' ');
    add_name(&name, json_member(event, "tid"));
    uint32_t id = text_id(&trace->tracks, &trace->arena, buf_str(&name));
    buf_free(&name);
    return id;
}

static bool read_span(TraceSpan *span, Trace *trace, const JsonVal *event) {
    int64_t dur;
    if (!event_ns(&span->start, json_member(event, "ts")) ||
        !event_ns(&dur, json_member(event, "dur")) || dur > INT64_MAX - span->start) {
        return false;
    }
    span->end = span->start + dur;
    span->thread = track_of(trace, event);
    return trace->spans.len < SPANS_MAX;
}

static void add_op(Trace *trace, const JsonVal *event) {
    TraceSpan span = {.kind = SPAN_OP};
    if (str_starts(json_text(json_member(event, "name")), "ProfilerStep#")) return;
    if (!read_span(&span, trace, event)) return;
    span.sequence = json_int(argument(event, "Sequence number"), -1);
    StackFact fact = stack_fact(trace, json_text(argument(event, "Call stack")));
    Str modules = json_text(argument(event, "Module Hierarchy"));
    span.text = fact.site;
    span.module = modules.len ? text_id(&trace->texts, &trace->arena, modules) : fact.module;
    vec_push(&trace->arena, &trace->spans, span);
    trace->link->ops++;
}

static void add_frame(Trace *trace, const JsonVal *event) {
    TraceSpan span = {.kind = SPAN_CODE, .sequence = -1};
    Str name = json_text(json_member(event, "name"));
    if (str_starts(name, MODULE_FRAME)) {
        Str module = {name.at + strlen(MODULE_FRAME), name.len - strlen(MODULE_FRAME)};
        span.kind = SPAN_MODULE;
        span.text = text_id(&trace->texts, &trace->arena, module);
    } else {
        span.text = stack_fact(trace, name).site;
    }
    if (!span.text || !read_span(&span, trace, event)) return;
    vec_push(&trace->arena, &trace->spans, span);
    trace->link->frames++;
}

bool trace_kernel(int64_t *stream, int64_t *device, const JsonVal *event) {
    if (!json_text(argument(event, "Task Type")).len) return false;
    const JsonVal *id = argument(event, "Stream Id");
    if (!id) id = argument(event, "Physic Stream Id");
    *stream = json_int(id, PROF_NONE);
    int64_t pid = json_int(json_member(event, "pid"), -1);
    *device = pid >= 0 ? (pid & 31) : PROF_NONE; // pid << 10 | index << 5 | device
    return *stream != PROF_NONE;
}

static void add_lane(Trace *trace, const JsonVal *event) {
    TraceLane lane;
    if (!trace_kernel(&lane.stream, &lane.device, event)) return;
    lane.track = track_of(trace, event);
    for (uint32_t i = 0; i < trace->lanes.len; i++) {
        if (trace->lanes.at[i].track == lane.track) return;
    }
    if (trace->lanes.len < 4096) vec_push(&trace->arena, &trace->lanes, lane);
}

static void add_flow(Trace *trace, const JsonVal *event, bool is_start) {
    FlowEnd end = {0};
    if (!str_is(json_text(json_member(event, "cat")), "async_npu")) return;
    if (!event_ns(&end.time, json_member(event, "ts"))) return;
    Buf name = {0};
    add_name(&name, json_member(event, "id"));
    end.id = hash_bytes(HASH_SEED, name.at, name.len);
    buf_free(&name);
    end.track = track_of(trace, event);
    if (is_start) vec_push(&trace->arena, &trace->starts, end);
    else vec_push(&trace->arena, &trace->ends, end);
}

static void add_optimizer(TraceLink *link, Str name) {
    Str rest = {name.at + strlen(OPTIMIZER_STEP), name.len - strlen(OPTIMIZER_STEP)};
    Str kind = str_take(&rest, '.');
    uint32_t i = 0;
    if (!kind.len || kind.len >= OPTIMIZER_NAME) return;
    while (i < link->optimizer_count && !str_is(kind, link->optimizers[i].name)) i++;
    if (i == TRACE_OPTIMIZERS) return;
    TraceOptimizer *optimizer = &link->optimizers[i];
    if (i == link->optimizer_count) {
        link->optimizer_count++;
        memcpy(optimizer->name, kind.at, kind.len);
        optimizer->name[kind.len] = 0;
    }
    optimizer->steps++;
}

// What the name of a span tells, whatever its category.
static void note_name(TraceLink *link, Str name) {
    if (str_starts(name, OPTIMIZER_STEP)) add_optimizer(link, name);
    // In lanes of CANN with the library in front: AscendCL@aclopCompileAndExecute.
    const char *at = name.len ? memchr(name.at, '@', name.len) : NULL;
    if (at) name = (Str){at + 1, name.len - (size_t)(at + 1 - name.at)};
    if (str_starts(name, "aclopCompileAndExecute")) link->compiles++;
}

static void take_event(void *data, const JsonVal *event) {
    Trace *trace = data;
    Str phase = json_text(json_member(event, "ph"));
    Str category = json_text(json_member(event, "cat"));
    if (str_is(phase, "X")) {
        note_name(trace->link, json_text(json_member(event, "name")));
        if (str_is(category, "cpu_op")) add_op(trace, event);
        else if (str_is(category, "python_function")) add_frame(trace, event);
        else if (!category.len) add_lane(trace, event);
    } else if (str_is(phase, "s") || str_is(phase, "f")) {
        add_flow(trace, event, str_is(phase, "s"));
    }
}

// ---- to the rows ------------------------------------------------------------------

static int by_id(const void *a, const void *b) {
    const FlowEnd *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static const FlowEnd *start_of(const Trace *trace, uint64_t id) {
    uint32_t low = 0, high = trace->starts.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (trace->starts.at[middle].id < id) low = middle + 1;
        else high = middle;
    }
    bool found = low < trace->starts.len && trace->starts.at[low].id == id;
    return found ? &trace->starts.at[low] : NULL;
}

static const TraceLane *lane_of(const Trace *trace, uint32_t track) {
    for (uint32_t i = 0; i < trace->lanes.len; i++) {
        if (trace->lanes.at[i].track == track) return &trace->lanes.at[i];
    }
    return NULL;
}

// The row of a lane that starts nearest to `time`, if one is near enough.
static bool nearest_row(uint32_t *row, const Profile *profile, const ProfLane *lane,
                        int64_t time) {
    uint32_t low = 0, high = lane->len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (profile->rows[lane->rows[middle]].start_ns < time) low = middle + 1;
        else high = middle;
    }
    int64_t best = JOIN_NS + 1;
    for (uint32_t i = low ? low - 1 : 0; i < lane->len && i <= low; i++) {
        int64_t away = profile->rows[lane->rows[i]].start_ns - time;
        if (away < 0) away = -away;
        if (away >= best) continue;
        best = away;
        *row = lane->rows[i];
    }
    return best <= JOIN_NS;
}

static bool fits(const ProfLane *lane, const TraceLane *known) {
    if (!known) return true;
    if (lane->stream != PROF_NONE && known->stream != lane->stream) return false;
    return lane->device == PROF_NONE || known->device == PROF_NONE ||
           known->device == lane->device;
}

static bool find_row(uint32_t *row, const Trace *trace, const Profile *profile,
                     const FlowEnd *end) {
    const TraceLane *known = lane_of(trace, end->track);
    for (uint32_t i = 0; i < profile->lane_count; i++) {
        const ProfLane *lane = &profile->lanes[i];
        if (fits(lane, known) && nearest_row(row, profile, lane, end->time)) return true;
    }
    return false;
}

typedef struct Links {
    uint32_t *module, *site; // texts, one a row
} Links;

static void link_row(Trace *trace, const Profile *profile, Links *links, const FlowEnd *end) {
    uint32_t row;
    const FlowEnd *start = start_of(trace, end->id);
    if (!start || !find_row(&row, trace, profile, end)) return;
    const Context *context = &trace->contexts.at[start->context];
    trace->link->rows++;
    trace->link->with_module += context->module != 0;
    trace->link->with_site += context->site != 0;
    links->module[row] = context->module;
    links->site[row] = context->site;
}

// The texts that rows name, in the order of the rows, and the rows' numbers in it.
static const Str *compact(uint32_t *rows, uint32_t count, const Trace *trace, Arena *arena) {
    ArenaMark mark;
    Arena scratch;
    VEC(Str) names = {0};
    arena_init(&scratch);
    mark = arena_mark(&scratch);
    uint32_t *numbers = NEW_N(&scratch, uint32_t, trace->texts.list.len + 1);
    vec_push(arena, &names, STR(""));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = rows[i];
        if (!id) continue;
        if (!numbers[id]) {
            numbers[id] = names.len;
            vec_push(arena, &names, arena_str(arena, text_at(&trace->texts, id)));
        }
        rows[i] = numbers[id];
    }
    arena_reset(&scratch, mark);
    arena_free(&scratch);
    return names.at;
}

static void join(Trace *trace, Profile *profile, Arena *arena) {
    Links links = {NEW_N(arena, uint32_t, profile->row_count),
                   NEW_N(arena, uint32_t, profile->row_count)};
    for (uint32_t i = 0; i < trace->ends.len; i++) {
        link_row(trace, profile, &links, &trace->ends.at[i]);
    }
    if (trace->link->with_module) {
        profile->modules = compact(links.module, profile->row_count, trace, arena);
        profile->row_module = links.module;
    }
    if (trace->link->with_site) {
        profile->sites = compact(links.site, profile->row_count, trace, arena);
        profile->row_site = links.site;
    }
}

static void open_trace(Trace *trace, TraceLink *link) {
    *trace = (Trace){.link = link};
    arena_init(&trace->arena);
    sym_table_init(&trace->texts.syms);
    sym_table_init(&trace->tracks.syms);
    sym_table_init(&trace->stacks.syms);
    text_id(&trace->texts, &trace->arena, STR(""));
    text_id(&trace->tracks, &trace->arena, STR(""));
    text_id(&trace->stacks, &trace->arena, STR(""));
}

bool trace_link(TraceLink *out, Profile *profile, Arena *arena, const TraceOptions *options,
                Err *err) {
    Trace trace;
    *out = (TraceLink){0};
    open_trace(&trace, out);
    EventReader reader = {take_event, &trace, options->progress, options->data};
    bool ok = events_read(&out->events, options->path, &reader, err);
    if (ok) {
        out->flows = trace.ends.len;
        trace_nest(&trace);
        if (trace.starts.len) {
            qsort(trace.starts.at, trace.starts.len, sizeof(*trace.starts.at), by_id);
        }
        join(&trace, profile, arena);
    }
    sym_table_free(&trace.texts.syms);
    sym_table_free(&trace.tracks.syms);
    sym_table_free(&trace.stacks.syms);
    arena_free(&trace.arena);
    return ok;
}
