/* zeromq.h -- the transport over ZeroMQ with CURVE: server side, party side, keys.
 * The server binds a ROUTER, each party connects a DEALER.  CURVE authenticates both: the server by its public key,
 * which a party must have; a party by its own, which must be in the server's list (ZAP): a message belongs to the party
 * whose key its connection has, whatever it
 * says.  Others are turned away.
 *
 * What a server does with what comes is at the top of zeromq_talk.c: a reply that answers nothing is dropped, bytes
 * that are no message are dropped up to a number, and a party that came back with other data, or without its memory of
 * this run, stops it.  Whom a request does not reach, or who comes back, is sent it again; a party that computes says
 * nothing, so `timeout` bounds one answer, too.  Either end belongs to the process that opened it, not to a child of
 * it.  Depends on: transport.h, libzmq.  Used by: bindings. */
#ifndef PN_FEDERATED_ZEROMQ_H
#define PN_FEDERATED_ZEROMQ_H

#include "federated/transport/transport.h"
#include "federated/wire/wire.h"
#include "penumbra/federated.h"

#endif
