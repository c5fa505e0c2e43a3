/* choice_loss.c -- see choice_loss.h.  Depends on: choice_loss.h, numeric/root.h.  Used by: choices.c. */
#include <math.h>

#include "geometry/algebra/choice_loss.h"
#include "numeric/root.h"

/* W(x), rounded up. */
static double lambert(double x)
{
    double w = log1p(x);

    for (int i = 0; i < 60; i++) { /* Newton's method for w + ln w = ln x rises to W after one step */
        double next = w * (1.0 + log(x) - log(w)) / (1.0 + w);

        if (!(next > 0.0) || next == w)
            break;
        w = next;
    }
    return x > 0.0 ? w * (1.0 + 1e-12) : 0.0;
}

double pn_choice_loss(double k)
{
    return lambert((k - 1.0) * 0.36787944117144232160);
}

/* The negative of what is lost at p = e^-s. */
static double gained(void *self, double s)
{
    double k = *(const double *)self, p = exp(-s);

    return -s * (1.0 + expm1(k * log1p(-p)) / (k * p));
}

/* It rises up to a p between 1/(20 k) and 1, and falls from there. */
double pn_flip_loss(double k)
{
    return k > 1.0 ? -gained(&k, pn_golden_min(gained, &k, 1e-3, log(k) + 3.0, 1e-7)) * (1.0 + 1e-9) : 0.0;
}
