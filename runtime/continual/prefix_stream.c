/* prefix_stream.c -- a stream: pay, push block by block, read.
 * A push passes over memory once: all that happens to a block of coordinates happens while it is in the cache.  What
 * can fail is done before anything changes; after that a push cannot be stopped.
 * Depends on: prefix_state.h, POSIX (getpid).  Used by: solvers, bindings. */
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "continual/prefix_state.h"
#include "core/alloc.h"
#include "core/mutant.h"
#include "core/process.h"

static void release_block(const pn_prefix_block *view, double *out)
{
    for (size_t j = 0; j < view->count; j++)
        out[view->first + j] = view->base ? view->base[j] + view->prefix[j] : view->prefix[j];
}

/* ---- what methods ask for ---- */

void pn_prefix_noise(const pn_prefix_step *step, uint64_t level, uint64_t index, int64_t *out)
{
    uint64_t address[PN_ADDRESS_WORDS] = { step->epoch, level, index, step->block };

    if (PN_MUTANT("epochs_alike"))
        address[0] = 0;
    if (PN_MUTANT("noise_reuse"))
        address[0] = address[1] = address[2] = 0;
    pn_rng_address(step->rng, step->key, address, step->count);
    pn_noise_gaussian(step->rng, step->count, out);
    for (size_t j = 0; PN_MUTANT("noise_scale") && j < step->count; j++)
        out[j] = out[j] / 5 * 4;
}

#define SMALL 0x1p50
#define SHIFT 0x1.8p52 /* adding it leaves the whole part of a small number in the low bits, rounded to even */

/* A loop that compiles to vectors, for leaves that are small, which nearly all are; the same integers as
 * pn_lattice_round's.  Doubles of a sign are ordered as their bits are. */
bool pn_prefix_round(const pn_prefix_step *step, double length, int64_t *whole)
{
    const double shift = SHIFT, small = SMALL;
    const double *leaf = step->leaf;
    uint64_t base, limit, above = 0;

    memcpy(&base, &shift, sizeof base);
    memcpy(&limit, &small, sizeof limit);
    for (size_t j = 0; j < step->count; j++) {
        double steps = leaf[j] / length, shifted = steps + shift;
        uint64_t bits, sum;

        memcpy(&bits, &steps, sizeof bits);
        memcpy(&sum, &shifted, sizeof sum);
        above |= limit - 1 - (bits & (UINT64_MAX >> 1)); /* wraps, and has the first bit, from the limit on */
        whole[j] = (int64_t)(sum - base);
    }
    if (above >> 63 == 0)
        return true;
    for (size_t j = 0; j < step->count; j++)
        whole[j] = pn_lattice_round(leaf[j], length, 0x1p62);
    return false;
}

bool pn_prefix_has_far(const pn_prefix_step *step, const int64_t *whole)
{
    const int64_t most = (int64_t)1 << 62;
    bool far = false;

    for (size_t j = 0; j < step->count; j++)
        far |= whole[j] >= most || whole[j] <= -most;
    return far;
}

/* ---- paying ---- */

static pn_status check_owner(const pn_prefix *stream, pn_err *err)
{
    if (stream->owner == pn_process() || stream->design->options.noiseless)
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY,
                   "prefix: the stream belongs to process %ld; a forked child would draw the same noise again",
                   (long)stream->owner);
}

static pn_status check_ledger(const pn_prefix *stream, const pn_ledger *ledger, pn_err *err)
{
    pn_neighbours has, wants = stream->design->options.neighbours;

    if (!ledger)
        return pn_fail(err, PN_EINVAL, "prefix: a stream needs a ledger to pay from");
    if (stream->paid)
        return pn_fail(err, PN_EINVAL, "prefix: the stream, with all of its pushes, has been paid for already");
    if (stream->key.simulated && !pn_ledger_budget(ledger)->teaching)
        return pn_fail(
            err, PN_EPRIVACY,
            "prefix: this stream is seeded (simulated noise, no privacy) and the ledger is a real budget; use a secure "
            "stream, or a ledger opened with teaching = true");
    has = pn_ledger_budget(ledger)->neighbours;
    if (has != wants)
        return pn_fail(err, PN_EPRIVACY, "prefix: the ledger is for \"%s\" neighbours, the stream for \"%s\"",
                       pn_neighbours_names[has], pn_neighbours_names[wants]);
    return PN_OK;
}

