/* checkpoint_kit.h -- a folder for files, and streams that are started, paid for, pushed and resumed; for the tests of
 * checkpoints, which build the file with its crash points and with a disk that may fail.
 * Depends on: check.h, folder.h, continual/, POSIX. */
#ifndef PN_TESTS_CHECKPOINT_KIT_H
#define PN_TESTS_CHECKPOINT_KIT_H

#define PN_MUTANTS
#include "core/file.h"
#include "privacy/ledger/ledger_disk.h"

static int fail_write; /* the write from now that fails, from 1; 0: none */

static inline int failing_write(int fd, const void *data, size_t size, size_t offset)
{
    return fail_write > 0 && --fail_write == 0 ? 28 /* ENOSPC */ : pn_file_write(fd, data, size, offset);
}

#define pn_file_write failing_write
#include "continual/checkpoint_file.c"

#include <stdlib.h>
#include <sys/wait.h>

#include "check.h"
#include "continual/prefix_impl.h"
#include "folder.h"

#define MOST_DIM 5000 /* two blocks */

static char directory[200], path[256], other[256];

static inline void remove_files(void)
{
    folder_empty(directory);
}

/* ---- streams ---- */

static inline pn_status start(pn_prefix **out, const pn_prefix_options *options, bool secure, pn_err *err)
{
    pn_prefix_design *design = NULL;
    pn_rng *rng = NULL;
    pn_status status = pn_prefix_design_new(&design, options, err);

    if (status == PN_OK && !options->noiseless)
        status = secure ? pn_rng_secure(&rng, err) : pn_rng_seeded(&rng, 11, err);
    if (status == PN_OK)
        status = pn_prefix_new(out, design, rng, err);
    pn_prefix_design_free(design);
    pn_rng_free(rng);
    return status;
}

static inline pn_status pay(pn_prefix *stream, pn_err *err)
{
    pn_budget budget = { .epsilon = NAN,
                         .rho = 1e6,
                         .neighbours = pn_prefix_options_of(pn_prefix_design_of(stream))->neighbours,
                         .teaching = pn_prefix_simulated(stream) };
    pn_ledger *ledger = NULL;
    pn_status status = pn_ledger_new(&ledger, &budget, err);

    if (status == PN_OK)
        status = pn_prefix_pay(stream, ledger, "test", false, err);
    pn_ledger_free(ledger);
    return status;
}

static inline pn_prefix *started(const pn_prefix_options *options, bool secure)
{
    pn_prefix *stream = NULL;
    pn_err err;

    if (!CHECK(start(&stream, options, secure, &err) == PN_OK && pay(stream, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return stream;
}

static inline void make_leaf(double *leaf, size_t dim, uint64_t t)
{
    for (size_t j = 0; j < dim; j++)
        leaf[j] = 0.01 * (double)((t * 37 + j * 11) % 97) - 0.3;
}

/* The next leaf, by its number; out may be NULL. */
static inline pn_status push_next(pn_prefix *stream, double *out, pn_err *err)
{
    static double leaf[MOST_DIM];

    make_leaf(leaf, pn_prefix_options_of(pn_prefix_design_of(stream))->dim, pn_prefix_count(stream) + 1);
    return pn_prefix_push(stream, leaf, out, NULL, err);
}

static inline pn_prefix *resumed(const char *from)
{
    pn_prefix *stream = NULL;
    pn_err err;

    if (!CHECK(pn_prefix_resume(&stream, from, &err) == PN_OK))
        (void)fprintf(stderr, "    %s\n", err.message);
    return stream;
}

static inline bool refuses(const char *from, pn_status status, const char *text)
{
    pn_prefix *stream = NULL;
    pn_err err;
    bool right = pn_prefix_resume(&stream, from, &err) == status && !stream && strstr(err.message, text);

    if (!right)
        (void)fprintf(stderr, "    %s\n", stream ? "resumed" : err.message);
    pn_prefix_free(stream);
    return right;
}

/* ---- the folder ---- */

static inline bool enter(const char *base)
{
    (void)snprintf(directory, sizeof directory, "%s/penumbra-XXXXXX", base);
    if (!mkdtemp(directory))
        return false;
    (void)snprintf(path, sizeof path, "%s/stream", directory);
    (void)snprintf(other, sizeof other, "%s/other", directory);
    return true;
}

static inline void leave(void)
{
    remove_files();
    CHECK(rmdir(directory) == 0);
}

#endif
