/* zeromq_test.c -- server and parties in one process, over real sockets on the loopback: what passes between them, and
 * what happens when one is slow, silent, gone or comes back.  Parties answer by rote (zeromq_kit.h);
 * what they should answer is party.h's matter. */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "core/task.h"
#include "runtime/federated/transport/zeromq_kit.h"

#define M 5

static double thread_seconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void start_all(kit_party *parties, const kit_server *s, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        kit_party_init(&parties[k], s, k, M);
        CHECK(kit_party_start(&parties[k]));
    }
}

static void check(pn_status got, const pn_err *err)
{
    if (!CHECK(got == PN_OK))
        (void)fprintf(stderr, "    %s\n", err->message);
}

/* Says goodbye, and expects that everybody goes. */
static void finish(kit_server *s, kit_party *parties, size_t count)
{
    kit_request(s, PN_MESSAGE_DONE, 0, M);
    s->transport->ops->end(s->transport, s->requests);
    for (size_t k = 0; k < count; k++) {
        kit_party_join(&parties[k]);
        check(parties[k].status, &parties[k].err);
        CHECK(parties[k].last == PN_MESSAGE_DONE);
    }
    kit_close(s);
}

/* ---- a run ---- */

static void every_party_gets_its_requests_and_is_heard(void)
{
    kit_server s;
    kit_party parties[3];
    pn_err err;

    kit_prepare(&s, 3, 20.0);
    check(kit_open(&s, &err), &err);
    start_all(parties, &s, 3);
    check(pn_transport_gather(s.transport, NULL, &err), &err);
    CHECK(s.transport->records == KIT_RECORDS && s.transport->feature_bound == 3.0);
    for (size_t k = 0; k < 3; k++) {
        CHECK(s.transport->peers[k].columns == 3 + k && s.transport->peers[k].session[7] == k + 1);
        CHECK(strcmp(s.transport->peers[k].name, s.names[k]) == 0); /* not what it calls itself */
    }
    check(kit_exchange(&s, PN_MESSAGE_TERMS, 0, M, NULL, &err), &err);
    check(kit_exchange(&s, PN_MESSAGE_ROUND, 1, M, NULL, &err), &err);
    for (size_t k = 0; k < 3; k++)
        CHECK(s.replies[k].kind == PN_MESSAGE_CHOICE && s.replies[k].code == (int64_t)(1 + k));
    kit_request(&s, PN_MESSAGE_FETCH, 1, M);
    pn_message_clear(&s.requests[1]); /* nothing for this one */
    check(pn_transport_exchange(s.transport, s.requests, s.replies, NULL, &err), &err);
    CHECK(s.replies[1].kind == PN_MESSAGE_NONE && s.replies[2].size == M && s.replies[2].vector[4] == 7.0);
    CHECK(s.transport->peers[0].messages_down == 3 && s.transport->peers[0].messages_up == 3);
    CHECK(s.transport->peers[0].scalars_up == 1 + M && s.transport->peers[1].scalars_up == 1);
    CHECK(s.transport->peers[0].bytes_up > 8 * M && s.transport->peers[0].bytes_down > 8 * M);
    finish(&s, parties, 3);
    CHECK(parties[0].asked == 3 && parties[1].asked == 2);
}

static void waiting_for_a_slow_party_takes_no_processor_time(void)
{
    kit_server s;
    kit_party parties[2];
    pn_err err;
    double busy;

    kit_prepare(&s, 2, 20.0);
    check(kit_open(&s, &err), &err);
    start_all(parties, &s, 2);
    parties[1].delay_ms = 1200;
    check(pn_transport_gather(s.transport, NULL, &err), &err);
    busy = thread_seconds();
    check(kit_exchange(&s, PN_MESSAGE_ROUND, 1, M, NULL, &err), &err);
    busy = thread_seconds() - busy;
    CHECK(busy < 0.3); /* of 1.2 */
    finish(&s, parties, 2);
}

