/* server_step.c -- a round: ask, choose, fetch, move.
 * Depends on: server_impl.h.  Used by: server.h's callers, server.c.
 * Source: Lou, Cheung (2018), Algorithm 2, corrected (distributed-frank-wolfe.md section 3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mutant.h"
#include "core/view.h"
#include "federated/server/server_impl.h"

/* ---- features ---- */

static pn_status take_feature(pn_server *self, size_t party, pn_err *err)
{
    pn_message *reply = &self->replies[party];
    size_t known = self->cached[self->first[party] + reply->column];

    if (reply->size != self->m)
        return pn_server_lied(self, party, "a feature of another length than the sketch's", err);
    if (pn_first_nonfinite(reply->vector, reply->size) < reply->size)
        return pn_server_lied(self, party, "a feature that holds no numbers", err);
    if (known)
        self->features[known - 1].vector = reply->vector;
    else if (pn_server_room(self, err) != PN_OK)
        return PN_ENOMEM;
    else
        pn_server_add_feature(self, (uint32_t)party, reply->column, reply->vector);
    reply->vector = NULL;
    return PN_OK;
}

static pn_status exchange_features(pn_server *self, pn_task *task, pn_err *err)
{
    pn_status status = pn_server_exchange(self, task, err);

    for (size_t k = 0; status == PN_OK && k < self->parties; k++) {
        if (self->replies[k].kind == PN_MESSAGE_FEATURE)
            status = take_feature(self, k, err);
    }
    return status;
}

/* After a restart: what is in the list, one of each party at a time. */
pn_status pn_server_fetch_again(pn_server *self, pn_task *task, pn_err *err)
{
    pn_status status = PN_OK;
    size_t asked = self->parties;

    while (status == PN_OK && asked > 0) {
        asked = 0;
        for (size_t k = 0; k < self->parties; k++)
            (void)pn_server_request(self, k, PN_MESSAGE_NONE, 0);
        for (size_t f = 0; f < self->feature_count; f++) {
            const pn_server_feature *feature = &self->features[f];

            if (feature->vector || self->requests[feature->party].kind != PN_MESSAGE_NONE)
                continue;
            pn_server_request(self, feature->party, PN_MESSAGE_FETCH, self->rounds)->column = feature->column;
            asked++;
        }
        if (asked > 0)
            status = exchange_features(self, task, err);
    }
    return status;
}

/* The party's next column, from next[party] on, that moves and has not been uploaded; the number of its columns: none
 * is left. */
static size_t next_missing(const pn_server *self, size_t party)
{
    size_t first = self->first[party], columns = (size_t)self->terms[party].columns, i = self->next[party];

    if (!self->choices[party]) {
        size_t only = (size_t)(llabs(self->moves[party]) - 1);

        return i == 0 && self->moves[party] != 0 && !self->cached[first + only] ? only : columns;
    }
    while (i < columns && (self->vertex[first + i] == 0.0 || self->cached[first + i]))
        i++;
    return i;
}

/* One of each party at a time; *asked: how many. */
static pn_status fetch_next(pn_server *self, size_t *asked, pn_task *task, pn_err *err)
{
    pn_status status = PN_OK;

    *asked = 0;
    for (size_t k = 0; k < self->parties && status == PN_OK; k++) {
        size_t column = next_missing(self, k);

        self->next[k] = column + 1;
        (void)pn_server_request(self, k, PN_MESSAGE_NONE, 0);
        if (column >= self->terms[k].columns)
            continue;
        status = pn_server_charge_feature(self, k, column, err);
        pn_server_request(self, k, PN_MESSAGE_FETCH, self->rounds + 1)->column = (uint32_t)column;
        ++*asked;
    }
    if (status == PN_OK && *asked > 0)
        status = exchange_features(self, task, err);
    PN_CRASH("server_crash_fetched");
    return status;
}

/* Those of the columns that move and have not been uploaded. */
static pn_status fetch(pn_server *self, size_t *fetched, pn_task *task, pn_err *err)
{
    size_t asked = 0;

    *fetched = 0;
    memset(self->next, 0, self->parties * sizeof *self->next);
    do {
        PN_TRY(fetch_next(self, &asked, task, err));
        *fetched += asked;
    } while (asked > 0);
    return PN_OK;
}

/* q = sum_i x_i v_i by plain sums in the order of the list: the same bits on every machine, so that a server which
 * moved to another one asks the same question. */
void pn_server_combine(const pn_server *self, const double *x, double *q)
{
    memset(q, 0, self->m * sizeof *q);
    for (size_t f = 0; f < self->feature_count; f++) {
        const pn_server_feature *feature = &self->features[f];
        double weight = x[self->first[feature->party] + feature->column];

        for (size_t j = 0; weight != 0.0 && j < self->m; j++)
            q[j] += weight * feature->vector[j];
    }
}

/* ---- a round ---- */

/* What the party chose, from the candidates that it names. */
static pn_status check_vertex(pn_server *self, size_t party, pn_err *err)
{
    const pn_message *reply = &self->replies[party];

    if (reply->code != 0 || pn_block_vertex(self->choices[party], reply->pick, reply->picks, self->room,
                                            self->vertex + self->first[party], NULL) != PN_OK)
        return pn_server_lied(self, party, "with choices that make no vertex of its set", err);
    return PN_OK;
}