pn_status pn_prefix_pay(pn_prefix *stream, pn_ledger *ledger, const char *label, bool paid_elsewhere, pn_err *err)
{
    pn_status status;

    if (stream->design->options.noiseless)
        return PN_OK;
    status = check_owner(stream, err);
    if (status == PN_OK)
        status = check_ledger(stream, ledger, err);
    if (status == PN_OK && !paid_elsewhere && !PN_MUTANT("charge_after"))
        status = pn_ledger_spend(ledger, stream->design->event, 1, label ? label : "prefix", err);
    if (status != PN_OK)
        return status;
    stream->paid = true;
    stream->teaching = pn_ledger_budget(ledger)->teaching;
    return PN_OK;
}

bool pn_prefix_is_paid(const pn_prefix *stream)
{
    return stream->paid || stream->design->options.noiseless;
}

/* ---- pushing ---- */

static pn_status check_open(const pn_prefix *stream, pn_err *err)
{
    if (stream->closed)
        return pn_fail(err, PN_EINVAL, "prefix: the stream takes no more leaves: %s", stream->closed);
    if (stream->ended)
        return pn_fail(err, PN_EBUDGET, "prefix: the stream was completed after %llu leaves and takes no more",
                       (unsigned long long)stream->count);
    return check_owner(stream, err);
}

static pn_status check_paid(const pn_prefix *stream, pn_err *err)
{
    return pn_prefix_is_paid(stream) ? PN_OK : pn_fail(err, PN_EPRIVACY, "prefix: the stream has not been paid for");
}

static pn_status check_room(const pn_prefix *stream, pn_err *err)
{
    const pn_prefix_options *options = &stream->design->options;
    uint64_t horizon = options->horizon > 0 ? options->horizon : PN_PREFIX_LONGEST;

    if (stream->count < horizon)
        return PN_OK;
    return pn_fail(
        err, PN_EBUDGET,
        "prefix: all %llu leaves of the horizon have been pushed; more need another stream, with a price of its own",
        (unsigned long long)horizon);
}

/* Index of the first |x| > bound, or n; a block at a time without branches. */
static size_t first_beyond(const double *x, size_t n, double bound)
{
    enum { STRIDE = 256 };
    size_t i = 0;

    for (; i + STRIDE <= n; i += STRIDE) {
        int beyond = 0;

        for (size_t j = i; j < i + STRIDE; j++)
            beyond |= fabs(x[j]) > bound;
        if (beyond)
            break;
    }
    while (i < n && !(fabs(x[i]) > bound))
        i++;
    return i;
}

static pn_status check_leaf(const pn_prefix *stream, const double *leaf, pn_err *err)
{
    const pn_prefix_options *options = &stream->design->options;
    size_t bad;

    if (options->clamp && options->bound > 0.0)
        return PN_OK;
    bad = pn_first_nonfinite(leaf, options->dim);
    if (bad < options->dim)
        return pn_fail(err, PN_EDOMAIN, "prefix: leaf %llu is not finite at entry %zu",
                       (unsigned long long)stream->count + 1, bad + 1);
    bad = options->bound > 0.0 ? first_beyond(leaf, options->dim, options->bound) : options->dim;
    if (bad < options->dim)
        return pn_fail(err, PN_EDOMAIN, "prefix: leaf %llu is beyond the bound %g at entry %zu",
                       (unsigned long long)stream->count + 1, options->bound, bad + 1);
    return PN_OK;
}

