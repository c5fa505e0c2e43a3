/* prefix_bench.c -- what a leaf of a private prefix sum costs, beside the drawing of its noise: processor time of whole
 * streams, one thread, in turn with the fills that they are measured by; and how much a stream remembers.
 * Depends on: continual/prefix.h, random/, bench.h.  Run with `make bench`. */
#include <math.h>
#include <string.h>

#include "bench/bench.h"
#include "continual/prefix.h"
#include "core/alloc.h"
#include "random/address.h"
#include "random/noise.h"

#define LARGE 1000000

static pn_err err;

static void must(pn_status status)
{
    if (status != PN_OK) {
        fprintf(stderr, "prefix_bench: %s\n", err.message);
        exit(1);
    }
}

typedef struct row {
    const char *name;
    pn_prefix_options options; /* dim comes later; horizon 0: unknown, as many leaves as `leaves` */
    size_t leaves;
    double limit; /* of the ratio to a fill, or 0 */
    double words; /* limit of doubles kept a coordinate, or 0 */
} row;

#define BINARY(how) .factorization = "binary", .estimator_given = true, .estimator = (how)

/* Trees keep one level more for every doubling of the leaves: 2 for the sum, 1 for the release, and of a level 1
 * (plain) or 3.  Buffers keep as much whatever the leaves.  A push of honaker measures two nodes on average where the
 * others measure one: its limit is twice what theirs take here, a fill and the memory that goes with it. */
static const row rows[] = {
    { "noiseless", { .horizon = 256, .noiseless = true }, 256, 3.0, 1.0 },
    { "tree, plain", { BINARY(PN_PREFIX_PLAIN), .horizon = 256 }, 256, 3.0, 3.0 + 9.0 },
    { "tree, honaker", { BINARY(PN_PREFIX_HONAKER), .horizon = 256 }, 256, 4.0, 1.0 + 3.0 * 9.0 },
    { "tree, plain, endless", { BINARY(PN_PREFIX_PLAIN), .growth = PN_PREFIX_ENDLESS }, 256, 3.0, 1.0 + 3.0 * 9.0 },
    { "tree, honaker, endless", { BINARY(PN_PREFIX_HONAKER), .growth = PN_PREFIX_ENDLESS }, 256, 4.0, 1.0 + 3.0 * 9.0 },
    { "tree, plain, doubling", { BINARY(PN_PREFIX_PLAIN) }, 255, 3.0, 4.0 + 8.0 },
    { "tree, honaker, doubling", { BINARY(PN_PREFIX_HONAKER) }, 255, 4.0, 2.0 + 3.0 * 8.0 },
    { "tree, full, 16 leaves", { BINARY(PN_PREFIX_FULL), .horizon = 16 }, 16, 0.0, 0.0 },
    { "tree, drawn again", { BINARY(PN_PREFIX_PLAIN), .memory = PN_PREFIX_REGENERATE, .horizon = 256 }, 256, 0.0, 3.0 },
    { "sqrt, 16 leaves", { .factorization = "sqrt", .horizon = 16 }, 16, 3.0, 16.0 },
    { "banded, 8 bands", { .factorization = "banded", .bands = 8, .horizon = 256 }, 256, 3.0, 8.0 },
    { "matrix, 8 bands, 16 leaves", { .factorization = "matrix", .horizon = 16 }, 16, 3.0, 8.0 },
    { "blt, 4 buffers", { .factorization = "blt", .buffers = 4, .horizon = 256 }, 256, 3.0, 5.0 },
};

/* matrix: 8 bands, for 16 leaves. */
static double *banded_matrix(void)
{
    static double C[16 * 16];

    for (size_t t = 0; t < 16; t++)
        for (size_t s = t < 8 ? 0 : t - 7; s <= t; s++)
            C[t * 16 + s] = 1.0 / (double)(1 + t - s);
    return C;
}

static pn_prefix_design *design_of(const row *r, size_t dim)
{
    pn_prefix_options options = r->options;
    pn_prefix_design *design = NULL;

    options.dim = dim;
    options.sensitivity = 1.0;
    options.neighbours = PN_REPLACE_ONE;
    if (!options.noiseless)
        options.rho = 1.0;
    if (options.horizon == 16 && strcmp(options.factorization, "matrix") == 0)
        options.matrix = (pn_mat){ banded_matrix(), 16, 16 };
    must(pn_prefix_design_new(&design, &options, &err));
    return design;
}

static pn_prefix *stream_of(pn_prefix_design *design, pn_rng *rng)
{
    pn_budget terms = { .epsilon = NAN, .rho = 1e300, .neighbours = PN_REPLACE_ONE, .teaching = true };
    pn_ledger *ledger = NULL;
    pn_prefix *stream = NULL;

    must(pn_ledger_new(&ledger, &terms, &err));
    must(pn_prefix_new(&stream, design, pn_prefix_options_of(design)->noiseless ? NULL : rng, &err));
    must(pn_prefix_pay(stream, ledger, "bench", false, &err));
    pn_ledger_free(ledger);
    return stream;
}

typedef struct world {
    size_t dim;
    double *leaf, *out;
    int64_t *noise;
    pn_rng *rng, *fill;
    pn_address_key key;
} world;