static pn_status check_choice(pn_server *self, size_t party, pn_err *err)
{
    const pn_terms *terms = &self->terms[party];
    const pn_message *reply = &self->replies[party];
    int64_t most = (int64_t)terms->columns;
    bool scores = terms->mode == PN_FEDERATED_BALL, may_stay = terms->mode == PN_FEDERATED_PRODUCT && terms->stay;

    if (terms->block)
        return check_vertex(self, party, err);
    if (reply->picks > 0)
        return pn_server_lied(self, party, "with several choices where there is one", err);
    if (reply->code < (terms->positive ? 0 : -most) || reply->code > most)
        return pn_server_lied(self, party, "with a column that it does not have", err);
    if (reply->code == 0 && !may_stay)
        return pn_server_lied(self, party, "that it stays, which the terms do not allow,", err);
    if (scores != (bool)isfinite(reply->score) || (scores && terms->stay) != (bool)isfinite(reply->stay_score))
        return pn_server_lied(self, party, "without the scores that the terms ask for, or with others,", err);
    return PN_OK;
}

static pn_status ask_round(pn_server *self, pn_task *task, pn_err *err)
{
    pn_status status;

    for (size_t k = 0; k < self->parties; k++) {
        pn_message *message = pn_server_request(self, k, PN_MESSAGE_ROUND, self->rounds + 1);

        pn_server_attach_model(self, k, message);
        message->size = self->m;
        message->vector = self->q;
    }
    PN_TRY(pn_server_charge_round(self, err));
    self->asked = self->rounds + 1;
    status = pn_server_exchange(self, task, err);
    for (size_t k = 0; status == PN_OK && k < self->parties; k++)
        status = check_choice(self, k, err);
    PN_CRASH("server_crash_answered");
    return status;
}

/* Ball: the party with the least released score moves, or none when staying has a smaller one.  Returns it from 1. */
static size_t best_party(const pn_server *self)
{
    double stay = 0.0;
    size_t best = 0;

    for (size_t k = 0; k < self->parties; k++) {
        best = self->replies[k].score < self->replies[best].score ? k : best;
        stay += self->replies[k].stay_score;
    }
    return self->terms[0].stay && stay < self->replies[best].score ? 0 : best + 1;
}

static void choose_moves(pn_server *self, pn_server_round *out)
{
    bool ball = self->terms[0].mode == PN_FEDERATED_BALL;

    out->best = ball ? best_party(self) : 0;
    if (out->best) {
        int64_t code = self->replies[out->best - 1].code, before = (int64_t)self->first[out->best - 1];

        out->code = code > 0 ? code + before : code - before;
    }
    for (size_t k = 0; k < self->parties; k++) {
        self->moves[k] = !ball || k + 1 == out->best ? self->replies[k].code : 0;
        out->moved += self->moves[k] != 0 || self->choices[k];
    }
}

/* A block all of whose coordinates move; exactly to the vertex at the first step. */
static void move_block(pn_server *self, size_t party, double gamma)
{
    for (size_t i = self->first[party]; i < self->first[party + 1]; i++)
        self->next_x[i] = (1.0 - gamma) * self->next_x[i] + gamma * self->vertex[i];
}

/* next_x = x after the moves: a block that moves shrinks; of the ball all do when one moves. */
static void move(pn_server *self, double gamma, const pn_server_round *made)
{
    bool ball = self->terms[0].mode == PN_FEDERATED_BALL;

    memcpy(self->next_x, self->x, self->dim * sizeof *self->x);
    for (size_t k = 0; k < self->parties; k++) {
        double *block = self->next_x + self->first[k];
        size_t column = (size_t)(llabs(self->moves[k]) - 1);

        if (self->choices[k])
            move_block(self, k, gamma);
        for (size_t i = 0; (ball ? made->moved > 0 : self->moves[k] != 0) && i < self->terms[k].columns; i++)
            block[i] *= 1.0 - gamma;
        if (self->moves[k] != 0)
            block[column] += self->moves[k] > 0 ? gamma * self->terms[k].radius : -gamma * self->terms[k].radius;
    }
}

static void swap(double **a, double **b)
{
    double *kept = *a;

    *a = *b;
    *b = kept;
}

pn_status pn_server_step(pn_server *self, pn_server_round *out, pn_task *task, pn_err *err)
{
    pn_server_round made = { .round = self->rounds + 1, .step_size = 2.0 / (self->p * (double)self->rounds + 2.0) };
    pn_status status;

    if (self->rounds >= self->terms[0].iterations) /* a restarted server has no features of a run that is done */
        return pn_fail(err, PN_EINVAL, "federated: all %llu rounds of the run are done",
                       (unsigned long long)self->terms[0].iterations);
    PN_TRY(ask_round(self, task, err));
    choose_moves(self, &made);
    PN_TRY(fetch(self, &made.features, task, err));
    move(self, made.step_size, &made);
    pn_server_combine(self, self->next_x, self->next_q);
    if (pn_first_nonfinite(self->next_q, self->m) < self->m)
        return pn_fail(err, PN_ENUMERIC, "federated: the margins of round %llu overflow",
                       (unsigned long long)made.round);
    status = pn_server_save(self, made.round, self->next_x, err);
    PN_CRASH("server_crash_saved");
    if (status != PN_OK)
        return status;
    swap(&self->x, &self->next_x);
    swap(&self->q, &self->next_q);
    self->rounds = made.round;
    *out = made;
    return PN_OK;
}
