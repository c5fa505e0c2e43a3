/* agreement.c -- do parties hold the same records?  Numbers and digests are compared,
 * and an error says who differs from whom.
 * Depends on: agreement.h.  Used by: transport.c, zeromq_server.c. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "federated/transport/agreement.h"

/* A line that is cut where it is full. */
typedef struct line {
    char text[400];
    size_t at;
} line;

static void add(line *l, const char *format, ...) PN_PRINTF(2, 3);

static void add(line *l, const char *format, ...)
{
    size_t room = sizeof l->text - l->at;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(l->text + l->at, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        l->at += (size_t)length < room ? (size_t)length : room - 1;
}

static pn_status records_differ(const pn_transport *transport, pn_err *err)
{
    line l = { .at = 0 };

    for (size_t k = 0; k < transport->parties; k++)
        add(&l, "%s%s has %llu", k ? ", " : "", transport->peers[k].name,
            (unsigned long long)transport->peers[k].records);
    return pn_fail(err, PN_EINVAL, "federated: parties must hold the same records, but their numbers differ: %s",
                   l.text);
}

static bool is_stated(const pn_peer *peer)
{
    static const unsigned char none[PN_DIGEST_BYTES];

    return memcmp(peer->alignment, none, PN_DIGEST_BYTES) != 0;
}

static bool same_order(const pn_peer *a, const pn_peer *b)
{
    return memcmp(a->alignment, b->alignment, PN_DIGEST_BYTES) == 0;
}

/* "a, b | c": who agrees with whom. */
static pn_status orders_differ(const pn_transport *transport, pn_err *err)
{
    const pn_peer *peers = transport->peers;
    line l = { .at = 0 };

    for (size_t k = 0; k < transport->parties; k++) {
        size_t first = 0;

        while (!same_order(&peers[first], &peers[k]))
            first++;
        if (first < k || !is_stated(&peers[k]))
            continue;
        add(&l, "%s%s", l.at ? " | " : "", peers[k].name);
        for (size_t other = k + 1; other < transport->parties; other++) {
            if (same_order(&peers[k], &peers[other]))
                add(&l, ", %s", peers[other].name);
        }
    }
    return pn_fail(
        err, PN_EINVAL,
        "federated: parties hold different records, or the same in different orders: the digests of their record ids "
        "differ.  Who agrees with whom: %s",
        l.text);
}

/* One that sorts its records beside one that does not: nothing would tell that the rows do not match. */
static pn_status some_unstated(const pn_transport *transport, pn_err *err)
{
    line l = { .at = 0 };

    for (size_t k = 0; k < transport->parties; k++) {
        if (!is_stated(&transport->peers[k]))
            add(&l, "%s%s", l.at ? ", " : "", transport->peers[k].name);
    }
    return pn_fail(
        err, PN_EINVAL,
        "federated: some parties state the order of their records (alignment) and these do not: %s.  Let all state it, "
        "or none",
        l.text);
}

pn_status pn_transport_agree(const pn_transport *transport, pn_err *err)
{
    const pn_peer *peers = transport->peers, *stated = NULL;
    size_t count = 0;

    for (size_t k = 1; k < transport->parties; k++) {
        if (peers[k].records != peers[0].records)
            return records_differ(transport, err);
    }
    for (size_t k = 0; k < transport->parties; k++) {
        if (!is_stated(&peers[k]))
            continue;
        if (stated && !same_order(stated, &peers[k]))
            return orders_differ(transport, err);
        stated = &peers[k];
        count++;
    }
    return count == 0 || count == transport->parties ? PN_OK : some_unstated(transport, err);
}
