/* quadrature.c -- adaptive Gauss-Kronrod integration.  Depends on: quadrature.h, libm.  Used by: geometry. */
#include <float.h>
#include <math.h>
#include <stddef.h>

#include "numeric/quadrature.h"

#define MOST_PIECES 200

typedef struct piece {
    double low, high, value, error, size; /* size: the integral of |f| */
} piece;

/* The 15 points of Kronrod in [0, 1]; every second one, from the second, belongs to the 7 points of Gauss. */
static const double kronrod_at[8] = {
    0.99145537112081263921, 0.94910791234275852453, 0.86486442335976907279, 0.74153118559939443986,
    0.58608723546769113029, 0.40584515137739716691, 0.20778495500789846760, 0.0,
};
static const double kronrod_weight[8] = {
    0.022935322010529224964, 0.063092092629978553291, 0.10479001032225018384, 0.14065325971552591875,
    0.16900472663926790283,  0.19035057806478540991,  0.20443294007529889241, 0.20948214108472782801,
};
static const double gauss_weight[4] = {
    0.12948496616886969327,
    0.27970539148927666790,
    0.38183005050511894495,
    0.41795918367346938776,
};

/* The two rules differ by far more than the better one errs: QUADPACK's power 3/2 of their distance. */
static piece integrate_piece(double (*f)(void *self, double x), void *self, double low, double high)
{
    double middle = 0.5 * low + 0.5 * high, half = 0.5 * (high - low);
    double center = f(self, middle), kronrod = kronrod_weight[7] * center, gauss = gauss_weight[3] * center;
    double size = kronrod_weight[7] * fabs(center), spread, value[14];
    piece out = { low, high, 0.0, 0.0, 0.0 };

    for (size_t i = 0; i < 7; i++) {
        double left = f(self, middle - half * kronrod_at[i]), right = f(self, middle + half * kronrod_at[i]);

        kronrod += kronrod_weight[i] * (left + right);
        size += kronrod_weight[i] * (fabs(left) + fabs(right));
        gauss += i % 2 == 1 ? gauss_weight[i / 2] * (left + right) : 0.0;
        value[2 * i] = left;
        value[2 * i + 1] = right;
    }
    spread = kronrod_weight[7] * fabs(center - 0.5 * kronrod);
    for (size_t i = 0; i < 14; i++)
        spread += kronrod_weight[i / 2] * fabs(value[i] - 0.5 * kronrod);
    out.value = kronrod * half;
    out.size = size * half;
    out.error = fabs(kronrod - gauss) * half;
    spread *= half;
    if (spread > 0.0 && out.error > 0.0)
        out.error = spread * fmin(1.0, pow(200.0 * out.error / spread, 1.5));
    out.error = fmax(out.error, 10.0 * DBL_EPSILON * out.size);
    return out;
}

static size_t worst_of(const piece *pieces, size_t count)
{
    size_t worst = 0;

    for (size_t i = 1; i < count; i++)
        worst = pieces[i].error > pieces[worst].error ? i : worst;
    return worst;
}

double pn_integrate(double (*f)(void *self, double x), void *self, double low, double high, double tolerance,
                    double *error)
{
    piece pieces[MOST_PIECES];
    size_t count = 1;
    double value, sum;

    pieces[0] = integrate_piece(f, self, low, high);
    for (;;) {
        size_t worst = worst_of(pieces, count);
        piece *at = &pieces[worst];
        double middle = 0.5 * at->low + 0.5 * at->high;

        value = sum = 0.0;
        for (size_t i = 0; i < count; i++) {
            value += pieces[i].value;
            sum += pieces[i].error;
        }
        /* A piece whose error is rounding would not get better in halves. */
        if (sum <= tolerance * fabs(value) || count == MOST_PIECES || at->error <= 10.0 * DBL_EPSILON * at->size ||
            !(middle > at->low && middle < at->high))
            break;
        pieces[count++] = integrate_piece(f, self, middle, at->high);
        *at = integrate_piece(f, self, at->low, middle);
    }
    if (error)
        *error = sum;
    return value;
}
