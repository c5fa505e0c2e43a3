/* choice_loss.h -- what noise loses on average where it chooses among K scores, at most and for noise of scale 1.
 *
 * By chances proportional to exp(score/b).  Of scores that lie x_i below the largest it loses L = sum x_i w_i/(1 + sum
 * w_i), w_i = exp(-x_i/b).  Where L is largest dL/dx_i = 0, so x_i = b + L for all i (or infinity), and L = (K - 1) x
 * e^(-x/b)/(1 + (K - 1) e^(-x/b)) with x = b + L gives L = b W((K - 1)/e), W(z) e^W(z) = z.
 *
 * By permute-and-flip, which looks at the scores in random order and takes one with chance p_i = exp(-x_i/b), 1 for a
 * largest score.  With orders by times t in [0, 1] it takes i with chance p_i int prod_j!=i (1 - p_j t) dt, so that
 *     L/b = int (1 - t) sum_i h(p_i) prod_j!=i (1 - p_j t) dt over the K - 1 others,     h(p) = -p ln p.
 * For two of them, p and q, and the rest fixed that is
 *     A_0 (h(p) + h(q)) - A_1 h(p q) + B p q + terms in p + q,
 * B >= 0, A_m the integrals of t^m A(t) for an A >= 0; A_1 <= A_0/3, as A is 1 - t, whose mean is 1/3, times what
 * falls.
 * With p + q fixed its slope in (p - q)^2/4 is
 *     -A_0 (ln p - ln q)/(p - q) + A_1 (-ln(p q) - 1) - B < 0:
 * with r = q/p <= 1 the quotient is ln(1/r)/(p (1 - r)) >= max(1, ln(1/r))/p >= (2 (1/p - 1) + ln(1/r))/3, which is at
 * least -ln(p q)/3.  So L is largest where all others are alike, and the integral is
 *     L = b max_p ln(1/p) (1 - (1 - (1 - p)^K)/(K p)),     b/(2 e) for K = 2.
 * Source: McKenna, Sheldon (2020) for the last formula.  Depends on: numeric/root.h.  Used by: choices.c. */
#ifndef PN_GEOMETRY_CHOICE_LOSS_H
#define PN_GEOMETRY_CHOICE_LOSS_H

/** W((K - 1)/e), rounded up. */
double pn_choice_loss(double k);
/** Of permute-and-flip, rounded up. */
double pn_flip_loss(double k);

#endif
