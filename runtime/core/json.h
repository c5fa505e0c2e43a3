/* json.h -- why a text could not be read as JSON.  Depends on: jansson, status.h.  Used by: recipe/, model/, receipt/,
 * bindings/. */
#ifndef PN_CORE_JSON_H
#define PN_CORE_JSON_H

#include <jansson.h>

#include "core/status.h"

/** PN_ENOMEM where jansson had no memory, PN_EPARSE where the text is wrong.  Of the latter jansson always says
 *  something; of the former nothing, or that it ran out of memory. */
static inline pn_status pn_json_status(const json_error_t *wrong)
{
    return wrong->text[0] == '\0' || json_error_code(wrong) == json_error_out_of_memory ? PN_ENOMEM : PN_EPARSE;
}

#endif
