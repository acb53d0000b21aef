// api_show.h - one operator as text and as JSON.
#ifndef NPUFUSE_API_SHOW_H
#define NPUFUSE_API_SHOW_H

#include "apidoc/compare.h"
#include "apidoc/install.h"
#include "apidoc/operator.h"
#include "apidoc/search.h"
#include "model/json.h"
#include "report/phrases.h"

// Everything there is about one name.
typedef struct ApiView {
    Str name;
    const Install *install;
    VEC(const DocEntry *) entries; // all texts, the one in force last
    DocPage page;                  // of the one in force
    VEC(Schema) registered;        // its overloads
    const Operator *known;         // ops/<name>.py, or NULL
    Sentences disagreements;
} ApiView;

typedef struct ApiShow {
    bool full; // whole sections, and texts that were superseded
    Lang lang;
} ApiShow;

void api_show_text(Buf *out, const ApiView *view, const ApiShow *how);
void api_show_json(Json *json, const ApiView *view);

#endif
