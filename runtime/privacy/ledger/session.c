/* session.c -- see session.h.  Depends on: session.h, core.  Used by: bindings/privacy/lsession.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/ledger/session.h"

#define FIRST_PLACES 16

struct pn_session {
    pn_bill **account; /* owned, each by itself: they do not move */
    size_t count, room;
    size_t *place; /* [room] the first account of each, from 1; 0: none */
};

/* ---- accounts ---- */

pn_status pn_session_new(pn_session **out, pn_err *err)
{
    return pn_new_zeroed(out, 1, err, "session: out of memory");
}

static void free_account(pn_bill *account)
{
    for (int relation = 0; relation < PN_RELATIONS; relation++)
        pn_tally_clear(&account->tally[relation]);
    pn_ledger_free(account->budget);
    pn_origin_free(account->origin);
    pn_free(account);
}

void pn_session_free(pn_session *session)
{
    if (!session)
        return;
    for (size_t i = 0; i < session->count; i++)
        free_account(session->account[i]);
    pn_free(session->account);
    pn_free(session->place);
    pn_free(session);
}

size_t pn_session_count(const pn_session *session)
{
    return session->count;
}

pn_bill *pn_session_at(const pn_session *session, size_t index)
{
    return session->account[index];
}

static size_t *place_of(const pn_session *session, const pn_origin *origin)
{
    return &session->place[(size_t)pn_origin_content(origin).word[0] & (session->room - 1)];
}

pn_bill *pn_session_find(const pn_session *session, const pn_origin *origin)
{
    size_t i = session->room ? *place_of(session, origin) : 0;

    while (i > 0 && !pn_origin_same(session->account[i - 1]->origin, origin))
        i = session->account[i - 1]->next;
    return i > 0 ? session->account[i - 1] : NULL;
}

static pn_status make_room(pn_session *session, pn_err *err)
{
    size_t room = session->room ? 2 * session->room : FIRST_PLACES;
    pn_bill **account;
    size_t *place;

    if (session->count < session->room)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&place, room, err, "session: out of memory for %zu data sets", room));
    account = pn_resize(session->account, room, sizeof(pn_bill *));
    if (!account) {
        pn_free(place);
        return pn_fail(err, PN_ENOMEM, "session: out of memory for %zu data sets", room);
    }
    pn_free(session->place);
    session->account = account;
    session->place = place;
    session->room = room;
    for (size_t i = 0; i < session->count; i++) {
        size_t *first = place_of(session, account[i]->origin);

        account[i]->next = *first;
        *first = i + 1;
    }
    return PN_OK;
}

pn_status pn_session_account(pn_session *session, pn_origin *origin, pn_bill **out, pn_err *err)
{
    size_t *first;

    *out = pn_session_find(session, origin);
    if (*out)
        return PN_OK;
    PN_TRY(make_room(session, err));
    PN_TRY(pn_new_zeroed(out, 1, err, "session: out of memory"));
    first = place_of(session, origin);
    (*out)->origin = pn_origin_keep(origin);
    (*out)->next = *first;
    session->account[session->count++] = *out;
    *first = session->count;
    return PN_OK;
}

/* ---- prices ---- */

double pn_bill_delta(const pn_bill *account)
{
    double n = fmax((double)pn_origin_records(account->origin), 2.0);

    return 1.0 / (n * n);
}

pn_status pn_bill_price(pn_bill *account, pn_neighbours relation, double *delta, double *epsilon, pn_err *err)
{
    *delta = pn_bill_delta(account);
    return pn_tally_epsilon(&account->tally[relation], delta, epsilon, err);
}

/* ---- limits ---- */

static pn_status refuse_other_relation(const pn_bill *account, pn_neighbours relation, pn_err *err)
{
    for (int other = 0; other < PN_RELATIONS; other++) {
        if (other != (int)relation && account->tally[other].count > 0)
            return pn_fail(
                err, PN_EPRIVACY,
                "budget: this session has spent on \"%.80s\" under \"%s\" neighbours, which a budget for \"%s\" "
                "cannot count; give neighbours=\"%s\"",
                pn_origin_name(account->origin), pn_neighbours_names[other], pn_neighbours_names[relation],
                pn_neighbours_names[other]);
    }
    return PN_OK;
}

