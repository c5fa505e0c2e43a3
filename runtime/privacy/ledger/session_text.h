/* session_text.h -- what a session has counted as text, from a process that was forked to the one that forked it: what
 * was released there came back, so it counts here.  Nobody else is to see it: it holds origins.
 * Depends on: session.h, event_text.h.  Used by: bindings/privacy/lsession.c. */
#ifndef PN_PRIVACY_SESSION_TEXT_H
#define PN_PRIVACY_SESSION_TEXT_H

#include "privacy/text/ledger_text.h"
#include "privacy/ledger/session.h"

/** Nothing was spent yet; data sets and their budgets stay. */
void pn_session_restart(pn_session *session);
/** *out (all zeros before, cleared by the caller): what was spent; out->data is NULL for nothing.  Errors:
 *  PN_EUNSUPPORTED for an event that has no text form; PN_ENOMEM. */
pn_status pn_session_write(const pn_session *session, pn_text *out, pn_err *err);
/** Count what such a text says, too.  Errors: PN_EPARSE for another text, PN_ENOMEM: some of it may be counted then. */
pn_status pn_session_absorb(pn_session *session, const char *text, pn_err *err);

#endif