typedef struct push_call {
    pn_prefix *stream;
    const double *leaf; /* NULL: complete the stream */
    double *out;        /* may be NULL or leaf */
} push_call;

/* To public limits, so that no two leaves get further apart. */
static const double *clamp(const pn_prefix_step *step, const double *leaf, double bound)
{
    for (size_t j = 0; j < step->count; j++)
        step->clamped[j] = fmin(fmax(leaf[j], -bound), bound);
    return step->clamped;
}

static void push_block(void *self, size_t block, unsigned worker)
{
    const push_call *call = self;
    pn_prefix *stream = call->stream;
    const pn_prefix_options *options = &stream->design->options;
    pn_prefix_block view = pn_prefix_view(stream, block);

    if (options->noiseless) {
        for (size_t j = 0; j < view.count; j++)
            view.prefix[j] += call->leaf[view.first + j];
    } else {
        pn_prefix_step step = pn_prefix_step_of(stream, &view, block, worker);

        step.t++;
        step.leaf = call->leaf + view.first;
        if (options->clamp && options->bound > 0.0)
            step.leaf = clamp(&step, step.leaf, options->bound);
        stream->method->ops->push(stream->method, view.state, &step);
    }
    if (call->out && !stream->follower.pushed)
        release_block(&view, call->out);
    stream->done[block] = 1;
}

static void complete_block(void *self, size_t block, unsigned worker)
{
    const push_call *call = self;
    pn_prefix *stream = call->stream;
    pn_prefix_block view = pn_prefix_view(stream, block);
    pn_prefix_step step = pn_prefix_step_of(stream, &view, block, worker);

    stream->method->ops->complete(stream->method, view.state, &step);
    if (!stream->follower.pushed)
        release_block(&view, call->out);
    stream->done[block] = 1;
}

/* To the end, also when the task is cancelled meanwhile: half a push would be two releases. */
static void run_blocks(pn_prefix *stream, pn_task *task, pn_block_fn body, push_call *call)
{
    size_t blocks = pn_prefix_blocks(stream);

    memset(stream->done, 0, blocks);
    (void)pn_parallel(task, blocks, body, call, NULL);
    for (size_t block = 0; block < blocks; block++) {
        if (!stream->done[block])
            body(call, block, 0);
    }
}

static pn_status check_task(const pn_task *task, pn_err *err)
{
    return pn_task_stopped(task, NULL, err);
}

/* A stream that is followed by a file: what is released has been written there before. */
static pn_status hand_out(pn_prefix *stream, double *out, pn_err *err)
{
    pn_status status;

    if (!stream->follower.pushed)
        return PN_OK;
    status = stream->follower.pushed(stream->follower.self, stream, err);
    if (status != PN_OK) {
        stream->closed = "its file could not be written; resume it from there";
        stream->withheld = true;
    }
    return status == PN_OK && out ? pn_prefix_read(stream, out, err) : status;
}

pn_status pn_prefix_admits(const pn_prefix *stream, const double *leaf, pn_err *err)
{
    pn_status status = check_open(stream, err);

    if (status == PN_OK)
        status = check_room(stream, err);
    return status == PN_OK ? check_leaf(stream, leaf, err) : status;
}

pn_status pn_prefix_push(pn_prefix *stream, const double *leaf, double *out, pn_task *task, pn_err *err)
{
    push_call call = { stream, leaf, out };
    pn_status status = pn_prefix_admits(stream, leaf, err);

    if (status == PN_OK)
        status = check_paid(stream, err);
    if (status == PN_OK)
        status = check_task(task, err);
    if (status == PN_OK)
        status = pn_prefix_hire(stream, task, err);
    if (status == PN_OK)
        status = pn_prefix_grow(stream, err);
    if (status != PN_OK)
        return status;
    run_blocks(stream, task, push_block, &call);
    stream->count++;
    return hand_out(stream, out, err);
}

/* ---- reading ---- */

