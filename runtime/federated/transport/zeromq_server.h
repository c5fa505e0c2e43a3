/* zeromq_server.h -- the server's end: its state, and what passes between it and one party.
 * Private to zeromq_server.c, zeromq_talk.c.
 * Depends on: zeromq_link.h. */
#ifndef PN_FEDERATED_ZEROMQ_SERVER_H
#define PN_FEDERATED_ZEROMQ_SERVER_H

#include "federated/transport/zeromq_link.h"

#define PN_ROUTE_MAX 255

/* One party: where it is, what it owes.  What it said of itself is with its peer. */
typedef struct pn_member {
    unsigned char route[PN_ROUTE_MAX]; /* of its last connection */
    size_t route_size;                 /* 0: not connected, as far as is known */
    bool joined;                       /* has said hello */
    bool bound;           /* has accepted this run's terms: from here on it must remember what it releases */
    unsigned char *bytes; /* the request that it has not answered; NULL: none */
    size_t size;
    double heard, sent; /* when: of its last hello, of the last time that the request left */
    unsigned sends;     /* of the same request */
    unsigned bad;       /* messages that could not be read, since the last good one */
    unsigned dropped;   /* lines of the log about what it should not have sent, in this exchange */
} pn_member;

typedef struct pn_zeromq {
    pn_transport base; /* first */
    long process;      /* the one that made the context: of no use in a child */
    void *context, *socket;
    pn_gate *gate;
    char *endpoint;
    pn_wire_limits limits;
    double timeout;
    pn_zeromq_log log;
    void *log_self;
    pn_member *members;         /* [parties] */
    const pn_message *requests; /* of the exchange that is going on */
    pn_message *replies;        /* NULL in a farewell, where nobody is judged */
    pn_message *refusals;       /* [parties] room for the last word to those who are sent away */
    size_t waiting;             /* parties that owe an answer */
    bool known;                 /* what parties said of their data counts from here on */
    bool sent_away;             /* a gathering failed: what its parties still say is of before */
} pn_zeromq;

void pn_talk_tell(const pn_zeromq *z, const char *what, const char *who, const char *why);
/** Write the request for party k and send it where the party is known to be.  Errors: as pn_wire_write. */
pn_status pn_talk_ask(pn_zeromq *z, size_t k, pn_err *err);
/** The request for party k is over. */
void pn_talk_settle(pn_zeromq *z, size_t k);
/** Throw away what has come and was not read. */
void pn_talk_forget(pn_zeromq *z);
/** Wait for up to `milliseconds`, and deal with what has come.
 *  Errors: PN_EPRIVACY, PN_EINVAL for a party that came back as another one; PN_EUNSUPPORTED, PN_EIO for one that
 *  cannot be understood; PN_ENOMEM. */
pn_status pn_talk_wait(pn_zeromq *z, long milliseconds, pn_err *err);

#endif
