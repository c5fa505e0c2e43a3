/* zeromq_serve.c -- a party of party.h at the end of a connection.  Depends on: zeromq_link.h, party.h.
 * Used by: bindings. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "federated/transport/zeromq_link.h"

typedef struct served {
    pn_party *party;
    const pn_zeromq_party_options *options;
} served;

static void hello(void *self, pn_message *out)
{
    pn_party_hello(((served *)self)->party, out);
}

static void tell(const served *self, const char *what, const char *why)
{
    const pn_zeromq_event event = { what, self->options->connect, why };

    if (self->options->log)
        self->options->log(self->options->log_self, &event);
}

/* What the terms allow, once they are taken: of this party's releases, and of a person over all parties. */
static pn_status tell_terms(const served *self, pn_err *err)
{
    char text[320], cap[64] = "";
    pn_party_report report;

    if (!self->options->log)
        return PN_OK;
    PN_TRY(pn_party_report_of(self->party, &report, err));
    if (report.person_cap > 0.0)
        (void)snprintf(cap, sizeof cap, ", within person_epsilon %.4g", report.person_cap);
    if (isnan(report.person_epsilon))
        (void)snprintf(text, sizeof text, "%" PRIu64 " parties; they prove no epsilon", report.parties);
    else
        (void)snprintf(text, sizeof text,
                       "%s%" PRIu64 " parties, which together may spend epsilon %.4g at delta %.3g on one person%s",
                       report.simulated ? "seeded noise, no privacy; " : "", report.parties, report.person_epsilon,
                       report.delta, cap);
    tell(self, "terms", text);
    return PN_OK;
}

/* A farewell of another run than the one that is going on leaves the party where it is. */
static pn_status answer(void *self, const pn_message *request, pn_message *reply, pn_link_next *next, pn_task *task,
                        pn_err *err)
{
    pn_party *party = ((served *)self)->party;
    pn_status status = pn_party_answer(party, request, reply, task, err);
    pn_party_phase phase;

    if (status == PN_OK && request->kind == PN_MESSAGE_TERMS) {
        if (reply->kind == PN_MESSAGE_READY)
            status = tell_terms(self, err);
        else
            tell(self, "terms refused", reply->reason);
    }
    if (status != PN_OK || (request->kind != PN_MESSAGE_DONE && request->kind != PN_MESSAGE_REFUSED))
        return status;
    phase = pn_party_phase_of(party);
    if (phase == PN_PARTY_DONE || phase == PN_PARTY_REFUSED)
        *next = PN_LINK_OVER;
    return PN_OK;
}

pn_status pn_party_serve_zeromq(pn_party *party, const pn_zeromq_party_options *options, pn_task *task, pn_err *err)
{
    served self = { party, options };
    const pn_link_party link = { &self, hello, answer };

    return pn_link_serve(&link, options, task, err);
}
