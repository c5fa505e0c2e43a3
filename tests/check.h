/* check.h -- the whole C test framework: count what holds, name what does not.  Header-only; one test program per file.
 *
 *     int main(void)
 *     {
 *         CHECK(pn_lp_dual(PN_L2) == PN_L2);
 *         CHECK_CLOSE(pn_lp_norm(x, 3), sqrt(14.0), 1e-15);
 *         return check_summary();          prints "2 passed, 0 failed"
 *     }
 *
 * Depends on: libc.  Used by: tests, through `make test`. */
#ifndef PN_TESTS_CHECK_H
#define PN_TESTS_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

static long check_passed, check_failed;

static inline bool check_that(bool holds, const char *file, int line, const char *text)
{
    if (holds) {
        check_passed++;
    } else {
        check_failed++;
        (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, text);
    }
    return holds;
}

static inline bool check_close(double got, double want, double tol, const char *file, int line, const char *text)
{
    bool holds = got == want || fabs(got - want) <= tol; /* the first for infinities; NaN never holds */

    if (!check_that(holds, file, line, text))
        (void)fprintf(stderr, "    got %.17g, want %.17g within %g\n", got, want, tol);
    return holds;
}

/** Count a condition; false is reported with its text.  The value is the condition, for `if (CHECK(p)) ...`. */
#define CHECK(cond) check_that((cond) ? true : false, __FILE__, __LINE__, #cond)

/** |got - want| <= tol (absolute). */
#define CHECK_CLOSE(got, want, tol) check_close((got), (want), (tol), __FILE__, __LINE__, #got " ~ " #want)

/** Print "N passed, N failed"; the exit code of main: 1 when something failed or nothing was checked. */
static inline int check_summary(void)
{
    (void)printf("%ld passed, %ld failed\n", check_passed, check_failed);
    return check_failed > 0 || check_passed == 0;
}

#endif
