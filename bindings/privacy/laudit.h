/* laudit.h -- what pn.audit hands back.  Depends on: pnl.h, privacy/audit/audit.h.
 * Used by: laudit.c, laudit_result.c. */
#ifndef PNL_LAUDIT_H
#define PNL_LAUDIT_H

#include "bindings/core/pnl.h"
#include "privacy/audit/audit.h"
#include "privacy/event/event.h"

typedef struct pnl_audit {
    pn_audit_result result;
    double delta, claimed; /* claimed: NaN when nothing is */
    bool one_run, simulated, has_seed;
    uint64_t seed;
} pnl_audit;

extern const pnl_class pnl_audit_class;

/* laudit_curve.c: from profile = {{epsilon, delta}, ...} or true at `index`,
 * leaving what it is made of on the stack.  True if there is one. */
bool pnl_audit_curve(lua_State *L, int index, pn_event *event, pn_audit_curve *out);

#endif
