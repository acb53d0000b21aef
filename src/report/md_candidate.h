// md_candidate.h - the section of one candidate in the Markdown report.
#ifndef NPUFUSE_MD_CANDIDATE_H
#define NPUFUSE_MD_CANDIDATE_H

#include "report/groups.h"
#include "report/page.h"

// Candidate `number`, from 1, of all that the report has.
void md_candidate(const Page *page, const GroupVec *all, uint32_t number);

#endif