/* One charge, so that a refusal charges nothing. */
static pn_status charge_before(const pn_bill *account, pn_ledger *ledger, pn_neighbours relation, pn_err *err)
{
    pn_event *all = NULL;
    const pn_ledger_watch *watch;
    pn_status status;

    PN_TRY(pn_tally_event(&account->tally[relation], &all, err));
    if (!all)
        return PN_OK;
    watch = pn_ledger_watched(NULL);
    status = pn_ledger_spend(ledger, all, 1, "spent before the budget was set", err);
    (void)pn_ledger_watched(watch);
    pn_event_free(all);
    return status == PN_OK ? PN_OK : pn_fail_in(err, status, "budget: what this session has spent already");
}

pn_status pn_bill_limit(pn_bill *account, pn_ledger *ledger, pn_err *err)
{
    pn_neighbours relation = pn_ledger_budget(ledger)->neighbours;

    if (account->budget)
        return pn_fail(err, PN_EINVAL, "budget: \"%.80s\" has a budget in this session already, and it stays",
                       pn_origin_name(account->origin));
    PN_TRY(refuse_other_relation(account, relation, err));
    PN_TRY(charge_before(account, ledger, relation, err));
    account->budget = pn_ledger_keep(ledger);
    return PN_OK;
}

pn_status pn_bill_ledger(const pn_bill *account, pn_ledger *given, const char *owner, pn_ledger **out, pn_err *err)
{
    *out = given;
    if (!account || !account->budget)
        return PN_OK;
    if (given && !pn_ledger_is_within(given, account->budget))
        return pn_fail(err, PN_EPRIVACY,
                       "%s: \"%.80s\" has a budget (pn.budget), and this ledger is neither it nor a slice of it; leave "
                       "ledger= out, or give pn.ledger{parent=BUDGET, epsilon=...}",
                       owner, pn_origin_name(account->origin));
    if (!given)
        *out = account->budget;
    return PN_OK;
}

/* ---- what is on its way ---- */

/* The budget may be younger than the run: a walk between two steps, a run that calls its caller.  A run that counts as
 * a whole was charged to the budget, whole, when that was set; any other goes on only with what the budget covers. */
static pn_status check_budget(const pn_spending *spending, const pn_ledger *ledger, pn_err *err)
{
    const pn_ledger *budget = spending->account->budget;

    if (spending->simulated || !budget || (spending->whole && spending->begun) || pn_ledger_is_within(ledger, budget))
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY,
                   "\"%.80s\" got a budget (pn.budget) after this run began, and the run does not pay from it; start "
                   "the run again",
                   pn_origin_name(spending->account->origin));
}

static pn_status seen(void *self, const pn_ledger *ledger, pn_event *event, size_t count, pn_err *err)
{
    pn_spending *spending = self;
    pn_bill *account = spending->account;
    pn_event *counted = spending->whole ? spending->whole : event;
    bool first = !spending->begun;

    PN_TRY(check_budget(spending, ledger, err));
    if (!spending->simulated && (first || !spending->whole))
        PN_TRY(pn_tally_add(&account->tally[counted->neighbours], counted, spending->whole ? spending->times : count,
                            err));
    spending->begun = true;
    if (first)
        ++*(spending->simulated ? &account->simulated : &account->releases[counted->neighbours]);
    return PN_OK;
}

void pn_spending_init(pn_spending *out, pn_bill *account, bool simulated)
{
    *out = (pn_spending){ .watch = { seen, out }, .account = account, .simulated = simulated };
}

void pn_spending_enter(pn_spending *spending)
{
    spending->before = pn_ledger_watched(spending->account ? &spending->watch : NULL);
}

pn_status pn_spending_leave(pn_spending *spending, pn_status status)
{
    (void)pn_ledger_watched(spending->before);
    return status;
}
