/* smoothed.c -- gradients of a smoothed loss from values: the partition of a call, its directions' addresses,
 * the clip and the mean.
 * Depends on: smoothed_impl.h, random/address.h.  Used by: smoothed.h's callers.  Bounds: smoothed_bounds.c. */
#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "numeric/blas_threads.h"
#include "numeric/simd/simd.h"
#include "objective/measures/smoothed_impl.h"

#define ADDRESS_SPACE 0x646972656374ull /* "direct": no other stream of the key */

/* ---- the cut ---- */

size_t pn_smoothed_chunk_end(const pn_smoothed_run *run, size_t chunk)
{
    size_t left = run->call->count - chunk * run->cut.chunk_rows;

    return chunk * run->cut.chunk_rows + (left < run->cut.chunk_rows ? left : run->cut.chunk_rows);
}

/* ---- directions ---- */

/* A unit's memory: the numbers of every set one after the other, since they are drawn at once,
 * then the room of every set. */
static size_t sets_of(const pn_smoothed_run *run, size_t count)
{
    return run->shared ? 1 : count;
}

size_t pn_smoothed_unit_room(const pn_smoothed_run *run)
{
    return sets_of(run, run->cut.unit) * (pn_direction_numbers(&run->kind) + pn_direction_room(&run->kind));
}

pn_direction_set pn_smoothed_set(const pn_smoothed_run *run, size_t count, size_t r, double *room)
{
    size_t numbers = pn_direction_numbers(&run->kind), sets = sets_of(run, count), which = run->shared ? 0 : r;

    return (pn_direction_set){ &run->kind, room + which * numbers,
                               room + sets * numbers + which * pn_direction_room(&run->kind) };
}

void pn_smoothed_draw(const pn_smoothed_run *run, size_t first, size_t count, double *room, pn_rng *rng)
{
    const uint64_t address[PN_ADDRESS_WORDS] = { ADDRESS_SPACE, run->call->call, first / run->cut.unit, run->cut.unit };
    size_t sets = sets_of(run, count), numbers = sets * pn_direction_numbers(&run->kind);

    pn_rng_address(rng, run->call->key, address, numbers + 1);
    pn_rng_many_normals(rng, numbers, room);
    for (size_t r = 0; r < sets; r++) {
        pn_direction_set set = pn_smoothed_set(run, count, r, room);

        pn_direction_make(&set, rng);
    }
}

/* ---- coefficients ---- */

static inline bool is_number(double value)
{
    return fabs(value) <= DBL_MAX;
}

/* Half of each value first, so that no difference of two overflows; that of two differences may be infinite,
 * which the clip takes. */
double pn_smoothed_coefficient(const pn_smoothed_run *run, const double *values, size_t stride, uint64_t *bad)
{
    double ahead = values[0], behind = values[stride], c = 0.5 * ahead - 0.5 * behind;
    bool fine = is_number(ahead) && is_number(behind);

    if (run->other) {
        double ahead_there = values[2 * stride], behind_there = values[3 * stride];

        c -= 0.5 * ahead_there - 0.5 * behind_there;
        fine = fine && is_number(ahead_there) && is_number(behind_there);
    }
    c /= run->how->radius;
    if (c > run->limit && !PN_MUTANT("clip_missing"))
        c = run->limit;
    if (c < -run->limit && !PN_MUTANT("clip_missing"))
        c = -run->limit;
    if (fine && is_number(c))
        return c;
    ++*bad;
    return 0.0;
}

/* ---- checks ---- */

static pn_status check_how(const pn_smoothing *how, size_t dim, pn_err *err)
{
    if (how->directions < PN_DIRECTIONS_ORTHOGONAL || how->directions > PN_DIRECTIONS_ONE)
        return pn_fail(err, PN_EINVAL, "smoothing: directions %d do not exist", (int)how->directions);
    if (!(how->radius >= PN_CLIP_LEAST) || !(how->radius <= PN_CLIP_MOST))
        return pn_fail(err, PN_EINVAL, "smoothing: the radius must be a positive number, got %g", how->radius);
    if (!(how->lipschitz >= PN_CLIP_LEAST) || (how->lipschitz > PN_CLIP_MOST && !isinf(how->lipschitz)))
        return pn_fail(err, PN_EINVAL,
                       "smoothing: lipschitz must be a positive number, or infinite for no clip, got %g",
                       how->lipschitz);
    if (how->level != 0.0 && (!(how->level > 1.0) || isinf(how->level)))
        return pn_fail(err, PN_EINVAL, "smoothing: level must be a number above 1, or 0 for none, got %g", how->level);
    if (how->directions != PN_DIRECTIONS_ONE && dim > PN_DIRECTION_DIM_MAX)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "smoothing: \"%s\" directions are for at most %d dimensions, got %zu; use directions \"one\"",
                       pn_directions_names[how->directions], PN_DIRECTION_DIM_MAX, dim);
    if (dim > INT_MAX || how->group > INT_MAX)
        return pn_fail(err, PN_EINVAL, "smoothing: at most %d dimensions and records of a group, got %zu and %zu",
                       INT_MAX, dim, how->group);
    return PN_OK;
}

static pn_status check(const pn_smoothed_run *run, pn_err *err)
{
    size_t n = run->objective->data->n;
    pn_status status = check_how(run->how, run->kind.dim, err);

    if (status == PN_OK)
        status = pn_check_batch(run->objective, NULL, err);
    if (status == PN_OK && run->call->count == 0)
        status = pn_fail(err, PN_EINVAL, "smoothing: a mean needs at least one record");
    for (size_t r = 0; status == PN_OK && r < run->call->count; r++) {
        if (run->call->rows[r] >= n)
            status = pn_fail(err, PN_EINVAL, "smoothing: there is no record %zu of %zu", run->call->rows[r] + 1, n);
    }
    if (status == PN_OK)
        status = pn_check_point("smoothing", "theta", run->theta, run->kind.dim, err);
    if (status == PN_OK && run->other)
        status = pn_check_point("smoothing", "the other point", run->other, run->kind.dim, err);
    return status;
}

