/* ledger_link.c -- the two ends of a link: questions of a ledger whose budget is elsewhere, and their answers.
 * Depends on: ledger_link.h, ledger_impl.h, event_text.h.  Used by: ledger.c, ledger_charge.c, bindings/curator/. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/text/event_text.h"
#include "privacy/ledger/ledger_impl.h"

/* ---- asking ---- */

pn_status pn_ledger_linked(pn_ledger **out, const pn_budget *budget, pn_ledger_ask ask, void *self, pn_err *err)
{
    pn_budget plain = *budget;

    plain.orders = NULL;
    plain.order_count = 0;
    PN_TRY(pn_ledger_make(out, &plain, NULL, err));
    (*out)->link = pn_calloc(1, sizeof *(*out)->link);
    if (!(*out)->link) {
        pn_ledger_free(*out);
        *out = NULL;
        return pn_fail(err, PN_ENOMEM, "ledger: out of memory");
    }
    (*out)->link->ask = ask;
    (*out)->link->self = self;
    return PN_OK;
}

static pn_status put(const pn_ledger *ledger, const pn_ledger_question *question, pn_ledger_answer *answer, pn_err *err)
{
    pn_status status = ledger->link->ask(ledger->link->self, question, answer, err);

    if (status == PN_OK && answer->status != PN_OK)
        return pn_fail(err, answer->status, "%s", answer->text);
    return status;
}

/* With an event, whose text is written for the occasion. */
static pn_status put_event(const pn_ledger *ledger, pn_ledger_wish wish, const pn_event *event, size_t count,
                           const char *label, pn_ledger_answer *answer, pn_err *err)
{
    pn_ledger_question question = { .wish = wish, .count = count, .label = label };
    pn_text text = { 0 };
    pn_status status = PN_OK;

    if (event->neighbours != ledger->budget.neighbours)
        return pn_fail(
            err, PN_EPRIVACY,
            "ledger: the event is for \"%s\" neighbours, the budget for \"%s\"; make both for the same relation",
            pn_neighbours_names[event->neighbours], pn_neighbours_names[ledger->budget.neighbours]);
    status = pn_event_write(&text, event, ledger->budget.neighbours, err);
    if (status == PN_OK && strlen(text.data) >= PN_LINK_EVENT)
        status = pn_fail(err, PN_EUNSUPPORTED, "ledger: this event is longer than %d bytes as text", PN_LINK_EVENT);
    question.event = text.data;
    if (status == PN_OK)
        status = put(ledger, &question, answer, err);
    pn_text_clear(&text);
    return status;
}

pn_status pn_link_charge(const pn_ledger *ledger, pn_ledger_wish wish, const pn_event *event, size_t count,
                         const char *label, pn_err *err)
{
    pn_ledger_answer answer;

    return put_event(ledger, wish, event, count, label, &answer, err);
}

double pn_link_price(const pn_ledger *ledger, const pn_event *event, size_t count)
{
    pn_ledger_answer answer;

    return put_event(ledger, PN_WISH_PRICE, event, count, NULL, &answer, NULL) == PN_OK ? answer.number : NAN;
}

bool pn_link_look(const pn_ledger *ledger, pn_ledger_wish wish, pn_ledger_answer *answer)
{
    const pn_ledger_question question = { .wish = wish };

    return put(ledger, &question, answer, NULL) == PN_OK;
}

/* Texts stay until the next of their kind is asked for. */
const char *pn_link_text(const pn_ledger *ledger, pn_ledger_wish wish)
{
    char *kept = wish == PN_WISH_ENDED ? ledger->link->ended : ledger->link->theorem;
    pn_ledger_answer answer;

    if (!pn_link_look(ledger, wish, &answer))
        return "the process that holds the budget has exited";
    memcpy(kept, answer.text, sizeof answer.text);
    return kept[0] ? kept : NULL;
}

/* ---- answering ---- */

/* Labels are a line each in reports and files. */
static bool is_label(const char *text)
{
    return strlen(text) < PN_LINK_LABEL;
}

static pn_status read_event(pn_event **out, const pn_ledger *ledger, const char *text, pn_err *err)
{
    const char *cursor = text;
    pn_plain_numbers plain;
    pn_status status;

    *out = NULL;
    PN_TRY(pn_plain_begin(&plain, err));
    status = pn_event_read(out, &cursor, ledger->budget.neighbours, err);
    pn_plain_end(&plain);
    if (status == PN_OK && *cursor != '\0') {
        pn_event_free(*out);
        *out = NULL;
        status = pn_text_malformed(err, "the end of the event", cursor);
    }
    return status;
}

static pn_status answer_event(pn_ledger *ledger, const pn_ledger_question *question, pn_ledger_answer *answer,
                              pn_err *err)
{
    pn_event *event;
    pn_status status;

    if (!question->event)
        return pn_fail(err, PN_EINVAL, "ledger: the question has no event");
    if (question->label && !is_label(question->label))
        return pn_fail(err, PN_EINVAL, "ledger: a label has at most %d bytes", PN_LINK_LABEL - 1);
    status = read_event(&event, ledger, question->event, err);
    if (status != PN_OK)
        return status;
    if (question->wish == PN_WISH_COVERS)
        status = pn_ledger_covers(ledger, event, question->count, err);
    else if (question->wish == PN_WISH_RESERVE)
        status = pn_ledger_reserve(ledger, event, question->count, err);
    else if (question->wish == PN_WISH_SPEND)
        status = pn_ledger_spend(ledger, event, question->count, question->label, err);
    else if (question->count == 0)
        status = pn_fail(err, PN_EINVAL, "ledger: count must be a whole number from 1, got 0");
    else
        answer->number = pn_ledger_price(ledger, event, question->count);
    pn_event_free(event);
    return status;
}

static void answer_text(pn_ledger_answer *answer, const char *text)
{
    size_t length = text ? strlen(text) : 0;

    length = length < sizeof answer->text ? length : sizeof answer->text - 1;
    memcpy(answer->text, text ? text : "", length);
    answer->text[length] = '\0';
}

void pn_ledger_answer_to(pn_ledger *ledger, const pn_ledger_question *question, pn_ledger_answer *answer)
{
    pn_err err;

    memset(answer, 0, sizeof *answer);
    switch (question->wish) {
    case PN_WISH_COVERS:
    case PN_WISH_RESERVE:
    case PN_WISH_SPEND:
    case PN_WISH_PRICE:
        answer->status = answer_event(ledger, question, answer, &err);
        if (answer->status != PN_OK)
            answer_text(answer, err.message);
        break;
    case PN_WISH_SPENT:
        answer->number = pn_ledger_spent(ledger);
        break;
    case PN_WISH_REMAINING:
        answer->number = pn_ledger_remaining(ledger);
        break;
    case PN_WISH_SLACK:
        answer->slack = pn_ledger_slack(ledger);
        break;
    case PN_WISH_GAUSSIAN:
        answer->count = pn_ledger_gaussian(ledger);
        break;
    case PN_WISH_ENTRIES:
        answer->count = pn_ledger_entries(ledger);
        break;
    case PN_WISH_ENDED:
        answer_text(answer, pn_ledger_ended(ledger));
        break;
    case PN_WISH_THEOREM:
        answer_text(answer, pn_ledger_theorem(ledger));
        break;
    default:
        answer->status = PN_EINVAL;
        answer_text(answer, "ledger: there is no such question");
    }
}

bool pn_ledger_is_linked(const pn_ledger *ledger)
{
    return ledger->link != NULL;
}
