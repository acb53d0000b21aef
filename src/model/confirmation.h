// confirmation.h - which candidates a person has agreed to, and to what text
// exactly: confirmations.json (docs/formats.md).
//
// A confirmation is bound by hashes to what was shown. Whoever acts on one
// derives the candidate anew (cli/derive.h) and asks confirmation_state.
#ifndef NPUFUSE_CONFIRMATION_H
#define NPUFUSE_CONFIRMATION_H

#include "base/buf.h"
#include "base/err.h"
#include "base/sha256.h"
#include "model/finding.h"

#define CONFIRMATIONS_FILE "confirmations.json"

enum {
    CONFIRMATIONS_SCHEMA = 1,
    CONFIRMATIONS_MAX_BYTES = 64 * 1024 * 1024,
    STATEMENT_MAX_BYTES = 4096,
};

typedef enum ConfirmedBy { CONFIRMED_TERMINAL, CONFIRMED_STATEMENT } ConfirmedBy;

typedef struct Confirmation {
    Str id, file, tool_version, rule, rule_version, file_sha256;
    Str original_sha256, replacement_sha256, edits_sha256;
    ConfirmedBy by;
    Str statement;    // the user's words; empty for CONFIRMED_TERMINAL
    Str confirmed_at; // 2026-12-02T14:00:00Z
} Confirmation;

typedef struct ConfirmationSet {
    VEC(Confirmation) list; // by id, each once
} ConfirmationSet;

const char *confirmed_by_name(ConfirmedBy by); // "terminal", "statement"

// The SHA-256 of all that applying a candidate does to its file.
void confirmation_edits_sha256(char out[SHA256_HEX + 1], const Finding *finding);
// Binds to `finding` as it is now; the caller fills how it was confirmed.
Confirmation confirmation_of(Arena *arena, const Finding *finding);

// The confirmation of a candidate, NULL if there is none.
const Confirmation *confirmation_find(const ConfirmationSet *set, Str id);
// Adds it, or takes the place of the one with its id.
void confirmation_put(ConfirmationSet *set, Arena *arena, Confirmation confirmation);

// Whether every hash of the confirmation is the finding's. Else `reason` says
// what differs: "the replacement is not the confirmed one". NULL for
// `confirmation` and for `finding` (no longer found) are answered too.
bool confirmation_state(Str *reason, const Confirmation *confirmation,
                        const Finding *finding);

// confirmations.json of the work folder; a folder without one has none.
MUST_CHECK bool confirmations_read(ConfirmationSet *out, Arena *arena,
                                   const char *folder, Err *err);
void confirmations_print(Buf *out, const ConfirmationSet *set);
// Replaces the file at once.
MUST_CHECK bool confirmations_write(const ConfirmationSet *set, Arena *arena,
                                    const char *folder, Err *err);

#endif