static void parties_wait_through_a_restart_of_the_server(void)
{
    kit_server s;
    kit_party parties[2];
    char again[64];
    pn_err err;

    kit_prepare(&s, 2, 20.0);
    check(kit_open(&s, &err), &err);
    start_all(parties, &s, 2);
    check(pn_transport_gather(s.transport, NULL, &err), &err);
    check(kit_exchange(&s, PN_MESSAGE_ROUND, 1, M, NULL, &err), &err);
    (void)snprintf(again, sizeof again, "%s", pn_zeromq_endpoint(s.transport));
    kit_close(&s);
    s.options.listen = again;
    check(kit_open(&s, &err), &err);
    check(pn_transport_gather(s.transport, NULL, &err), &err);
    check(kit_exchange(&s, PN_MESSAGE_ROUND, 2, M, NULL, &err), &err);
    CHECK(s.replies[1].code == 3);
    finish(&s, parties, 2);
}

static void the_last_word_of_a_server_is_heard_by_who_was_busy(void)
{
    kit_server s;
    kit_party party;
    pn_err err;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, &err), &err);
    kit_party_init(&party, &s, 0, M);
    atomic_store(&party.held, true);
    CHECK(kit_party_start(&party));
    check(pn_transport_gather(s.transport, NULL, &err), &err);
    kit_patience(&s, 0.2);
    CHECK(kit_exchange(&s, PN_MESSAGE_ROUND, 1, M, NULL, &err) == PN_EIO);
    finish(&s, &party, 0); /* says DONE and is gone before the party looks up */
    atomic_store(&party.held, false);
    kit_party_join(&party);
    check(party.status, &party.err);
    CHECK(party.last == PN_MESSAGE_DONE && party.asked == 1);
}

/* ---- who is not there ---- */

static pn_status stop_at_one(void *self, const pn_progress *progress, pn_err *err)
{
    (void)self;
    return progress->done >= 1.0 ? pn_fail(err, PN_ECALLBACK, "one is there") : PN_OK;
}

static void a_party_that_never_comes_is_named(void)
{
    kit_server s;
    kit_party party;
    pn_task *task = NULL;
    pn_err err;

    kit_prepare(&s, 2, 20.0);
    check(kit_open(&s, &err), &err);
    CHECK(pn_task_new(&task, 1, &err) == PN_OK);
    pn_task_listen(task, stop_at_one, NULL);
    kit_party_init(&party, &s, 0, M);
    CHECK(kit_party_start(&party));
    CHECK(pn_transport_gather(s.transport, task, &err) == PN_ECALLBACK); /* the one that comes is there */
    pn_task_free(task);
    kit_patience(&s, 0.4);
    CHECK(pn_transport_gather(s.transport, NULL, &err) == PN_EIO);
    CHECK(strstr(err.message, "no party joined for 0.4 s; still missing: clinic-1") != NULL);
    s.options.parties = 1; /* for the goodbye */
    kit_request(&s, PN_MESSAGE_DONE, 0, M);
    s.transport->ops->end(s.transport, s.requests);
    kit_party_join(&party);
    CHECK(party.status == PN_OK);
    kit_close(&s);
}

static void a_party_that_falls_silent_is_named_within_the_time_out(void)
{
    kit_server s;
    kit_party party;
    kit_raw raw;
    pn_err err;
    double since;

    kit_prepare(&s, 2, 20.0);
    check(kit_open(&s, &err), &err);
    kit_party_init(&party, &s, 0, M);
    CHECK(kit_party_start(&party));
    kit_raw_open(&raw, &s, 1);
    kit_raw_hello(&raw, 1);
    check(pn_transport_gather(s.transport, NULL, &err), &err);
    kit_patience(&s, 2.0); /* within which the other answers */
    since = pn_link_now();
    CHECK(kit_exchange(&s, PN_MESSAGE_ROUND, 4, M, NULL, &err) == PN_EIO);
    CHECK(pn_link_now() - since > 1.95);
    CHECK(strstr(err.message, "clinic-1 has been silent for more than 2 s; it was sent \"round\" of round 4") != NULL);
    CHECK(s.replies[0].kind == PN_MESSAGE_NONE);
    CHECK(strstr(s.log, "lost clinic-1") != NULL);
    kit_patience(&s, 20.0);
    CHECK(kit_raw_answer(&raw, PN_MESSAGE_ROUND, M)); /* late, to be taken when the same is asked again */
    check(kit_exchange(&s, PN_MESSAGE_ROUND, 4, M, NULL, &err), &err);
    kit_raw_close(&raw);
    finish(&s, &party, 1);
}

