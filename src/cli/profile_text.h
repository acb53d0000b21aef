// profile_text.h - a mined profile for people: as text and as Markdown.
#ifndef NPUFUSE_PROFILE_TEXT_H
#define NPUFUSE_PROFILE_TEXT_H

#include "base/buf.h"
#include "prof/runs.h"

typedef struct ProfileStyle {
    Str source; // what to call the file
    bool all;   // every run and kernel, not the longest only
} ProfileStyle;

void profile_text_write(Buf *out, const ProfReport *report, const ProfileStyle *style);
void profile_md_write(Buf *out, const ProfReport *report, const ProfileStyle *style);
// The report's notes on stderr.
void profile_tell_notes(const ProfReport *report);

#endif
