/* status.h -- what a function that can fail returns, and the message it leaves.  Depends on: libc. */
#ifndef PENUMBRA_STATUS_H
#define PENUMBRA_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PN_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define PN_PRINTF(text, first)
#endif

typedef enum pn_status {
    PN_OK = 0,
    PN_EINVAL,       /* a parameter outside its range */
    PN_EDIM,         /* sizes that do not fit together; the message names both */
    PN_EDOMAIN,      /* NaN or infinity where numbers are needed, or a value outside the declared domain */
    PN_ENOMEM,       /* the allocator refused */
    PN_EIO,          /* a file could not be opened, read or written */
    PN_EPARSE,       /* a file was read and is malformed; the message has file, line and column */
    PN_EBUDGET,      /* the ledger does not cover the release; nothing was charged */
    PN_EPRIVACY,     /* a guarantee that cannot be given: uncertified sensitivity, seeded noise on a real budget */
    PN_ECANCELLED,   /* the task was cancelled */
    PN_ECALLBACK,    /* a user's callback failed; its own error value is with the caller */
    PN_EUNSUPPORTED, /* a combination that does not exist; the message says what does */
    PN_ENUMERIC,     /* an iteration did not converge or overflowed */
    PN_ELIMIT        /* a host's limit of time, instructions or memory was reached; the message says which */
} pn_status;

#define PN_ERR_MAX 640

/* Caller-owned; need not be initialised.  Valid only after a call that returned something else than PN_OK. */
typedef struct pn_err {
    pn_status status;
    char message[PN_ERR_MAX];
} pn_err;

/**
 * Record a failure and return its code, so that `return pn_fail(err, PN_EDIM, "...", ...)` reads as one thought.
 *   err     may be NULL: then only the code is returned.
 *   format  as printf; cut at PN_ERR_MAX.  Names arguments, shapes and public parameters, never private values.
 */
pn_status pn_fail(pn_err *err, pn_status status, const char *format, ...) PN_PRINTF(3, 4);

/** "PN_EDIM" for PN_EDIM; never NULL. */
const char *pn_status_name(pn_status status);

/** What the status means, for people: "sizes do not fit together" for PN_EDIM; never NULL. */
const char *pn_status_text(pn_status status);

#ifdef __cplusplus
}
#endif

#endif