static void *cancel_soon(void *task)
{
    kit_pause(250);
    pn_task_cancel(task);
    return NULL;
}

static void waiting_ends_when_it_is_cancelled(void)
{
    kit_server s;
    kit_party party;
    pn_task *task;
    pthread_t thread;
    pn_err err;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, &err), &err);
    CHECK(pn_task_new(&task, 1, &err) == PN_OK);
    CHECK(pthread_create(&thread, NULL, cancel_soon, task) == 0);
    CHECK(pn_transport_gather(s.transport, task, &err) == PN_ECANCELLED);
    CHECK(pthread_join(thread, NULL) == 0);
    pn_task_reset(task);
    kit_party_init(&party, &s, 0, M); /* nobody serves it now: the party waits, too */
    party.task = task;
    CHECK(kit_party_start(&party));
    CHECK(pthread_create(&thread, NULL, cancel_soon, task) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    kit_party_join(&party);
    CHECK(party.status == PN_ECANCELLED);
    pn_task_free(task);
    kit_close(&s);
}

/* A port that is taken, so that nobody else can come to listen there. */
static int silent_port(char *endpoint, size_t room)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in at = { .sin_family = AF_INET };
    socklen_t size = sizeof at;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&at, size) == 0);
    CHECK(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
    (void)snprintf(endpoint, room, "tcp://127.0.0.1:%u", (unsigned)ntohs(at.sin_port));
    return fd;
}

static void a_party_gives_up_on_a_server_that_is_not_there(void)
{
    kit_server s;
    kit_party party;
    pn_err err;
    int fd;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, &err), &err);
    kit_party_init(&party, &s, 0, M);
    kit_close(&s);
    fd = silent_port(party.connect, sizeof party.connect);
    party.options.timeout = 0.4;
    (void)kit_party_run(&party);
    CHECK(party.status == PN_EIO && strstr(party.err.message, "there has been no answer at tcp://127.0.0.1:") != NULL);
    (void)close(fd);
}

/* ---- who comes back ---- */

static void *answer_round(void *raw)
{
    return kit_raw_answer(raw, PN_MESSAGE_ROUND, M) ? raw : NULL;
}

static void *leave_and_come_back(void *self)
{
    const kit_server *s = self;
    kit_raw raw;
    pn_message first = { 0 };
    bool asked;

    kit_raw_open(&raw, s, 0);
    kit_raw_hello(&raw, 0);
    do
        asked = kit_raw_receive(&raw, &first);
    while (asked && first.kind != PN_MESSAGE_ROUND);
    kit_raw_close(&raw); /* without an answer */
    kit_raw_open(&raw, s, 0);
    kit_raw_hello(&raw, 0);
    asked = asked && kit_raw_answer(&raw, PN_MESSAGE_ROUND, M);
    kit_raw_close(&raw);
    pn_message_clear(&first);
    return asked ? self : NULL;
}

static void a_party_that_reconnects_is_asked_again(void)
{
    kit_server s;
    pthread_t thread;
    void *asked;
    pn_err err;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, &err), &err);
    CHECK(pthread_create(&thread, NULL, leave_and_come_back, &s) == 0);
    check(pn_transport_gather(s.transport, NULL, &err), &err);
    check(kit_exchange(&s, PN_MESSAGE_ROUND, 9, M, NULL, &err), &err);
    CHECK(s.replies[0].code == 9);
    CHECK(pthread_join(thread, &asked) == 0 && asked != NULL);
    CHECK(s.transport->peers[0].messages_down == 2 && s.transport->peers[0].messages_up == 1);
    CHECK(strstr(s.log, "joined clinic-0 -\n") != NULL && strstr(s.log, "back clinic-0 -\n") != NULL);
    kit_close(&s);
}

static void *come_later(void *self)
{
    kit_raw raw;

    kit_pause(300);
    kit_raw_open(&raw, self, 0);
    kit_raw_hello(&raw, 0);
    (void)kit_raw_answer(&raw, PN_MESSAGE_ROUND, M);
    kit_raw_close(&raw);
    return NULL;
}

