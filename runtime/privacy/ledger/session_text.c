/* session_text.c -- see session_text.h.  Depends on: session_text.h, event_text.h.  Used by: bindings.
 *
 * For each data set: `WORD WORD RECORDS "NAME" SIMULATED EXACT`, and for each relation that something was spent under
 * ` RELATION RELEASES KINDS` and as many times ` COUNT EVENT`; the numbers as in a ledger's file. */
#include <inttypes.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/text/event_text.h"
#include "privacy/ledger/session_text.h"

void pn_session_restart(pn_session *session)
{
    for (size_t i = 0; i < pn_session_count(session); i++) {
        pn_bill *account = pn_session_at(session, i);

        account->simulated = account->exact = 0;
        for (int relation = 0; relation < PN_RELATIONS; relation++) {
            pn_tally_clear(&account->tally[relation]);
            account->releases[relation] = 0;
        }
    }
}

/* ---- writing ---- */

static bool is_empty(const pn_bill *account)
{
    bool empty = account->simulated == 0 && account->exact == 0;

    for (int relation = 0; relation < PN_RELATIONS; relation++)
        empty = empty && account->releases[relation] == 0;
    return empty;
}

static pn_status write_account(pn_text *out, const pn_bill *account, pn_err *err)
{
    pn_content content = pn_origin_content(account->origin);
    pn_status status = PN_OK;

    pn_text_add(out, "%" PRIu64 " %" PRIu64 " %zu ", content.word[0], content.word[1],
                pn_origin_records(account->origin));
    pn_text_quote(out, pn_origin_name(account->origin));
    pn_text_add(out, " %zu %zu", account->simulated, account->exact);
    for (int relation = 0; relation < PN_RELATIONS; relation++) {
        const pn_tally *tally = &account->tally[relation];

        if (tally->count > 0)
            pn_text_add(out, " %d %zu %zu", relation, account->releases[relation], tally->count);
        for (size_t i = 0; i < tally->count && status == PN_OK; i++) {
            pn_text_add(out, " %zu ", tally->entry[i].count);
            status = pn_event_write(out, tally->entry[i].event, (pn_neighbours)relation, err);
        }
    }
    pn_text_add(out, "\n");
    return status;
}

pn_status pn_session_write(const pn_session *session, pn_text *out, pn_err *err)
{
    pn_plain_numbers numbers;
    pn_status status = PN_OK;

    PN_TRY(pn_plain_begin(&numbers, err));
    for (size_t i = 0; i < pn_session_count(session) && status == PN_OK; i++) {
        if (!is_empty(pn_session_at(session, i)))
            status = write_account(out, pn_session_at(session, i), err);
    }
    pn_plain_end(&numbers);
    return status == PN_OK && out->failed ? pn_fail(err, PN_ENOMEM, "session: out of memory for its text") : status;
}

/* ---- reading ---- */

/* A blank, and a number. */
static pn_status read_next(size_t *out, const char **at, pn_err *err)
{
    if (**at != ' ')
        return pn_text_malformed(err, "a blank", *at);
    ++*at;
    return pn_text_size(out, at, err);
}

static pn_status read_word(uint64_t *out, const char **at, pn_err *err)
{
    char *end;

    *out = strtoumax(*at, &end, 10);
    if (end == *at || *end != ' ')
        return pn_text_malformed(err, "a word", *at);
    *at = end + 1;
    return PN_OK;
}

static pn_status read_origin(pn_origin **out, const char **at, pn_err *err)
{
    pn_content content;
    size_t records;
    char *name = NULL;
    pn_status status;

    PN_TRY(read_word(&content.word[0], at, err));
    PN_TRY(read_word(&content.word[1], at, err));
    PN_TRY(pn_text_size(&records, at, err));
    if (*(*at)++ != ' ')
        return pn_text_malformed(err, "a name", *at - 1);
    PN_TRY(pn_text_unquote(&name, at, err));
    status = pn_origin_new(out, content, records, name, err);
    pn_free(name);
    return status;
}

static pn_status read_spent(pn_bill *account, const char **at, pn_err *err)
{
    size_t relation, releases, kinds, count;

    PN_TRY(read_next(&relation, at, err));
    if (relation >= PN_RELATIONS)
        return pn_text_malformed(err, "a relation", *at);
    PN_TRY(read_next(&releases, at, err));
    PN_TRY(read_next(&kinds, at, err));
    account->releases[relation] += releases;
    for (size_t i = 0; i < kinds; i++) {
        pn_event *event = NULL;
        pn_status status = read_next(&count, at, err);

        if (status == PN_OK && *(*at)++ != ' ')
            status = pn_text_malformed(err, "an event", *at - 1);
        if (status == PN_OK)
            status = pn_event_read(&event, at, (pn_neighbours)relation, err);
        if (status == PN_OK)
            status = pn_tally_add(&account->tally[event->neighbours], event, count, err);
        pn_event_free(event);
        PN_TRY(status);
    }
    return PN_OK;
}

static pn_status read_account(pn_session *session, const char **at, pn_err *err)
{
    pn_bill *account = NULL;
    pn_origin *origin = NULL;
    size_t simulated, exact;
    pn_status status;

    PN_TRY(read_origin(&origin, at, err));
    status = pn_session_account(session, origin, &account, err);
    pn_origin_free(origin);
    PN_TRY(status);
    PN_TRY(read_next(&simulated, at, err));
    PN_TRY(read_next(&exact, at, err));
    account->simulated += simulated;
    account->exact += exact;
    while (**at == ' ')
        PN_TRY(read_spent(account, at, err));
    if (**at != '\n')
        return pn_text_malformed(err, "the end of a line", *at);
    ++*at;
    return PN_OK;
}

pn_status pn_session_absorb(pn_session *session, const char *text, pn_err *err)
{
    pn_status status = PN_OK;
    pn_plain_numbers numbers;

    PN_TRY(pn_plain_begin(&numbers, err));
    while (*text && status == PN_OK)
        status = read_account(session, &text, err);
    pn_plain_end(&numbers);
    return status;
}
