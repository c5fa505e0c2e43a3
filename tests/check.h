/* check.h -- the whole C test framework: count what holds, name what does not.  Header-only; one test program per file.
 *
 *     int main(void)
 *     {
 *         CHECK(pn_lp_dual(PN_L2) == PN_L2);
 *         for (long i = 0; i < check_times(100, 10000); i++)
 *             CHECK_CLOSE(pn_lp_norm(x, 3), sqrt(14.0), 1e-15);
 *         return check_summary();          prints "2 passed, 0 failed"
 *     }
 *
 * A CHECK counts once, however often it is reached: it passed when it held each time.
 * Depends on: libc.  Used by: tests, through `make test`. */
#ifndef PN_TESTS_CHECK_H
#define PN_TESTS_CHECK_H

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK_SITES 1024 /* CHECKs in the text of one program, at most */
/* Not expanded in each of the hundred places that call it: under sanitizers that compiles in three quarters of the
 * time. */
#define CHECK_FUNCTION __attribute__((noinline, unused)) static
enum { CHECK_HELD = 1, CHECK_BROKE = 2 };

/* Threads may check.  Nothing is ordered by that: it would hide a race of theirs from ThreadSanitizer. */
static atomic_int check_seen[CHECK_SITES]; /* by the number of the CHECK: what it saw so far */
static atomic_long check_broken;           /* how often one of them did not hold */

/* Notes what a CHECK saw; true the first time that it does not hold, which is to be said. */
CHECK_FUNCTION bool check_note(bool holds, int site)
{
    int now = holds ? CHECK_HELD : CHECK_BROKE;

    if (site >= CHECK_SITES) {
        (void)fprintf(stderr, "more than %d CHECKs: raise CHECK_SITES in tests/check.h\n", CHECK_SITES);
        exit(1);
    }
    if (!holds)
        atomic_fetch_add_explicit(&check_broken, 1, memory_order_relaxed);
    return !(atomic_fetch_or_explicit(&check_seen[site], now, memory_order_relaxed) & CHECK_BROKE) && !holds;
}

CHECK_FUNCTION bool check_that(bool holds, int site, const char *file, int line, const char *text)
{
    if (check_note(holds, site))
        (void)fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, text);
    return holds;
}

CHECK_FUNCTION bool check_close(double got, double want, double tol, int site, const char *file, int line,
                                const char *text)
{
    bool holds = got == want || fabs(got - want) <= tol; /* the first for infinities; NaN never holds */

    if (check_note(holds, site))
        (void)fprintf(stderr, "%s:%d: does not hold: %s\n    got %.17g, want %.17g within %g\n", file, line, text, got,
                      want, tol);
    return holds;
}

/** Check a condition; the first time that it is false is reported with its text.  The value is the condition, for
 * `if (CHECK(p)) ...`. */
#define CHECK(cond) check_that((cond) ? true : false, __COUNTER__, __FILE__, __LINE__, #cond)

/** |got - want| <= tol (absolute). */
#define CHECK_CLOSE(got, want, tol) check_close((got), (want), (tol), __COUNTER__, __FILE__, __LINE__, #got " ~ " #want)

/** True in the thorough tier, `make test-all`, which sets PN_THOROUGH; false in the fast one, `make test`. */
static inline bool check_thorough(void)
{
    const char *asked = getenv("PN_THOROUGH");

    return asked && *asked;
}

/** How often to do something, or how many to take: `fast` in the fast tier, `thorough` in the thorough one. */
static inline long check_times(long fast, long thorough)
{
    return check_thorough() ? thorough : fast;
}

/** How many draws of a law, or moments to die at: `all`, and `sanitized` under sanitizers, which look at memory alone;
 * the same test runs without them at its full power. */
static inline long check_draws(long all, long sanitized)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)all;
    return sanitized;
#else
    (void)sanitized;
    return all;
#endif
}

/* Of random/address.h, in programs that have it. */
extern size_t pn_rng_exposed(void) __attribute__((weak));

/** Print "N passed, N failed"; the exit code of main: 1 when something failed or nothing was checked. */
static inline int check_summary(void)
{
    int passed = 0, failed = 0;

    for (int site = 0; site < CHECK_SITES; site++) {
        passed += atomic_load(&check_seen[site]) == CHECK_HELD;
        failed += (atomic_load(&check_seen[site]) & CHECK_BROKE) != 0;
    }
    if (pn_rng_exposed && pn_rng_exposed() > 0) {
        (void)fprintf(stderr, "the stream of a secret key was in plain memory, %zu times\n", pn_rng_exposed());
        failed++;
    }
    (void)printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}

#endif