/* The party goes, and the server's side has seen it. */
static void leave(const kit_server *s, kit_raw *raw)
{
    const pn_zeromq *z = (const pn_zeromq *)s->transport;
    void *monitor = zmq_socket(z->context, ZMQ_PAIR);
    int wait = 20000;
    zmq_msg_t event;

    CHECK(zmq_socket_monitor(z->socket, "inproc://departures", ZMQ_EVENT_DISCONNECTED) == 0);
    CHECK(zmq_setsockopt(monitor, ZMQ_RCVTIMEO, &wait, sizeof wait) == 0);
    CHECK(zmq_connect(monitor, "inproc://departures") == 0);
    kit_raw_close(raw);
    (void)zmq_msg_init(&event);
    CHECK(zmq_msg_recv(&event, monitor, 0) >= 0);
    (void)zmq_msg_close(&event);
    (void)zmq_socket_monitor(z->socket, NULL, 0);
    (void)zmq_close(monitor);
    kit_pause(200); /* libzmq tells of it a moment before it takes the way away */
}

static void a_party_that_is_away_is_asked_when_it_is_back(void)
{
    kit_server s;
    kit_raw raw;
    pthread_t thread;
    pn_err err;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, &err), &err);
    kit_raw_open(&raw, &s, 0);
    kit_raw_hello(&raw, 0);
    check(pn_transport_gather(s.transport, NULL, &err), &err);
    leave(&s, &raw);
    CHECK(pthread_create(&thread, NULL, come_later, &s) == 0);
    check(kit_exchange(&s, PN_MESSAGE_ROUND, 2, M, NULL, &err), &err);
    CHECK(s.replies[0].code == 2);
    CHECK(strstr(s.log, "lost clinic-0 its connection is gone") != NULL);
    CHECK(s.transport->peers[0].messages_down == 1); /* what did not leave is not counted */
    CHECK(pthread_join(thread, NULL) == 0);
    kit_close(&s);
}

/* The party's next hello, changed, while a round is outstanding; or, for NULL, unchanged and answered. */
static pn_status comes_back_as(void (*change)(pn_message *), bool after_ready, pn_err *err)
{
    kit_server s;
    kit_raw raw, other;
    pn_message hello;
    pthread_t thread;
    pn_status status;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, err), err);
    kit_raw_open(&raw, &s, 0);
    kit_raw_hello(&raw, 0);
    check(pn_transport_gather(s.transport, NULL, err), err);
    if (after_ready) {
        pn_message ready = { 0 };

        kit_request(&s, PN_MESSAGE_TERMS, 0, M);
        CHECK(kit_reply(&s.requests[0], &ready, M) == PN_OK);
        kit_raw_send(&raw, &ready); /* before it is asked: it waits in the queue */
        check(kit_exchange(&s, PN_MESSAGE_TERMS, 0, M, NULL, err), err);
        pn_message_clear(&ready);
    }
    kit_say_hello(&hello, 0);
    change(&hello);
    kit_raw_open(&other, &s, 0);
    kit_raw_send(&other, &hello);
    CHECK(pthread_create(&thread, NULL, answer_round, &other) == 0);
    status = kit_exchange(&s, PN_MESSAGE_ROUND, 1, M, NULL, err);
    atomic_store(&other.stop, status != PN_OK);
    kit_close(&s);
    CHECK(pthread_join(thread, NULL) == 0);
    kit_raw_close(&other);
    kit_raw_close(&raw);
    return status;
}

static void forgets(pn_message *hello)
{
    hello->session[3] ^= 1;
}

static void has_more_columns(pn_message *hello)
{
    hello->columns++;
}

static void has_another_order(pn_message *hello)
{
    hello->alignment[0] = 1;
}

static void has_wider_bounds(pn_message *hello)
{
    hello->label_bound = 2.0;
}

static void a_party_that_comes_back_as_another_stops_the_run(void)
{
    pn_err err;

    CHECK(comes_back_as(forgets, true, &err) == PN_EPRIVACY);
    CHECK(strstr(err.message, "clinic-0 came back without its memory") != NULL);
    check(comes_back_as(forgets, false, &err), &err); /* it had not released anything */
    CHECK(comes_back_as(has_more_columns, true, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "came back with 100 records and 4 columns, had 100 and 3 before") != NULL);
    CHECK(comes_back_as(has_another_order, false, &err) == PN_EINVAL);
    CHECK(comes_back_as(has_wider_bounds, false, &err) == PN_EINVAL);
}

