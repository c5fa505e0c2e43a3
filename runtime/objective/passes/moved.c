/* moved.c -- losses of records that are moved along directions, forth and back: many pairs of a record and a direction
 * at once, of which only margins are needed.
 * Depends on: objective_impl.h, numeric/simd/simd.h.  Used by: differences.c, smoothed_margins.c. */
#include <string.h>

#include "objective/passes/objective_impl.h"

/* Pairs begin .. begin + count - 1 of one input: out[side][count]. */
static void move(const pn_moved *of, size_t k, size_t begin, size_t count, double *out)
{
    const double *steps = of->steps + k * of->records * of->lines;
    const pn_chain_fn times_plus = pn_simd_best()->chain[2][0];

    for (size_t t = 0; t < count;) {
        size_t r = (begin + t) / of->lines, end = (r + 1) * of->lines - begin;

        end = end < count ? end : count;
        for (size_t side = 0; side < of->sides; side++) {
            double z = of->z[side / 2][k * of->records + r], step = side % 2 ? -of->radius : of->radius;

            times_plus(end - t, (const double *const[]){ steps + begin + t, &step, &z }, (const size_t[]){ 1, 0, 0 },
                       out + side * count + t);
        }
        t = end;
    }
}

static void label(const pn_moved *of, size_t begin, size_t count, double *out)
{
    for (size_t t = 0; t < count;) {
        size_t r = (begin + t) / of->lines, end = (r + 1) * of->lines - begin;

        for (end = end < count ? end : count; t < end; t++)
            out[t] = of->y[r];
    }
    for (size_t side = 1; side < of->sides; side++)
        memcpy(out + side * count, out, count * sizeof *out);
}

size_t pn_moved_losses(const pn_moved *of, size_t begin, double *room, double *values)
{
    size_t pairs = of->records * of->lines, most = PN_LOSS_BLOCK / of->sides;
    size_t count = pairs - begin < most ? pairs - begin : most;
    double *labels = room, *moved = room + PN_LOSS_BLOCK;

    label(of, begin, count, labels);
    for (size_t k = 0; k < pn_loss_inputs(of->loss); k++)
        move(of, k, begin, count, moved + k * of->sides * count);
    of->loss->ops->evaluate(of->loss, of->sides * count, moved, labels, values, NULL);
    return count;
}
