/* ldata.h -- shared by the parts of the data binding.  Depends on: pnl.h, data/dataset.h.
 * Used by: ldata*.c. */
#ifndef PNL_LDATA_H
#define PNL_LDATA_H

#include "bindings/core/pnl.h"
#include "data/dataset.h"

/** The box at the top holds `slot`, just filled with `status`: raise,
 *  or tell the collector of its weight and return 1. */
int pnl_data_made(lua_State *L, pn_dataset *const *slot, pn_status status, const pn_err *err);

/** The same after a pass over the records that a frame is around: the frame ends. */
int pnl_data_passed(lua_State *L, pn_dataset *const *slot, pn_status status, const pn_err *err);
/** Begin that frame: it shows nothing, but the pass can be stopped. */
void pnl_data_pass(lua_State *L);

/** Push an empty box. */
pn_dataset **pnl_new_data(lua_State *L);
/** The path at `index`, 1 or 2; a zero byte in it would silently name another file.  owner: "data.csv". */
const char *pnl_data_path(lua_State *L, int index, const char *owner);
/** Push option `name` of the table at 2 (nil without a table); returns its type. */
int pnl_data_option(lua_State *L, const char *name);
/** The option `labels` of the table at 2; what it points into stays on the stack.  text: labels may be text. */
void pnl_data_labels(lua_State *L, const char *owner, bool text, pn_label_options *options);

/* The option `clip_rows` of a loader: rows are clipped before anybody has the data set,
 * so that there is one copy of them. */
typedef struct pnl_row_clip {
    bool given;
    pn_lp norm;
    double bound;
} pnl_row_clip;
/** That of the table at `index`, {"l2", 1}; without a table there is none. */
pnl_row_clip pnl_data_row_clip(lua_State *L, int index, const char *owner);
/** Clip what was loaded into `slot` unless `status` says that nothing was. */
pn_status pnl_data_clipped(pn_dataset *const *slot, const pnl_row_clip *clip, pn_status status, pn_err *err);

/** The ranges {age = {17, 90}, ...} at 2, where the stack ends, become two pn.vec, at 2 and 3.  Raises for a name that
 *  is no feature's, and for a feature that has neither a range nor the name of a 0/1 feature. */
void pnl_data_named_ranges(lua_State *L, const pn_dataset *data);

/** The option `seed` of the table at 1: any whole number, 1 when absent. */
uint64_t pnl_data_seed(lua_State *L, const char *owner);
/** Push pn.data.synthetic. */
void pnl_open_synthetic(lua_State *L);
/** Adds pn.data.synthetic.fingerprint to the table on the top. */
void pnl_open_fingerprint(lua_State *L);
/** pn.data.csv */
int pnl_data_csv(lua_State *L);
/** pn.data.store */
int pnl_data_store(lua_State *L);
/** d:summary() */
int pnl_data_summary(lua_State *L);
/** d:head(k) */
int pnl_data_head(lua_State *L);
/** Push the records that data/holdout.h keeps, and those that it holds out; every: 2 .. n. */
void pnl_data_push_holdout(lua_State *L, const pn_dataset *data, size_t every);
/** d:take(n), d:shuffle(rng), d:share(ranks), d:split(fraction, rng), d:holdout(every) */
int pnl_data_take(lua_State *L);
int pnl_data_shuffle(lua_State *L);
int pnl_data_share(lua_State *L);
int pnl_data_split(lua_State *L);
int pnl_data_holdout(lua_State *L);
/** d:describe{...}, in bindings/objective/lquery.c */
int pnl_data_describe(lua_State *L);

#endif
