/* selection_bench.c -- nanoseconds per candidate of the three selection laws, beside the time that the keystream they
 * use takes by itself.  The words are counted in a second copy of the samplers that draws through counting wrappers.
 * Permute-and-flip has its levels made from the numbers for each draw, as a mechanism has.
 * Depends on: random/selection.h, random/score_levels.h.  Run with `make bench`. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "random/score_levels.h"
#include "random/stream.h"

static unsigned long words_drawn;

static uint64_t counted_word(pn_rng *rng)
{
    words_drawn++;
    return pn_stream_word(rng);
}

static uint64_t counted_below(pn_rng *rng, uint64_t n)
{
    words_drawn++; /* a rejection, one in 2^64/n, is not counted */
    return pn_rng_below(rng, n);
}

#define pn_stream_word        counted_word
#define pn_rng_below          counted_below
#define pn_rate_of            counted_rate_of
#define pn_below_wide         counted_below_wide
#define pn_dyadic_floor       counted_dyadic_floor
#define pn_dyadic_value       counted_dyadic_value
#define pn_bernoulli_exp      counted_bernoulli_exp
#define pn_discrete_laplace   counted_discrete_laplace
#define pn_select_exponential counted_select_exponential
#define pn_score_levels_flip  counted_score_levels_flip
#define pn_select_laplace     counted_select_laplace
#include "runtime/random/selection.c"
#include "runtime/random/permute_and_flip.c"
#undef pn_stream_word
#undef pn_rng_below
#undef pn_rate_of
#undef pn_below_wide
#undef pn_dyadic_floor
#undef pn_dyadic_value
#undef pn_bernoulli_exp
#undef pn_discrete_laplace
#undef pn_select_exponential
#undef pn_score_levels_flip
#undef pn_select_laplace

typedef struct problem {
    pn_rng *rng;
    int64_t *scores;
    double *numbers; /* the same */
    pn_score_levels levels;
    size_t count;
    pn_dyadic epsilon;
    uint64_t shift;
} problem;

typedef size_t (*select_fn)(problem *p);

static size_t exponential(problem *p)
{
    return pn_select_exponential(p->rng, p->scores, p->count, p->epsilon, p->shift);
}

static int64_t score_of(const void *of, size_t j, bool second)
{
    const problem *p = of;

    (void)second;
    return (int64_t)p->numbers[j];
}

static pn_level_view *level(problem *p)
{
    p->levels.view.of = p;
    p->levels.view.score = score_of;
    p->levels.view.rate = pn_rate_of(p->epsilon, p->shift);
    pn_score_levels_of_singles(&p->levels, p->numbers, p->count, 1.0, 0x1p52);
    p->levels.view.best = (int64_t)p->levels.largest;
    return &p->levels.view;
}

static size_t permute_and_flip(problem *p)
{
    bool second;
    size_t j = 0;

    (void)pn_score_levels_flip(p->rng, level(p), &j, &second, NULL);
    return j;
}

static size_t laplace(problem *p)
{
    return pn_select_laplace(p->rng, p->scores, p->count, p->epsilon, p->shift);
}

static size_t exponential_counted(problem *p)
{
    return counted_select_exponential(p->rng, p->scores, p->count, p->epsilon, p->shift);
}

static size_t permute_and_flip_counted(problem *p)
{
    bool second;
    size_t j = 0;

    (void)counted_score_levels_flip(p->rng, level(p), &j, &second, NULL);
    return j;
}

static size_t laplace_counted(problem *p)
{
    return counted_select_laplace(p->rng, p->scores, p->count, p->epsilon, p->shift);
}

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double time_per_candidate(problem *p, select_fn select, size_t repeats)
{
    double start = now();

    for (size_t i = 0; i < repeats; i++)
        (void)select(p);
    return (now() - start) / ((double)p->count * (double)repeats);
}

static double keystream_per_word(pn_rng *rng)
{
    static unsigned char bytes[65504];
    double start = now();

    for (int i = 0; i < 1000; i++)
        pn_rng_bytes(rng, bytes, sizeof bytes);
    return (now() - start) / (1000.0 * sizeof bytes / 8.0);
}

static void report(problem *p, const char *name, select_fn timed, select_fn counted, double word)
{
    size_t repeats = 1 + 4000000 / p->count;
    double best = 1e300, words;

    for (int i = 0; i < 5; i++) {
        double t = time_per_candidate(p, timed, repeats);

        best = t < best ? t : best;
    }
    words_drawn = 0;
    (void)time_per_candidate(p, counted, repeats);
    words = (double)words_drawn / ((double)p->count * (double)repeats);
    printf("%9zu  %-17s  %8.2f  %8.2f  %10.2f\n", p->count, name, best, words, words * word);
}

/* Shift 2^20 + 1 and epsilon 0.02, as a plan of some hundred steps would have.  Exponents are uniform between `ahead`
 * and `ahead` + 20, but for one candidate at 0: the further ahead it is, the more candidates have to be tried. */
static int run(pn_rng *rng, size_t count, double ahead, double word)
{
    problem p = { .rng = rng, .count = count, .epsilon = pn_dyadic_floor(0.02), .shift = ((uint64_t)1 << 20) + 1 };
    double units = 2.0 * (double)p.shift / pn_dyadic_value(p.epsilon);

    p.scores = malloc(count * sizeof *p.scores);
    p.numbers = malloc(count * sizeof *p.numbers);
    if (!p.scores || !p.numbers || pn_score_levels_reserve(&p.levels, count, NULL) != PN_OK) {
        free(p.scores);
        free(p.numbers);
        return 1;
    }
    for (size_t i = 0; i < count; i++)
        p.scores[i] = i == count / 3 ? 0 : -(int64_t)((ahead + 20.0 * pn_rng_uniform(rng)) * units);
    for (size_t i = 0; i < count; i++)
        p.numbers[i] = (double)p.scores[i];
    report(&p, "exponential", exponential, exponential_counted, word);
    report(&p, "permute_and_flip", permute_and_flip, permute_and_flip_counted, word);
    report(&p, "laplace", laplace, laplace_counted, word);
    free(p.scores);
    free(p.numbers);
    pn_score_levels_clear(&p.levels);
    return 0;
}

int main(void)
{
    static const double leads[] = { 0.0, 20.0 };
    pn_rng *rng = NULL;
    double word;
    int failed = 0;

    if (pn_rng_seeded(&rng, 1, NULL) != PN_OK)
        return 1;
    (void)keystream_per_word(rng);
    word = keystream_per_word(rng);
    printf("keystream: %.2f ns per 8 bytes\n", word);
    for (size_t s = 0; s < 2; s++) {
        printf("\none candidate %g ahead; all numbers per candidate\n", leads[s]);
        printf("%9s  %-17s  %8s  %8s  %10s\n", "count", "law", "ns", "words", "stream ns");
        for (size_t count = 100; count <= 1000000; count *= 100)
            failed |= run(rng, count, leads[s], word);
    }
    pn_rng_free(rng);
    return failed;
}