/* ---- a call ---- */

static void release(pn_smoothed_run *run)
{
    for (size_t w = 0; run->streams && w < run->workers; w++)
        pn_rng_free(run->streams[w]);
    pn_free(run->streams);
    pn_free(run->partial);
    pn_free(run->bad);
    pn_free(run->scratch);
}

static pn_status reserve(pn_smoothed_run *run, pn_err *err)
{
    pn_status status = PN_OK;

    run->streams = pn_calloc(run->workers, sizeof *run->streams);
    run->partial = pn_alloc(run->cut.chunks * run->kind.dim, sizeof *run->partial);
    run->bad = pn_calloc(run->cut.chunks, sizeof *run->bad);
    run->scratch = pn_alloc(run->workers * run->size, sizeof *run->scratch);
    PN_TRY(pn_made(run->streams && run->partial && run->bad && run->scratch, err,
                   "smoothing: out of memory for %zu directions of %zu entries", run->lines, run->kind.dim));
    for (size_t w = 0; status == PN_OK && w < run->workers; w++)
        status = pn_rng_for_key(&run->streams[w], run->call->key, err);
    return status;
}

/* The mean of the partial sums, and the counts. */
static pn_status finish(const pn_smoothed_run *run, double *out, pn_err *err)
{
    const pn_simd *simd = pn_simd_best();
    double count = (double)run->call->count, *sum = run->partial;
    uint64_t bad = 0;

    for (size_t chunk = 0; chunk < run->cut.chunks; chunk++)
        bad += run->bad[chunk];
    if (bad > 0 && run->how->strict)
        return pn_objective_undefined(run->objective, "smoothing", err);
    for (size_t chunk = 1; chunk < run->cut.chunks; chunk++)
        simd->add(run->kind.dim, sum, 1, run->partial + chunk * run->kind.dim, 1, sum);
    simd->divide(run->kind.dim, sum, 1, &count, 0, out);
    if (run->call->evaluations)
        *run->call->evaluations += run->call->count * run->lines * run->sides;
    if (run->call->bad)
        *run->call->bad += bad;
    return PN_OK;
}

static pn_status share_run(pn_smoothed_run *run, bool black_box, pn_status before, pn_task *task, pn_err *err)
{
    const pn_ranks_part parts[] = {
        { .data = run->partial, .bytes = run->kind.dim * sizeof *run->partial },
        { .data = run->bad, .bytes = sizeof *run->bad },
    };
    const pn_batch batch = { run->call->rows, run->call->count, 1.0 };

    return pn_share_chunks(run->objective,
                           &(pn_shared){ .chunks = run->cut.chunks,
                                         .chunk_rows = run->cut.chunk_rows,
                                         .body = black_box ? NULL : pn_smoothed_margins_chunk,
                                         .run = black_box ? pn_smoothed_records : NULL,
                                         .self = run,
                                         .parts = parts,
                                         .part_count = 2,
                                         .theta = run->theta,
                                         .other = run->other,
                                         .batch = &batch },
                           before, task, err);
}

static pn_status run_call(pn_smoothed_run *run, double *out, pn_task *task, pn_err *err)
{
    bool black_box = run->objective->loss->margins == 0, alone = false;
    size_t threads = pn_task_threads(task);
    pn_status status;

    PN_TRY(check(run, err));
    run->shared = run->how->group > 1;
    run->kind.formed = run->shared || black_box;
    run->lines = pn_direction_rows(&run->kind);
    run->sides = run->other ? 4 : 2;
    run->cut = pn_smoothed_cut_of(run->how, run->kind.dim, run->call->count);
    run->workers = black_box || run->cut.chunks < 2 ? 1 : threads;
    run->size = black_box ? pn_smoothed_records_room(run) : pn_smoothed_margins_room(run);
    status = reserve(run, err);
    if (status == PN_OK && run->shared && !black_box)
        alone = pn_blas_alone(0);
    status = share_run(run, black_box, status, task, err);
    pn_blas_alone_end(alone);
    if (status == PN_OK)
        status = finish(run, out, err);
    release(run);
    return status;
}

pn_status pn_smoothed_gradient(pn_objective *objective, const pn_smoothing *how, const pn_smoothed_call *call,
                               const double *theta, double *out, pn_task *task, pn_err *err)
{
    pn_smoothed_run run = { .objective = objective,
                            .how = how,
                            .call = call,
                            .theta = theta,
                            .limit = how->lipschitz,
                            .kind = { how->directions, objective->dim, how->level, false } };

    return run_call(&run, out, task, err);
}

pn_status pn_smoothed_difference(pn_objective *objective, const pn_smoothing *how, const pn_smoothed_call *call,
                                 const double *theta, const double *other, double distance, double *out, pn_task *task,
                                 pn_err *err)
{
    pn_smoothed_run run = { .objective = objective,
                            .how = how,
                            .call = call,
                            .theta = theta,
                            .other = other,
                            .limit = pn_smoothed_limit(how, distance),
                            .kind = { how->directions, objective->dim, how->level, false } };

    if (!(distance > 0.0) || isinf(distance))
        return pn_fail(err, PN_EINVAL, "smoothing: the distance of two points must be a positive number, got %g",
                       distance);
    return run_call(&run, out, task, err);
}
