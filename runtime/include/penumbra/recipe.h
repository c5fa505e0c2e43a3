/* recipe.h -- how the columns of a table become features with a bound: public facts about the columns, and nothing that
 * was seen in records.  The same recipe makes the same numbers of any file, for training and for prediction.
 * A recipe is written as JSON:
 *
 *   {"label": {"name": "income", "values": ["<=50K", ">50K"], "positive": ">50K"},
 *    "features": [{"name": "age", "values": [17, 90], "missing": "indicator", "weight": 1},
 *                 {"name": "workclass", "values": ["Private", "State-gov"]},
 *                 {"name": "born", "values": ["date"], "from": "1930-01-01", "to": "2010-12-31"},
 *                 {"name": "member", "values": ["flag"], "missing": false}],
 *    "missing": "refuse", "na": ["", "NA"], "intercept": true, "norm": "l2", "clip": 2.5}
 *
 *   features   in the order of the list; or an object {"age": [17, 90], "member": "flag", ...}, in its order, of which
 *              each value is a list of `values`, a text, or an object as in the list without "name"
 *   values     two numbers: a range, values beyond it are clipped to it; texts: categories, everything else is "other",
 *              which always has its feature; ["date"]: days YYYY-MM-DD from `from` to `to`, clipped likewise;
 *              ["flag"]: true or false, also t/f, yes/no, y/n, on/off, 1/0, in letters of either case
 *   missing    of a column, or of all that do not say: "refuse" (default), "indicator" (the column always has one more
 *              feature, 1 where there is a hole; the hole itself is 0), or the value that fills a hole
 *   weight     > 0, default 1: the largest norm of what the column adds to a row, before rows are scaled
 *   na         the texts that are holes; default "", NA, N/A, NaN, nan, null, NULL, ?
 *   intercept  true, false, or the weight of the constant feature, which is the last
 *   norm       "l1", "l2" (default) or "linf": rows have at most norm 1 in it
 *   clip       features of a row are clipped to this norm (before rows are scaled, without the intercept)
 *   label      absent: none.  Two numbers: a range, clipped, and mapped to [-1, 1].  Two texts: -1 and 1; `positive`,
 *              default the second, is 1.  More: 1, 2, ..., K.  Also {"income": ["<=50K", ">50K"]}.  {"name":
 *              "visits", "count": 20}: whole numbers from 0, which stay what they are; those above 20 become 20
 *   estimated  what of this was estimated from records, and its price: {"columns": ["age"], "epsilon": 0.5, "delta": 0,
 *              "rho": null, "neighbours": "replace_one", "simulated": false}; it changes no number
 *
 * "format" and "version" are written, and checked if they are there.  Other keys are refused.
 * Depends on: dataset.h, numbers.h, status.h, task.h. */
#ifndef PENUMBRA_RECIPE_H
#define PENUMBRA_RECIPE_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/dataset.h"
#include "penumbra/numbers.h"
#include "penumbra/status.h"
#include "penumbra/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_recipe pn_recipe;

/** A recipe from its JSON.  Errors: PN_EPARSE for what is no JSON, with line and column; PN_EINVAL for what is no
 *  recipe, with the column's name; PN_ENOMEM. */
pn_status pn_recipe_new(pn_recipe **out, const char *json, pn_err *err);
void pn_recipe_free(pn_recipe *recipe);

/** Its JSON with all that was left out filled in; pn_recipe_new makes the same recipe of it.  Borrowed. */
const char *pn_recipe_json(const pn_recipe *recipe);
/** The number of features of a data set of it, the intercept among them. */
size_t pn_recipe_features(const pn_recipe *recipe);
/** ||x|| <= this for every row it makes: 1 in the norm of the recipe. */
double pn_recipe_row_bound(const pn_recipe *recipe, pn_lp norm);

/* One feature.  Texts are borrowed.  Of a number or a date x (in days since 1970-01-01) the feature is (x - offset) *
 * scale, x clipped to its range; of a flag the same with x = 0 or 1; of a category `scale` where it is the record's,
 * else 0; of the intercept, scale. */
typedef struct pn_recipe_feature {
    const char *name;     /* "age", "workclass=Private", "workclass=other", "age=missing", "intercept" */
    const char *column;   /* NULL: of the intercept */
    const char *kind;     /* "number", "date", "flag", "category", "missing", "intercept" */
    const char *category; /* NULL unless it is one of the list: "other" has none */
    double offset, scale;
} pn_recipe_feature;
/** Feature `index`, from 0.  Errors: PN_EDIM. */
pn_status pn_recipe_describe(const pn_recipe *recipe, size_t index, pn_recipe_feature *out, pn_err *err);

typedef enum pn_encoding { PN_UTF_8 = 0, PN_WINDOWS_1252 } pn_encoding;

/* A file; all zeros: comma-separated, or by semicolons or tabs, in UTF-8, with a header. */
typedef struct pn_recipe_file {
    bool no_label;             /* leave the label alone: the labels are 0, and nothing is enforced about them */
    char separator;            /* 0: found among , ; tab in the header */
    bool decimal_comma;        /* 1,5 is one and a half; points in numbers are refused */
    pn_encoding encoding;      /* of names and texts */
    const char *const *header; /* [header_count] the names of the columns of a file that has no header; NULL */
    size_t header_count;
} pn_recipe_file;

/**
 * The data set that a CSV file makes, gzip or plain: RFC 4180 quoting, quoted texts may hold newlines.  Columns are
 * found by name in the header; others are not looked at.  Records stay in the order of the file, all of them.
 *   options  NULL for the defaults.   task  told of bytes read; may be NULL.
 * Errors: PN_EINVAL for options, for a column that is not in the file (the message has the file's names, and the
 *         nearest), for one that is twice in the header; PN_EPARSE with file, line, position, column and what was
 *         found, for a hole in a column that refuses them, and for no records; PN_EIO; PN_ENOMEM; PN_ECANCELLED.
 * Messages quote the file: they are for its owner.
 */
pn_status pn_recipe_load(pn_dataset **out, const pn_recipe *recipe, const char *path, const pn_recipe_file *options,
                         pn_task *task, pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
