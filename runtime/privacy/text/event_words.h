/* event_words.h -- events as people read them: "Gaussian noise, sigma 3 for sensitivity 1".
 * Depends on: event.h.  Used by: bindings/privacy. */
#ifndef PN_PRIVACY_EVENT_WORDS_H
#define PN_PRIVACY_EVENT_WORDS_H

#include "privacy/event/event.h"

/** What happened, in words and with six digits; cut at `size`.  Composed events list their parts: "20 times Laplace
 *  noise, scale 5 for sensitivity 1; ...".  pn_event_describe has every digit and reads like a call. */
void pn_event_words(const pn_event *event, char *text, size_t size);

#endif