static void open_world(world *self, size_t dim)
{
    memset(self, 0, sizeof *self);
    self->dim = dim;
    self->leaf = pn_alloc(dim, sizeof(double));
    self->out = pn_calloc(dim, sizeof(double));
    self->noise = pn_calloc(dim, sizeof(int64_t));
    must(pn_rng_seeded(&self->rng, 1, &err));
    must(pn_rng_seeded(&self->fill, 2, &err));
    pn_address_key_draw(&self->key, self->rng);
    for (size_t j = 0; j < dim; j++)
        self->leaf[j] = pn_rng_uniform(self->rng) / sqrt((double)dim);
}

static void close_world(world *self)
{
    pn_free(self->leaf);
    pn_free(self->out);
    pn_free(self->noise);
    pn_rng_free(self->rng);
    pn_rng_free(self->fill);
}

/* ---- large: one fill is `dim` integers of noise ---- */

static void one_stream(world *self, const row *r, pn_prefix_design *design, double *push, double *fill)
{
    enum { APART = 4 };
    pn_prefix *stream = stream_of(design, self->rng);
    size_t fills = 0;

    for (size_t t = 0; t < r->leaves; t++) {
        double begun = bench_busy(), between;

        must(pn_prefix_push(stream, self->leaf, self->out, NULL, &err));
        between = bench_busy();
        pn_noise_gaussian(self->fill, self->dim, self->noise);
        *push += (between - begun) / (double)r->leaves;
        if (t % APART > 0)
            continue;
        between = bench_busy();
        pn_noise_gaussian(self->fill, self->dim, self->noise);
        *fill += bench_busy() - between;
        fills++;
    }
    *fill /= (double)fills;
    pn_prefix_free(stream);
}

static int bench_large(const row *r)
{
    double push = 0.0, fill = 0.0, words;
    int over;
    pn_prefix_design *design = design_of(r, LARGE);
    world self;

    open_world(&self, LARGE);
    one_stream(&self, r, design, &push, &fill);
    over = bench_print(r->name, push, fill, push / fill, r->limit);
    words = pn_prefix_room(design, r->leaves) / LARGE;
    printf("%-46s %9.3f doubles a coordinate", "", words);
    if (r->words > 0.0)
        printf(", limit %g%s", r->words, words <= r->words * (1.0 + 1e-6) ? "" : "  OVER");
    printf("\n");
    over += r->words > 0.0 && words > r->words * (1.0 + 1e-6);
    close_world(&self);
    pn_prefix_design_free(design);
    return over;
}

/* ---- small: one fill is `dim` integers at an address, as a node's are ---- */

static double streams(world *self, const row *r, pn_prefix_design *design, size_t pushes)
{
    double seconds = 0.0;

    for (size_t done = 0; done < pushes; done += r->leaves) {
        pn_prefix *stream = stream_of(design, self->rng);
        double begun;

        must(pn_prefix_push(stream, self->leaf, self->out, NULL, &err)); /* its threads' memory */
        begun = bench_busy();
        for (size_t t = 1; t < r->leaves; t++)
            must(pn_prefix_push(stream, self->leaf, self->out, NULL, &err));
        seconds += bench_busy() - begun;
        pn_prefix_free(stream);
    }
    return seconds / (double)pushes;
}

static double fills(world *self, size_t count)
{
    double begun = bench_busy();

    for (size_t t = 0; t < count; t++) {
        const uint64_t address[PN_ADDRESS_WORDS] = { 0, 0, t, 0 };

        pn_rng_address(self->fill, &self->key, address, self->dim);
        pn_noise_gaussian(self->fill, self->dim, self->noise);
    }
    return (bench_busy() - begun) / (double)count;
}

static int bench_small(const row *r, size_t dim)
{
    enum { ROUNDS = 7, PUSHES = 16384 };
    double push = 1e300, fill = 1e300;
    row small = *r;
    pn_prefix_design *design;
    char name[64];
    world self;

    small.leaves = r->options.horizon == 16 ? 16 : PUSHES;
    if (small.options.horizon > 16)
        small.options.horizon = PUSHES;
    design = design_of(&small, dim);
    open_world(&self, dim);
    for (int i = 0; i < ROUNDS; i++) {
        push = fmin(push, streams(&self, &small, design, PUSHES));
        fill = fmin(fill, fills(&self, PUSHES));
    }
    close_world(&self);
    pn_prefix_design_free(design);
    (void)snprintf(name, sizeof name, "%s, dim %zu", r->name, dim);
    printf("%-46s %9.1f ns / %9.1f ns = %6.3f", name, 1e9 * push, 1e9 * fill, push / fill);
    if (r->limit > 0.0)
        printf("  (limit %.2f)%s", r->limit, push <= r->limit * fill ? "" : "  OVER");
    printf("\n");
    return r->limit > 0.0 && push > r->limit * fill;
}

/* prefix_bench [NAME [DIM]]: all rows, or those whose names begin so; all dimensions, or one. */
int main(int argc, char **argv)
{
    const size_t count = sizeof rows / sizeof *rows, dims[] = { LARGE, 10, 54 };
    const char *only = argc > 1 ? argv[1] : "";
    const size_t dim = argc > 2 ? (size_t)atol(argv[2]) : 0;
    int over = 0;

    for (size_t k = 0; k < sizeof dims / sizeof *dims; k++) {
        if (dim > 0 && dim != dims[k])
            continue;
        printf("a push / one fill of noise%s, dim %zu\n", k > 0 ? " at an address" : "", dims[k]);
        for (size_t i = 0; i < count; i++) {
            if (strncmp(rows[i].name, only, strlen(only)) == 0)
                over += k > 0 ? bench_small(&rows[i], dims[k]) : bench_large(&rows[i]);
        }
    }
    return over > 0;
}