/* ---- who does not belong together ---- */

static void disagreement_is_told_to_all(void)
{
    kit_server s;
    kit_party parties[4];
    pn_err err;

    kit_prepare(&s, 4, 20.0);
    check(kit_open(&s, &err), &err);
    for (size_t k = 0; k < 4; k++) {
        kit_party_init(&parties[k], &s, k, M);
        if (k != 2) /* which does not say */
            memset(parties[k].hello.alignment, k == 3 ? 9 : 8, PN_DIGEST_BYTES);
        CHECK(kit_party_start(&parties[k]));
    }
    CHECK(pn_transport_gather(s.transport, NULL, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "Who agrees with whom: clinic-0, clinic-1 | clinic-3") != NULL);
    for (size_t k = 0; k < 4; k++) {
        kit_party_join(&parties[k]);
        CHECK(parties[k].last == PN_MESSAGE_REFUSED && strstr(parties[k].reason, "clinic-0, clinic-1 | clinic-3"));
    }
    for (size_t k = 0; k < 4; k++) {
        kit_party_init(&parties[k], &s, k, M);
        parties[k].hello.records += k == 1;
        CHECK(kit_party_start(&parties[k]));
    }
    CHECK(pn_transport_gather(s.transport, NULL, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "clinic-0 has 100, clinic-1 has 101, clinic-2 has 100, clinic-3 has 100") != NULL);
    for (size_t k = 0; k < 4; k++)
        kit_party_join(&parties[k]);
    kit_close(&s);
}

/* A party that waits says hello again and again.  One of before may still lie there when its party was sent away and
 * the next one comes. */
static void a_hello_of_before_counts_no_more(void)
{
    kit_server s;
    kit_raw raw[2];
    kit_party parties[2];
    pn_message hello;
    pn_err err;

    kit_prepare(&s, 2, 20.0);
    check(kit_open(&s, &err), &err);
    for (size_t k = 0; k < 2; k++) {
        kit_raw_open(&raw[k], &s, k);
        kit_say_hello(&hello, k);
        hello.records += k;
        kit_raw_send(&raw[k], &hello);
    }
    CHECK(pn_transport_gather(s.transport, NULL, &err) == PN_EINVAL);
    kit_raw_hello(&raw[0], 0);
    kit_pause(200); /* it is there, or else this test is of no use this time */
    for (size_t k = 0; k < 2; k++) {
        kit_raw_close(&raw[k]);
        kit_party_init(&parties[k], &s, k, M);
        parties[k].hello.records = 7;
        CHECK(kit_party_start(&parties[k]));
    }
    check(pn_transport_gather(s.transport, NULL, &err), &err);
    CHECK(s.transport->records == 7);
    finish(&s, parties, 2);
}

/* ---- a fork ---- */

static void a_child_leaves_its_parents_sockets_alone(void)
{
    kit_server s;
    pn_err err;
    int code = -1;
    pid_t child;

    kit_prepare(&s, 1, 20.0);
    check(kit_open(&s, &err), &err);
    child = fork();
    if (child == 0) {
        pn_status status = s.transport->ops->gather(s.transport, NULL, &err);

        kit_close(&s);
        _exit(status == PN_EUNSUPPORTED ? 0 : 1);
    }
    CHECK(waitpid(child, &code, 0) == child && code == 0);
    kit_close(&s);
}

int main(void)
{
    every_party_gets_its_requests_and_is_heard();
    waiting_for_a_slow_party_takes_no_processor_time();
    parties_wait_through_a_restart_of_the_server();
    the_last_word_of_a_server_is_heard_by_who_was_busy();
    a_party_that_never_comes_is_named();
    a_party_that_falls_silent_is_named_within_the_time_out();
    waiting_ends_when_it_is_cancelled();
    a_party_gives_up_on_a_server_that_is_not_there();
    a_party_that_reconnects_is_asked_again();
    a_party_that_is_away_is_asked_when_it_is_back();
    a_party_that_comes_back_as_another_stops_the_run();
    disagreement_is_told_to_all();
    a_hello_of_before_counts_no_more();
    a_child_leaves_its_parents_sockets_alone();
    return check_summary();
}
