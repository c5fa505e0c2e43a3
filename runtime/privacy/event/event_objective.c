/* event_objective.c -- the minimiser of convex losses plus a Gaussian linear term, as if it were published exactly.
 * Depends on: event_leaf.h, perturbed_objective.h.  Used by: the table in event.c.
 * See perturbation.md section 3. */
#include <math.h>

#include "privacy/event/event_leaf.h"
#include "privacy/event/perturbed_objective.h"

enum { SIGMA = 0, SENSITIVITY, JACOBIAN, DIM };

static const pn_param params[] = {
    { "sigma", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "standard deviation of each entry of the linear term added to the sum of the losses" },
    { "sensitivity", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL,
      "l2 sensitivity of the sum of the gradients: 2L under replace_one, L under zero_out" },
    { "jacobian", PN_REAL, PN_REQUIRED, PN_NONNEGATIVE, 0.0, NULL,
      "ln(1 + beta/Lam): largest log ratio of determinants, beta the curvature of one loss, Lam the strong convexity" },
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL,
      "entries of the linear term, each a draw of lattice noise whose distance from the ideal law is charged" },
    PN_PARAM_END,
};

static const double *values(const pn_event *self)
{
    return ((const pn_leaf *)self)->values;
}

/* Records that are exchanged span a plane, one that becomes null a line. */
static int rank(const pn_event *self)
{
    return self->neighbours == PN_ZERO_OUT || values(self)[DIM] < 2.0 ? 1 : 2;
}

static pn_status create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    *out = NULL;
    if (neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "event.objective_perturbation: neighbours=\"add_remove\" makes n secret, which sets the noise; "
                       "use \"replace_one\" or \"zero_out\"");
    return pn_leaf_new(out, &pn_event_objective_perturbation_ops, args,
                       pn_quotient_up(args[SENSITIVITY].real, args[SIGMA].real), neighbours, err);
}

static double rdp(const pn_event *self, double alpha)
{
    return pn_perturbed_rdp(((const pn_leaf *)self)->level, values(self)[JACOBIAN], rank(self), alpha);
}

static double zcdp(const pn_event *self)
{
    return pn_perturbed_zcdp(((const pn_leaf *)self)->level, values(self)[JACOBIAN], rank(self));
}

/* Linear losses attain a Gaussian mechanism of the same s. */
static size_t pairs(const pn_event *self, bool attained, pn_pair out[2])
{
    double s = ((const pn_leaf *)self)->level;

    if (attained)
        pn_pair_gaussian(&out[0], s);
    else
        pn_pair_perturbed(&out[0], s, values(self)[JACOBIAN], rank(self));
    return 1;
}

/* The linear term moves by at most the sensitivity where the output stays,
 * so the windows are off as for Gaussian noise. */
static pn_slack slack(const pn_event *self)
{
    return pn_gaussian_slack(values(self)[DIM], ((const pn_leaf *)self)->level);
}

const pn_event_ops pn_event_objective_perturbation_ops = {
    .name = "objective_perturbation",
    .doc =
        "The exact minimiser of a sum of convex losses of one margin each plus strongly convex terms without data and "
        "a linear term drawn from a Gaussian law, for the event's neighbours. With s = sensitivity/sigma the privacy "
        "loss is at most jacobian + s^2/2 + s chi, chi the norm of a standard Gaussian in two dimensions (one under "
        "zero_out), so the privacy loss distribution, Renyi divergence and zCDP are those of that bound; no pure "
        "epsilon. What a computer finds is not the exact minimiser: its distance must be masked by a second release.",
    .source = "Chaudhuri, Monteleoni, Sarwate (2011); Kifer, Smith, Thakurta (2012); Iyengar et al. (2019)",
    .params = params,
    .create = create,
    .destroy = pn_leaf_destroy,
    .args = pn_leaf_args,
    .rdp = rdp,
    .zcdp = zcdp,
    .describe = pn_leaf_describe,
    .slack = slack,
    .pairs = pairs,
};

pn_status pn_event_objective_perturbation(pn_event **out, double sigma, double sensitivity, double jacobian, size_t dim,
                                          pn_neighbours n, pn_err *err)
{
    pn_arg args[5] = { { .given = true, .real = sigma },
                       { .given = true, .real = sensitivity },
                       { .given = true, .real = jacobian },
                       { .given = true, .count = dim },
                       { 0 } };

    return pn_event_from_args(out, "objective_perturbation", args, n, err);
}
