// binds.c - statements that do nothing but bind names.
#include "base/base.h"

#include "match/binds.h"

static bool targets_names_only(const Node *target) {
    if (target->kind == N_NAME) return true;
    if (target->kind != N_TUPLE && target->kind != N_LIST) return false;
    for (uint32_t i = 0; i < target->u.list.elts.len; i++) {
        if (!targets_names_only(target->u.list.elts.at[i])) return false;
    }
    return true;
}

static bool only_binds_block(const NodeList *block);

bool stmt_only_binds(const Node *stmt) {
    switch ((int)stmt->kind) {
    case N_ASSIGN:
        for (uint32_t i = 0; i < stmt->u.assign.targets.len; i++) {
            if (!targets_names_only(stmt->u.assign.targets.at[i])) return false;
        }
        return true;
    case N_ANN_ASSIGN: return stmt->u.ann_assign.target->kind == N_NAME;
    case N_AUG_ASSIGN: return stmt->u.aug_assign.target->kind == N_NAME;
    case N_PASS: return true;
    case N_IF:
        return only_binds_block(&stmt->u.while_.body) &&
               only_binds_block(&stmt->u.while_.orelse);
    default: return false;
    }
}

static bool only_binds_block(const NodeList *block) {
    for (uint32_t i = 0; i < block->len; i++) {
        if (!stmt_only_binds(block->at[i])) return false;
    }
    return true;
}
