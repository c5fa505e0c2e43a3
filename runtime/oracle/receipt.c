/* receipt.c -- see receipt.h.  Depends on: receipt.h, privacy/event.  Used by: oracle.c and its instruments. */
#include "oracle/receipt.h"
#include "privacy/event/event_leaf.h"

static size_t row_of(const pn_receipt *self, const pn_event *event)
{
    size_t i = 0;

    while (i < self->rows && self->event[i] != event && !pn_event_same(self->event[i], event))
        i++;
    return i;
}

pn_status pn_receipt_room(const pn_receipt *self, const pn_event *event, pn_err *err)
{
    if (!self || row_of(self, event) < PN_RECEIPT_ROWS)
        return PN_OK;
    return pn_fail(err, PN_EUNSUPPORTED, "oracle: a run is charged at most %d different events", PN_RECEIPT_ROWS);
}

void pn_receipt_add(pn_receipt *self, pn_event *event, size_t times)
{
    size_t row;

    if (!self || times == 0)
        return;
    row = row_of(self, event);
    if (row == self->rows) {
        self->event[self->rows++] = pn_event_keep(event);
        self->times[row] = 0;
    }
    self->times[row] += times;
}

pn_status pn_receipt_total(const pn_receipt *self, pn_event **event, size_t *count, pn_err *err)
{
    pn_event *parts[PN_RECEIPT_ROWS] = { NULL };
    pn_status status = PN_OK;

    *event = NULL;
    *count = 1;
    if (self->rows == 0)
        return PN_OK;
    if (self->rows == 1) {
        *count = self->times[0];
        *event = pn_event_keep(self->event[0]);
        return PN_OK;
    }
    for (size_t i = 0; i < self->rows && status == PN_OK; i++)
        status = pn_event_repeated(&parts[i], self->event[i], self->times[i], err);
    if (status == PN_OK)
        status = pn_event_compose(event, parts, self->rows, err);
    for (size_t i = 0; i < self->rows; i++)
        pn_event_free(parts[i]);
    return status;
}

void pn_receipt_clear(pn_receipt *self)
{
    for (size_t i = 0; i < self->rows; i++)
        pn_event_free(self->event[i]);
    self->rows = 0;
}
