/* message_test.c -- what messages hold, what answers what, and how many numbers of a run are in one.
 * Depends on: message.h, check.h, fail_alloc.h. */
#include <string.h>

#include "check.h"
#include "fail_alloc.h"
#include "federated/wire/message.h"

static const pn_message_kind kinds[] = { PN_MESSAGE_NONE,  PN_MESSAGE_HELLO,  PN_MESSAGE_TERMS, PN_MESSAGE_READY,
                                         PN_MESSAGE_ROUND, PN_MESSAGE_CHOICE, PN_MESSAGE_FETCH, PN_MESSAGE_FEATURE,
                                         PN_MESSAGE_DONE,  PN_MESSAGE_REFUSED };

static bool is_answer(pn_message_kind request, pn_message_kind reply)
{
    return (request == PN_MESSAGE_TERMS && reply == PN_MESSAGE_READY) ||
           (request == PN_MESSAGE_ROUND && reply == PN_MESSAGE_CHOICE) ||
           (request == PN_MESSAGE_FETCH && reply == PN_MESSAGE_FEATURE);
}

static bool wants_an_answer(pn_message_kind kind)
{
    return kind == PN_MESSAGE_TERMS || kind == PN_MESSAGE_ROUND || kind == PN_MESSAGE_FETCH;
}

/* Every pair of kinds: a question has its one answer or a refusal, anything else is answered by nothing. */
static void pairs_of_kinds(void)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++) {
            const pn_message request = { .kind = kinds[i], .party = 3, .round = 7 },
                             reply = { .kind = kinds[j], .party = 3, .round = 7 };
            bool want = wants_an_answer(kinds[i]) ? is_answer(kinds[i], kinds[j]) || kinds[j] == PN_MESSAGE_REFUSED
                                                  : kinds[j] == PN_MESSAGE_NONE;

            CHECK(pn_message_answers(&request, &reply) == want);
        }
    }
}

static void answers_repeat_the_question(void)
{
    const pn_message request = { .kind = PN_MESSAGE_FETCH, .party = 3, .round = 7, .run = { 1 }, .column = 5 };
    pn_message reply = { .kind = PN_MESSAGE_FEATURE, .party = 3, .round = 7, .run = { 1 }, .column = 5 }, other;

    CHECK(pn_message_answers(&request, &reply));
    other = reply;
    other.party = 2;
    CHECK(!pn_message_answers(&request, &other));
    other = reply;
    other.round = 6;
    CHECK(!pn_message_answers(&request, &other));
    other = reply;
    other.run[PN_RUN_ID - 1] = 1;
    CHECK(!pn_message_answers(&request, &other));
    other.kind = PN_MESSAGE_REFUSED;
    CHECK(!pn_message_answers(&request, &other)); /* refused in another run */
    other = reply;
    other.column = 4;
    CHECK(!pn_message_answers(&request, &other));
}

static void numbers_in_messages(void)
{
    pn_message message = { .count = 3, .size = 10, .score = NAN, .stay_score = NAN };
    static const size_t want[] = { 0, 0, 0, 0, 16, 1, 1, 10, 16, 0 };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        message.kind = kinds[i];
        CHECK(pn_message_scalars(&message) == want[i]);
    }
    message.kind = PN_MESSAGE_CHOICE;
    message.score = 0.5;
    CHECK(pn_message_scalars(&message) == 2);
    message.stay_score = 0.0;
    CHECK(pn_message_scalars(&message) == 3);
}

static void refusals_say_to_whom_and_why(void)
{
    const pn_message request = { .kind = PN_MESSAGE_ROUND, .party = 3, .round = 7, .run = { 9 } };
    pn_message reply = { 0 };
    pn_err err;

    CHECK(pn_message_reserve(&reply, 2, 3, &err) == PN_OK);
    (void)pn_fail(&err, PN_EBUDGET, "%0600d", 1); /* longer than a reason may be */
    pn_message_refuse(&reply, &request, &err);
    CHECK(reply.kind == PN_MESSAGE_REFUSED && reply.status == PN_EBUDGET && pn_message_answers(&request, &reply));
    CHECK(strlen(reply.reason) == PN_REASON_BYTES - 1);
    CHECK(!reply.index && !reply.value && !reply.vector && reply.count == 0 && reply.size == 0);
    pn_message_refuse(&reply, NULL, NULL);
    CHECK(reply.kind == PN_MESSAGE_REFUSED && reply.status != PN_OK && reply.party == 0);
    pn_message_clear(&reply);
}

static pn_status reserve_twice(void *self, pn_err *err)
{
    pn_message message = { 0 };
    pn_status status = pn_message_reserve(&message, 2, 3, err);

    (void)self;
    if (status == PN_OK) {
        message.vector[2] = 4.0;
        status = pn_message_reserve(&message, 0, 5, err);
        CHECK(status == PN_OK ? message.size == 5 && !message.index : message.size == 3 && message.vector[2] == 4.0);
    }
    pn_message_clear(&message);
    CHECK(message.kind == PN_MESSAGE_NONE && !message.vector);
    return status;
}

int main(void)
{
    pairs_of_kinds();
    answers_repeat_the_question();
    numbers_in_messages();
    refusals_say_to_whom_and_why();
    fail_alloc_sweep("message", reserve_twice, NULL);
    return check_summary();
}
