/* event_text.h -- events as text that reads back to the same doubles, for the file of a ledger.  Private to privacy/.
 * Depends on: event_leaf.h, ledger_text.h.  Used by: ledger_record.c.
 *
 * name(first=0.5,second=3,third=(1,2.5),event=other(...)) by the parameter table of the event's kind, parameters that
 * have their fallback left out; compose(a,b,...) and repeated(a,count).  "@add_remove" after the bracket where the
 * relation is not that of the event around it.  No spaces.  Numbers in the fewest digits that give the double back,
 * in the "C" locale of the caller. */
#ifndef PN_PRIVACY_EVENT_TEXT_H
#define PN_PRIVACY_EVENT_TEXT_H

#include "privacy/event/event.h"
#include "privacy/text/ledger_text.h"

#define PN_EVENT_DEPTH 16 /* of events inside events */

/** Append `event`, which stands in a place where `around` is understood.  Errors: PN_EUNSUPPORTED for an event that has
 *  no text form or would not read back; PN_ENOMEM. */
pn_status pn_event_write(pn_text *text, const pn_event *event, pn_neighbours around, pn_err *err);

/** Read an event at *cursor and move it behind.  Errors: PN_EPARSE; as pn_event_from_args. */
pn_status pn_event_read(pn_event **out, const char **cursor, pn_neighbours around, pn_err *err);

#endif
