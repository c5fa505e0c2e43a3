/* noise_bench.c -- nanoseconds per draw of the noise samplers, beside the keystream that they need and beside numpy's
 * normal numbers, all in turn in the same run; processor time, medians over the rounds.
 *     noise_bench              measure, with $PYTHON for the peer
 *     noise_bench LAW COUNT    draw COUNT numbers of one law and stop: what noise_instructions.sh counts
 * Depends on: random/, bench.h, peers/noise_peer.py.  Run with `make bench`. */
#define _POSIX_C_SOURCE 200809L
#include <stdint.h>
#include <string.h>

#include "bench/bench.h"
#include "random/noise.h"
#include "random/sample.h"
#include "random/score_levels.h"

#define BUFFER 8192 /* numbers, 64 KiB: in the cache */
#define ROUNDS 15
#define FILLS  60

static pn_rng *rng;
static int64_t integers[BUFFER];
static double numbers[BUFFER], released[BUFFER];
static unsigned char bytes[8 * BUFFER];
static int64_t scores[BUFFER];
static double whole[BUFFER]; /* scores, too */
static pn_score_levels levels;
static size_t indices[BUFFER];

/* Each draws BUFFER numbers, or visits about as many candidates. */
static void keystream(void)
{
    pn_rng_bytes(rng, bytes, sizeof bytes);
}

static void gaussian(void)
{
    pn_noise_gaussian(rng, BUFFER, integers);
}

static void gaussian_release(void)
{
    pn_lattice_gaussian(rng, 2.5, numbers, BUFFER, released);
}

static void laplace(void)
{
    pn_noise_laplace(rng, 1, BUFFER, integers);
}

static void laplace_release(void)
{
    pn_lattice_laplace(rng, 2.5, numbers, BUFFER, released);
}

static void wide_laplace(void)
{
    pn_noise_laplace(rng, 1000, BUFFER, integers);
}

static void exact(void)
{
    pn_noise_gaussian_exact(rng, BUFFER, integers);
}

static void coins(void)
{
    (void)pn_sample_poisson(rng, 0.01, BUFFER, indices);
}

/* One candidate is far ahead: the worst case, where every other one has to be turned down. */
static void select_exponential(void)
{
    (void)pn_select_exponential(rng, scores, BUFFER, pn_dyadic_floor(0.02), 1);
}

static int64_t score_of(const void *of, size_t j, bool second)
{
    (void)second;
    return (int64_t)((const double *)of)[j];
}

static void select_flip(void)
{
    bool second;
    size_t j;

    levels.view.of = whole;
    levels.view.score = score_of;
    levels.view.rate = pn_rate_of(pn_dyadic_floor(0.02), 1);
    pn_score_levels_of_singles(&levels, whole, BUFFER, 1.0, 0x1p52);
    levels.view.best = (int64_t)levels.largest;
    (void)pn_score_levels_flip(rng, &levels.view, &j, &second, NULL);
}

static void select_laplace(void)
{
    (void)pn_select_laplace(rng, scores, BUFFER, pn_dyadic_floor(0.02), 1);
}

typedef struct row {
    const char *name;
    void (*run)(void);
    double over_gaussian; /* limit of the ratio to `gaussian`, or 0 */
    double ns[ROUNDS];
} row;

enum { KEYSTREAM, GAUSSIAN, ROWS = 11 };
static row rows[ROWS] = {
    { "keystream", keystream, 0.0, { 0 } },
    { "gaussian", gaussian, 0.0, { 0 } },
    { "gaussian_release", gaussian_release, 0.0, { 0 } },
    { "laplace", laplace, 2.0, { 0 } },
    { "laplace_release", laplace_release, 0.0, { 0 } },
    { "laplace_w1000", wide_laplace, 0.0, { 0 } },
    { "gaussian_exact", exact, 0.0, { 0 } },
    { "poisson_coins", coins, 0.0, { 0 } },
    { "select_exponential", select_exponential, 2.0, { 0 } },
    { "select_flip", select_flip, 2.0, { 0 } },
    { "select_laplace", select_laplace, 2.0, { 0 } },
};

