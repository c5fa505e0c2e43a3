/* zeromq_serve.c -- a party of party.h at the end of a connection.  Depends on: zeromq_link.h, party.h.  Used by: bindings. */
#include "federated/zeromq_link.h"

static void hello(void *self, pn_message *out)
{
    pn_party_hello(self, out);
}

/* A farewell of another run than the one that is going on leaves the party where it is. */
static pn_status answer(void *self, const pn_message *request, pn_message *reply, pn_link_next *next, pn_task *task,
                        pn_err *err)
{
    pn_status status = pn_party_answer(self, request, reply, task, err);
    pn_party_report report;

    if (status != PN_OK || (request->kind != PN_MESSAGE_DONE && request->kind != PN_MESSAGE_REFUSED))
        return status;
    pn_party_report_of(self, &report);
    if (report.phase == PN_PARTY_DONE || report.phase == PN_PARTY_REFUSED)
        *next = PN_LINK_OVER;
    return PN_OK;
}

pn_status pn_zeromq_serve(pn_party *party, const pn_zeromq_party_options *options, pn_task *task, pn_err *err)
{
    const pn_link_party link = { party, hello, answer };

    return pn_link_serve(&link, options, task, err);
}
