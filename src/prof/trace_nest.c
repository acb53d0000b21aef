// trace_nest.c - where the launches of a trace stand: a sweep over each thread
// with the spans that are open.
#include "base/base.h"

#include "prof/trace_impl.h"

#include <stdlib.h>

enum { DEPTH_MAX = 4096 };

// One open span, with what it and those around it tell.
typedef struct Open {
    int64_t end;
    Context context;
} Open;

typedef struct Sweep {
    Trace *trace;
    uint32_t thread;
    uint32_t depth;
    Open stack[DEPTH_MAX];
    Buf path;
} Sweep;

// A forward operator, to be found by its sequence number.
typedef struct Forward {
    int64_t sequence, start;
    uint32_t thread, context;
} Forward;

typedef struct Forwards {
    VEC(Forward) list;
} Forwards;

static int by_thread(const void *a, const void *b) {
    const TraceSpan *x = a, *y = b;
    if (x->thread != y->thread) return x->thread < y->thread ? -1 : 1;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

static int flow_by_track(const void *a, const void *b) {
    const FlowEnd *x = a, *y = b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    return x->time < y->time ? -1 : x->time > y->time;
}

static int by_sequence(const void *a, const void *b) {
    const Forward *x = a, *y = b;
    if (x->sequence != y->sequence) return x->sequence < y->sequence ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

static Context top(const Sweep *sweep) {
    if (!sweep->depth) return (Context){.sequence = -1};
    return sweep->stack[sweep->depth - 1].context;
}

static void leave(Sweep *sweep, int64_t time) {
    while (sweep->depth && sweep->stack[sweep->depth - 1].end < time) sweep->depth--;
}

// Outer modules first: "Model_0/Layer_3/RMSNorm_7".
static uint32_t module_inside(Sweep *sweep, uint32_t outer, uint32_t name) {
    Trace *trace = sweep->trace;
    if (!outer) return name;
    buf_clear(&sweep->path);
    buf_add(&sweep->path, text_at(&trace->texts, outer));
    buf_add_char(&sweep->path, '/');
    buf_add(&sweep->path, text_at(&trace->texts, name));
    return text_id(&trace->texts, &trace->arena, buf_str(&sweep->path));
}

static void enter(Sweep *sweep, const TraceSpan *span) {
    Context context = top(sweep);
    context.start = span->start;
    if (span->kind == SPAN_MODULE) {
        context.module = module_inside(sweep, context.module, span->text);
    } else if (span->text) {
        context.site = span->text;
    }
    if (span->kind == SPAN_OP) {
        // Those that run inside a backward operator have none.
        if (span->sequence >= 0) context.sequence = span->sequence;
        if (span->module) context.module = span->module;
    }
    if (sweep->depth < DEPTH_MAX) {
        sweep->stack[sweep->depth++] = (Open){span->end, context};
    }
}

static bool is_known(const Context *context) {
    return context->module || context->site;
}

static uint32_t keep_context(Trace *trace, Context context) {
    vec_push(&trace->arena, &trace->contexts, context);
    return trace->contexts.len - 1;
}

// An operator inside known code may be what a backward one belongs to.
static void note_forward(Sweep *sweep, Forwards *forwards, const TraceSpan *span) {
    Context context = top(sweep);
    if (span->kind != SPAN_OP || span->sequence < 0 || !is_known(&context)) return;
    Forward forward = {span->sequence, span->start, span->thread,
                       keep_context(sweep->trace, context)};
    vec_push(&sweep->trace->arena, &forwards->list, forward);
}

static void begin_thread(Sweep *sweep, uint32_t thread) {
    if (sweep->thread == thread) return;
    sweep->thread = thread;
    sweep->depth = 0;
}

// Spans up to each launch are entered, then the launch sees what is open.
static void sweep_all(Sweep *sweep, Forwards *forwards) {
    Trace *trace = sweep->trace;
    uint32_t s = 0;
    for (uint32_t f = 0; f <= trace->starts.len; f++) {
        FlowEnd *flow = f < trace->starts.len ? &trace->starts.at[f] : NULL;
        for (; s < trace->spans.len; s++) {
            const TraceSpan *span = &trace->spans.at[s];
            bool is_later = flow && (span->thread > flow->track ||
                                     (span->thread == flow->track && span->start > flow->time));
            if (is_later) break;
            begin_thread(sweep, span->thread);
            leave(sweep, span->start);
            enter(sweep, span);
            note_forward(sweep, forwards, span);
        }
        if (!flow) break;
        begin_thread(sweep, flow->track);
        leave(sweep, flow->time);
        flow->context = sweep->depth ? keep_context(trace, top(sweep)) : 0;
    }
}

// The last forward operator of this number before `time`.
static const Forward *find_forward(const Forwards *forwards, int64_t sequence, int64_t time) {
    uint32_t low = 0, high = forwards->list.len;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const Forward *f = &forwards->list.at[middle];
        if (f->sequence < sequence || (f->sequence == sequence && f->start < time)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (!low || forwards->list.at[low - 1].sequence != sequence) return NULL;
    return &forwards->list.at[low - 1];
}

static void link_backward(Trace *trace, Forwards *forwards) {
    if (!forwards->list.len) return;
    qsort(forwards->list.at, forwards->list.len, sizeof(Forward), by_sequence);
    for (uint32_t i = 0; i < trace->starts.len; i++) {
        FlowEnd *flow = &trace->starts.at[i];
        const Context *context = &trace->contexts.at[flow->context];
        if (is_known(context) || context->sequence < 0) continue;
        const Forward *forward = find_forward(forwards, context->sequence, context->start);
        if (!forward || forward->thread == flow->track) continue;
        flow->context = forward->context;
        trace->link->by_forward++;
    }
}

void trace_nest(Trace *trace) {
    Forwards forwards = {0};
    keep_context(trace, (Context){.sequence = -1});
    if (trace->spans.len) {
        qsort(trace->spans.at, trace->spans.len, sizeof(*trace->spans.at), by_thread);
    }
    if (trace->starts.len) {
        qsort(trace->starts.at, trace->starts.len, sizeof(*trace->starts.at), flow_by_track);
    }
    Sweep *sweep = NEW(&trace->arena, Sweep);
    sweep->trace = trace;
    sweep_all(sweep, &forwards);
    buf_free(&sweep->path);
    link_backward(trace, &forwards);
}