/* Of this process: what others do to a shared machine shows less than in the time of day. */
static double cpu_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double time_row(const row *r)
{
    int fills = r->run == exact ? FILLS / 20 : FILLS;
    double start;

    r->run();
    start = cpu_now();
    for (int i = 0; i < fills; i++)
        r->run();
    return (cpu_now() - start) * 1e9 / fills / BUFFER;
}

/* Nanoseconds per number of numpy, or 0 when there is none. */
static double time_peer(void)
{
    const char *python = getenv("PYTHON");
    char command[512];
    double ns = 0.0;
    FILE *pipe;

    (void)snprintf(command, sizeof command, "%s tests/bench/peers/noise_peer.py", python ? python : "python3");
    pipe = popen(command, "r");
    if (!pipe)
        return 0.0;
    if (fscanf(pipe, "%lf", &ns) != 1)
        ns = 0.0;
    return pclose(pipe) == 0 ? ns : 0.0;
}

static double median(const double *values)
{
    double sorted[ROUNDS];

    memcpy(sorted, values, sizeof sorted);
    qsort(sorted, ROUNDS, sizeof *sorted, bench_compare);
    return sorted[ROUNDS / 2];
}

/* The median over the rounds of value against limit, both of the same round. */
static int judge(const char *name, const double *value, const double *limit)
{
    double ratios[ROUNDS], ratio;

    for (int i = 0; i < ROUNDS; i++)
        ratios[i] = value[i] / limit[i];
    ratio = median(ratios);
    printf("%-46s %6.2f ns / %6.2f ns = %5.2f  (limit 1.00)%s\n", name, median(value), median(limit), ratio,
           ratio <= 1.0 ? "" : "  OVER");
    return ratio > 1.0;
}

static int judge_all(const double *peer)
{
    double limit[ROUNDS];
    int over = 0;

    for (int i = 0; i < ROUNDS; i++) /* 8.19 bytes a draw */
        limit[i] = 1.2 * rows[KEYSTREAM].ns[i] * 8.192 / 8.0 + (peer[i] > 0.0 ? 0.4 * peer[i] : 5.0);
    over |= judge("gaussian / (1.2 keystream + 0.4 numpy)", rows[GAUSSIAN].ns, limit);
    if (peer[0] > 0.0)
        over |= judge("gaussian / numpy standard_normal", rows[GAUSSIAN].ns, peer);
    else
        printf("no numpy: not compared\n");
    for (int r = 0; r < ROWS; r++) {
        char name[64];

        if (rows[r].over_gaussian == 0.0)
            continue;
        (void)snprintf(name, sizeof name, "%s / %g gaussian", rows[r].name, rows[r].over_gaussian);
        for (int i = 0; i < ROUNDS; i++)
            limit[i] = rows[r].over_gaussian * rows[GAUSSIAN].ns[i];
        over |= judge(name, rows[r].ns, limit);
    }
    return over;
}

static int measure(void)
{
    double peer[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        for (int r = 0; r < ROWS; r++)
            rows[r].ns[i] = time_row(&rows[r]);
        peer[i] = time_peer();
    }
    printf("%-20s  ns per draw, word, coin or candidate\n", "");
    for (int r = 0; r < ROWS; r++)
        printf("%-20s  %8.2f\n", rows[r].name, median(rows[r].ns));
    printf("%-20s  %8.2f\n\n", "numpy", median(peer));
    return judge_all(peer);
}

int main(int argc, char **argv)
{
    int status = 1;

    if (pn_rng_seeded(&rng, 1, NULL) != PN_OK || pn_score_levels_reserve(&levels, BUFFER, NULL) != PN_OK)
        return 1;
    for (int i = 0; i < BUFFER; i++) {
        numbers[i] = 1e-3 * i;
        scores[i] = i == BUFFER / 3 ? 0 : -2000 - (int64_t)pn_rng_below(rng, 2000); /* exponents 20 to 40 */
        whole[i] = (double)scores[i];
    }
    if (argc < 3)
        status = measure();
    for (int r = 0; argc >= 3 && r < ROWS; r++) {
        if (strcmp(rows[r].name, argv[1]) == 0) {
            for (long done = 0; done < atol(argv[2]); done += BUFFER)
                rows[r].run();
            status = 0;
        }
    }
    pn_score_levels_clear(&levels);
    pn_rng_free(rng);
    return status;
}