static pn_status check_begun(const pn_prefix *stream, pn_err *err)
{
    if (stream->withheld)
        return pn_fail(err, PN_EIO,
                       "prefix: the last release is not in its file, so it is withheld; resume the stream from there");
    return stream->count > 0 ? PN_OK
                             : pn_fail(err, PN_EINVAL, "prefix: nothing has been pushed yet; push a leaf, then read");
}

pn_status pn_prefix_read(const pn_prefix *stream, double *out, pn_err *err)
{
    pn_status status = check_begun(stream, err);

    for (size_t block = 0; status == PN_OK && block < pn_prefix_blocks(stream); block++) {
        pn_prefix_block view = pn_prefix_view(stream, block);

        release_block(&view, out);
    }
    return status;
}

uint64_t pn_prefix_count(const pn_prefix *stream)
{
    return stream->count;
}

bool pn_prefix_simulated(const pn_prefix *stream)
{
    return stream->key.simulated;
}

const pn_prefix_design *pn_prefix_design_of(const pn_prefix *stream)
{
    return stream->design;
}

/* ---- completing ---- */

pn_status pn_prefix_complete(pn_prefix *stream, double *out, double *variance, pn_task *task, pn_err *err)
{
    const pn_prefix_method *method = stream->method;
    push_call call = { stream, NULL, out };
    uint64_t before = pn_prefix_before(stream);
    double square = method->sigma * method->sigma;
    pn_status status;

    if (stream->design->options.noiseless || !method->ops->completes || !method->ops->completes(method))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "prefix: only a binary tree with noise and with its root kept (keep_root) can be completed");
    status = check_begun(stream, err);
    if (status == PN_OK)
        status = check_open(stream, err);
    if (status == PN_OK)
        status = check_paid(stream, err);
    if (status == PN_OK)
        status = check_task(task, err);
    if (status == PN_OK)
        status = pn_prefix_hire(stream, task, err);
    if (status != PN_OK)
        return status;
    if (variance)
        *variance = square * method->ops->complete_variance(method, stream->count - before) +
                    (before > 0 ? pn_prefix_design_variance(stream->design, before) : 0.0);
    run_blocks(stream, task, complete_block, &call);
    stream->ended = true;
    return hand_out(stream, out, err);
}

typedef struct all_call {
    const pn_prefix *stream;
    double *out, *work;
    size_t doubles; /* of work, a worker */
} all_call;

static void all_block(void *self, size_t block, unsigned worker)
{
    const all_call *call = self;
    const pn_prefix_method *method = call->stream->method;
    pn_prefix_block view = pn_prefix_view(call->stream, block);
    pn_prefix_step step = { .t = call->stream->count, .count = view.count, .stride = view.stride, .block = block };

    method->ops->all(method, view.state, &step, call->work + worker * call->doubles, call->out + view.first,
                     call->stream->design->options.dim);
}

pn_status pn_prefix_all(const pn_prefix *stream, double *out, pn_task *task, pn_err *err)
{
    const pn_prefix_method *method = stream->method;
    size_t doubles =
        method->ops->all_doubles && !stream->design->options.noiseless ? method->ops->all_doubles(method) : 0;
    all_call call = { .stream = stream, .out = out, .doubles = doubles };
    pn_status status;

    if (doubles == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "prefix: only a binary tree with estimator \"full\" estimates all prefixes");
    PN_TRY(check_begun(stream, err));
    if (stream->count < method->horizon)
        return pn_fail(err, PN_EINVAL,
                       "prefix: all prefixes are estimated after the last of %llu leaves; %llu have been pushed",
                       (unsigned long long)method->horizon, (unsigned long long)stream->count);
    PN_TRY(pn_new(&call.work, (size_t)pn_task_threads(task) * doubles, err, "prefix: out of memory"));
    status = pn_parallel(task, pn_prefix_blocks(stream), all_block, &call, err);
    pn_free(call.work);
    return status;
}
