// reached.c - the branches around a statement, and those in front of it that leave the
// function.
#include "base/base.h"

#include "match/reached.h"

#include "flow/device.h"

enum { REACHED_DEPTH = 64 };

static bool holds(const Node *outer, const Node *inner) {
    return outer->start <= inner->start && inner->end <= outer->end;
}

static bool leaves(const NodeList *block) {
    const Node *last = block->len ? block->at[block->len - 1] : NULL;
    return last && (last->kind == N_RETURN || last->kind == N_RAISE);
}

static const NodeList *block_with(const NodeList *block, const Node *stmt) {
    for (uint32_t i = 0; i < block->len; i++) {
        if (holds(block->at[i], stmt)) return block;
    }
    return NULL;
}

// The block of a compound statement that has `stmt`.
static const NodeList *inner_block(const Node *s, const Node *stmt) {
    const NodeList *found = NULL;
    switch ((int)s->kind) {
    case N_IF: case N_WHILE:
        found = block_with(&s->u.while_.body, stmt);
        return found ? found : block_with(&s->u.while_.orelse, stmt);
    case N_FOR: case N_ASYNC_FOR: return block_with(&s->u.for_->body, stmt);
    case N_WITH: case N_ASYNC_WITH: return block_with(&s->u.with.body, stmt);
    case N_TRY: return block_with(&s->u.try_->body, stmt);
    default: return NULL;
    }
}

static int device_truth(Frame *f, const Node *branch) {
    const Val *cond = node_val(f->mf, branch->u.while_.test);
    return cond ? device_test(cond) : -1;
}

Node *reached_elsewhere(Frame *f, const Node *stmt) {
    if (!f->root || !f->fn || f->fn->kind != N_FUNCTION_DEF) return NULL;
    const NodeList *block = &f->fn->u.function->body;
    for (int depth = 0; block && depth < REACHED_DEPTH; depth++) {
        const Node *around = NULL;
        for (uint32_t i = 0; i < block->len && !around; i++) {
            const Node *s = block->at[i];
            if (holds(s, stmt)) around = s;
            else if (s->kind == N_IF && leaves(&s->u.while_.body) && device_truth(f, s) == 1) {
                return s->u.while_.test;
            }
        }
        const NodeList *next = around ? inner_block(around, stmt) : NULL;
        if (next && around->kind == N_IF) {
            int truth = device_truth(f, around);
            bool taken = next == &around->u.while_.body;
            if (truth >= 0 && truth != taken) return around->u.while_.test;
        }
        block = next;
    }
    return NULL;
}
