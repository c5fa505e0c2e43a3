/* laudit_result.c -- the result of an audit: its fields, and the few lines in which it prints itself.
 * Depends on: laudit.h.  Used by: laudit.c. */
#include <math.h>
#include <stdio.h>

#include "bindings/core/getter.h"
#include "bindings/privacy/laudit.h"

static pnl_audit *audit_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_audit_class);
}

/* Whether anything is claimed, and whether that is refuted. */
static bool has_claim(const pnl_audit *self)
{
    return !isnan(self->claimed) || !isnan(self->result.p_value);
}

static bool violated(const pnl_audit *self)
{
    if (!isnan(self->result.p_value))
        return self->result.p_value <= 1.0 - self->result.confidence;
    return self->result.epsilon > self->claimed;
}

static const char *method(const pnl_audit *self)
{
    bool gaussian = !isnan(self->result.mu);

    if (self->one_run)
        return gaussian ? "one run, Gaussian-DP assumed" : "one run";
    return gaussian ? "two samples, Gaussian-DP assumed" : "two samples";
}

PNL_GETTER_KNOWN(audit_epsilon, audit_of(L)->result.epsilon);
PNL_GETTER_KNOWN(audit_mu, audit_of(L)->result.mu);
PNL_GETTER_KNOWN(audit_delta, audit_of(L)->delta);
PNL_GETTER_KNOWN(audit_confidence, audit_of(L)->result.confidence);
PNL_GETTER_KNOWN(audit_threshold, audit_of(L)->result.threshold);
PNL_GETTER_KNOWN(audit_claimed, audit_of(L)->claimed);
PNL_GETTER_IF(audit_violated, has_claim(audit_of(L)), violated(audit_of(L)));
PNL_GETTER_KNOWN(audit_p_value, audit_of(L)->result.p_value);
PNL_GETTER(audit_trials, audit_of(L)->result.trials);

static int audit_hits(lua_State *L)
{
    const pnl_audit *self = audit_of(L);

    lua_createtable(L, 2, 0);
    for (int i = 0; i < 2; i++) {
        lua_pushinteger(L, (lua_Integer)self->result.hits[i]);
        lua_rawseti(L, -2, i + 1);
    }
    pnl_list(L);
    return 1;
}

PNL_GETTER(audit_method, method(audit_of(L)));
PNL_GETTER(audit_simulated, audit_of(L)->simulated);
PNL_GETTER_IF(audit_seed, audit_of(L)->has_seed, audit_of(L)->seed);

static int audit_tostring(lua_State *L)
{
    const pnl_audit *self = audit_of(L);
    const pn_audit_result *r = &self->result;
    char head[160], claim[160] = "", how[320], mu[128] = "";

    (void)snprintf(head, sizeof head, "audit: epsilon >= %.4g at delta %.4g, with confidence %.10g", r->epsilon,
                   self->delta, r->confidence);
    if (!isnan(r->p_value))
        (void)snprintf(claim, sizeof claim, "\n  claimed  a trade-off curve: %s, p-value %.4g",
                       violated(self) ? "VIOLATED" : "not refuted", r->p_value);
    else if (!isnan(self->claimed))
        (void)snprintf(claim, sizeof claim, "\n  claimed  epsilon = %.4g: %s", self->claimed,
                       violated(self) ? "VIOLATED" : "not refuted");
    if (self->one_run)
        (void)snprintf(how, sizeof how, "\n  found    %zu of %zu guesses right, %zu canaries in one run", r->hits[0],
                       r->hits[1], r->trials);
    else
        (void)snprintf(how, sizeof how,
                       "\n  found    score %s %.6g in %zu of %zu runs on the first data set, %zu on the second",
                       r->below ? "<" : ">=", r->threshold, r->hits[0], r->trials, r->hits[1]);
    if (!isnan(r->mu))
        (void)snprintf(mu, sizeof mu, "\n  assumed  mu-Gaussian-DP for some mu; mu >= %.4g", r->mu);
    lua_pushfstring(L, "%s%s%s%s", head, claim, how, mu);
    return 1;
}

static const pnl_row audit_rows[] = {
    { "epsilon_lower", audit_epsilon, PNL_FIELD, PNL_RAW, "result.epsilon_lower -> number",
      "Lower bound on epsilon at result.delta; 0 when nothing is shown." },
    { "mu_lower", audit_mu, PNL_FIELD, PNL_RAW, "result.mu_lower -> number or nil",
      "Lower bound on the parameter of Gaussian-DP, where that was assumed." },
    { "delta", audit_delta, PNL_FIELD, PNL_NOTHING, "result.delta -> number", "The delta of the bound." },
    { "confidence", audit_confidence, PNL_FIELD, PNL_NOTHING, "result.confidence -> number",
      "A mechanism that is (epsilon, delta)-DP gets a bound above epsilon with chance at most 1 - confidence." },
    { "threshold", audit_threshold, PNL_FIELD, PNL_RAW, "result.threshold -> number",
      "The cut between scores, chosen on the first half of the runs; in one run, the lowest score guessed as "
      "present." },
    { "claimed", audit_claimed, PNL_FIELD, PNL_NOTHING, "result.claimed -> number or nil",
      "The epsilon that was claimed, by event= (at delta, by the sharpest accountant) or epsilon=." },
    { "violated", audit_violated, PNL_FIELD, PNL_RAW, "result.violated -> boolean or nil",
      "Whether the bound is above the claim, or p_value too small for the claimed curve; nil without a claim." },
    { "p_value", audit_p_value, PNL_FIELD, PNL_RAW, "result.p_value -> number or nil",
      "With profile=: the largest chance of guesses so good of any mechanism with the claimed trade-off curve." },
    { "trials", audit_trials, PNL_FIELD, PNL_NOTHING, "result.trials -> integer",
      "Runs per data set that tested the event (the second half), or canaries." },
    { "hits", audit_hits, PNL_FIELD, PNL_RAW, "result.hits -> {first, second}",
      "How often the event happened on each data set; in one run, right guesses and guesses." },
    { "method", audit_method, PNL_FIELD, PNL_NOTHING, "result.method -> string",
      "\"two samples\" or \"one run\", and \", Gaussian-DP assumed\" where it was." },
    { "simulated", audit_simulated, PNL_FIELD, PNL_NOTHING, "result.simulated -> boolean",
      "Whether the runs drew seeded noise; its law is that of secure noise." },
    { "seed", audit_seed, PNL_FIELD, PNL_NOTHING, "result.seed -> integer or nil",
      "The seed when no rng was given: rng = pn.rng.seeded(result.seed) repeats the audit." },
    { "__tostring", audit_tostring, PNL_META, PNL_RAW, "tostring(result) -> string",
      "Two to four lines: the bound, the claim, the event and its counts, what was assumed." },
    PNL_ROW_END,
};

const pnl_class pnl_audit_class = {
    "pn.audit_result", pn_free, audit_rows, "What an audit found: a lower bound on epsilon.", NULL, NULL,
};
