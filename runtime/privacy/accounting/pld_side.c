/* pld_side.c -- a composition taken apart by the largest loss in it.
 * Depends on: pld_side.h, numeric/root.h.  Used by: pld.c.
 *
 * Of a record that is rarely sampled most losses are tiny and a few are large, of any size.  An epsilon between them
 * needs fine resolution for sums of small losses alone, and that over a short range; where a large loss is among them
 * the resolution may be coarse.  One tilt does not suit both either: it makes one of them so heavy that the other
 * drowns in rounding errors.  Hence delta is the sum over parts: no loss above c_1, some above c_1 but none above c_2,
 * and so on, each with its own tilt, period and frequencies. */
#include <math.h>

#include "numeric/root.h"
#include "privacy/accounting/pld_side.h"

#define FIRST   1.25    /* c_1 / epsilon */
#define RARE    2.0     /* -ln of its probability at least */
#define RATIO   8.0     /* c_(i+1) / c_i */
#define LEAST   0x1p-40 /* c_1 / largest loss: more than RATIO to the power of minus the number of parts but 2 */
#define DROWNED 6.0     /* ln of how far Chernoff's bound is from delta, beyond which the tilt is a bad one */

void pn_side_init(pn_side *out, pn_law *laws, size_t n, bool upper)
{
    double finite = 0.0;

    *out = (pn_side){ .laws = laws, .n = n, .upper = upper, .count = 1 };
    for (size_t r = 0; r < n; r++)
        finite += laws[r].count * log1p(-laws[r].infinite);
    out->infinite = -expm1(finite);
    pn_part_init(&out->parts[0], laws, n, upper, -INFINITY, INFINITY);
}

void pn_side_clear(pn_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        pn_part_clear(&side->parts[i]);
    side->count = 0;
}

/* ---- tilt ---- */

typedef struct tilt_search {
    const pn_part *part;
    double log_delta, epsilon;
} tilt_search;

/* The conversion of Canonne, Kamath, Steinke at order 1 + s. */
static double epsilon_at(void *self, double log_s)
{
    const tilt_search *search = self;
    double s = exp(log_s), value = pn_part_log_mgf(search->part, s);

    value = (value - search->log_delta - log1p(s)) / s - log1p(1.0 / s);
    return isnan(value) ? INFINITY : value;
}

static double log_delta_at(void *self, double log_s)
{
    const tilt_search *search = self;
    double s = exp(log_s), value = pn_part_log_mgf(search->part, s);

    value = value - s * search->epsilon - log(s) - (1.0 + s) * log1p(1.0 / s);
    return isnan(value) ? INFINITY : value;
}

static const double least_tilt = -16.0, greatest_tilt = 23.0, tilt_tolerance = 0.03; /* of logarithms */

/* Next to the largest loss of all the best tilt has no limit; the logarithm of the moment generating function has to be
 * right to many digits after the point. */
static double limited(const pn_part *part, double tilt)
{
    for (int i = 0; i < 64 && pn_part_log_mgf(part, tilt) > PN_PART_LARGEST; i++)
        tilt *= 0.5;
    return tilt;
}

double pn_side_epsilon(const pn_side *side, double delta, double *tilt)
{
    tilt_search search = { &side->parts[0], log(delta), 0.0 };
    double at = pn_golden_min(epsilon_at, &search, least_tilt, greatest_tilt, tilt_tolerance);

    *tilt = limited(search.part, exp(at));
    return fmax(0.0, epsilon_at(&search, at));
}

static double tilt_for(const pn_part *part, double epsilon)
{
    tilt_search search = { part, 0.0, epsilon };

    return limited(part, exp(pn_golden_min(log_delta_at, &search, least_tilt, greatest_tilt, tilt_tolerance)));
}

/* ---- parts ---- */

static double largest_loss(const pn_side *side)
{
    double most = 0.0;

    for (size_t r = 0; r < side->n; r++)
        if (side->laws[r].n > 0)
            most = fmax(most, side->laws[r].loss[side->laws[r].n - 1]);
    return most;
}

/* c_1: such that the first part is not rare, and the last one reaches the largest loss. */
static double first_limit(const pn_side *side, double epsilon)
{
    double most = largest_loss(side), limit = fmax(FIRST * epsilon, most * LEAST);

    for (; limit < most; limit *= 2.0) {
        pn_part part;

        pn_part_init(&part, side->laws, side->n, side->upper, -INFINITY, limit);
        if (pn_part_log_mgf(&part, 0.0) > -RARE)
            break;
    }
    return limit;
}

void pn_side_tilt(pn_side *side, double epsilon, double tilt, bool apart)
{
    double most = largest_loss(side), from = -INFINITY, to = apart ? first_limit(side, epsilon) : INFINITY;

    pn_side_clear(side);
    side->guess = epsilon;
    while (side->count < PN_SIDE_PARTS) {
        pn_part *part = &side->parts[side->count++];

        if (to >= most || side->count == PN_SIDE_PARTS)
            to = INFINITY;
        pn_part_init(part, side->laws, side->n, side->upper, from, to);
        if (!isinf(from))
            pn_part_tilt(part, 1.0 / from, epsilon);
        else
            pn_part_tilt(part, tilt > 0.0 ? tilt : tilt_for(part, epsilon), epsilon);
        if (isinf(to))
            break;
        from = to;
        to *= RATIO;
    }
}

void pn_side_place(pn_side *side)
{
    for (size_t i = 0; i < side->count; i++)
        pn_part_place(&side->parts[i]);
}

void pn_side_place_like(pn_side *side, const pn_side *other)
{
    side->count = other->count;
    side->guess = other->guess;
    for (size_t i = 0; i < side->count; i++) {
        const pn_part *model = &other->parts[i];

        pn_part_init(&side->parts[i], side->laws, side->n, side->upper, model->from, model->to);
        pn_part_tilt(&side->parts[i], model->tilt, model->guess);
        pn_part_place_like(&side->parts[i], model);
    }
}

bool pn_side_is_mixed(const pn_side *side, double epsilon, double delta, bool wide)
{
    tilt_search search = { &side->parts[0], 0.0, epsilon };
    double most = largest_loss(side);

    if (side->count > 1 || !(most > 2.0 * epsilon) || !(epsilon > 0.0))
        return false;
    return (wide && most > 6.0 * epsilon) || log_delta_at(&search, log(side->parts[0].tilt)) > log(delta) + DROWNED;
}

double pn_side_delta(const pn_side *side, double epsilon, double *slope)
{
    double delta = side->infinite, fall = 0.0;

    for (size_t i = 0; i < side->count; i++) {
        double one;

        delta += pn_part_delta(&side->parts[i], epsilon, &one);
        fall += one;
    }
    *slope = fall / delta;
    return fmin(1.0, delta);
}
