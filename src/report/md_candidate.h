// md_candidate.h - the section of one candidate in the Markdown report.
#ifndef NPUFUSE_MD_CANDIDATE_H
#define NPUFUSE_MD_CANDIDATE_H

#include "report/groups.h"
#include "report/page.h"

// `number` is the candidate's place in the report, from 1.
void md_candidate(const Page *page, const Group *group, uint32_t number);

#endif
