/* checkpoint_file.h -- a file that holds the state of one stream, in one place, and knows whether it may be gone on
 * from.  Knows nothing of what the state is: parties and servers of federated runs keep theirs in it as well.
 * Private to continual/ and federated/.
 * Depends on: core/, privacy/ledger/ledger_disk.h, libsodium, POSIX.  Used by: checkpoint.c,
 * party_checkpoint.c, server_state.c.
 *
 * Two sectors, then states.  Each sector has the version, a sequence number, what the file is good for, the stream's
 * random id, the place of the file (inode and birth, so that a copy is told from it), where its state lies, and digests
 * of state and sector.  A COMMIT writes the new state where it overwrites nothing that counts, and the first sector;
 * syncs; writes the second sector; syncs.  Nothing may be handed out before it returns.
 *
 * Whatever instruction the process dies at, the second sector is the old one or the new one,
 * and its state is whole: that is what
 * counts.  Should the disk tear it, the first one was synced before, with its state.  Both are damaged only by
 * something else than a crash, which is refused: going back to an older state would draw noise twice.
 *
 * A copy that is put back into the file is older than the mark beside the contents (core/file_place.h), where the file
 * system has extended attributes.
 *
 * The digests tell of damage, not of forgery: who can write the file can do as he likes.  What is not noticed either: a
 * copy of the whole disk, or of a machine. */
#ifndef PN_CONTINUAL_CHECKPOINT_FILE_H
#define PN_CONTINUAL_CHECKPOINT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/file_place.h"
#include "core/status.h"

#define PN_CHECKPOINT_ID PN_FILE_ID

typedef enum pn_checkpoint_mode {
    PN_CHECKPOINT_PARKED = 1, /* saved: to be resumed once */
    PN_CHECKPOINT_FOLLOWED,   /* the state of a stream that is or was alive; the lock says which */
    PN_CHECKPOINT_TAKEN       /* the stream is elsewhere; there is no state */
} pn_checkpoint_mode;

typedef struct pn_checkpoint_file pn_checkpoint_file;

/* Whose file it is, for messages; static. */
typedef struct pn_checkpoint_owner {
    const char *name; /* what they begin with: "prefix" */
    const char *what; /* what is kept: "stream", of which a second one would reuse noise */
} pn_checkpoint_owner;

/**
 * Make the file: mode 600, whole or not at all, durable, locked.  It may take the place of a file that is TAKEN and has
 * the same id.
 *   published  whether the file is there for others to go on from: true after success,
 *              and after a failure to make it durable.
 * Errors: PN_EIO; PN_EINVAL when something else is there; PN_ENOMEM.
 */
pn_status pn_checkpoint_make(pn_checkpoint_file **out, const pn_checkpoint_owner *owner, const char *path,
                             const unsigned char id[PN_CHECKPOINT_ID], pn_checkpoint_mode mode, const void *state,
                             size_t size, bool *published, pn_err *err);

/**
 * Open, lock and check.  *state[*size]: allocated, 16 bytes of alignment; to be erased by whoever gets it.
 * Errors: PN_EIO when it cannot be opened or is locked; PN_EPARSE when it is no checkpoint,
 * of another version or machine, cut or
 *         changed; PN_EPRIVACY when it is TAKEN, a copy or put back; PN_ENOMEM.
 */
pn_status pn_checkpoint_open(pn_checkpoint_file **out, const pn_checkpoint_owner *owner, const char *path, void **state,
                             size_t *size, pn_err *err);

/** Replace mode and state, durably.  Errors: PN_EIO: nothing is to be handed out; the file holds what it held,
 *  or the new state. */
pn_status pn_checkpoint_commit(pn_checkpoint_file *file, pn_checkpoint_mode mode, const void *state, size_t size,
                               pn_err *err);

/** Lets go of the lock.  NULL allowed. */
void pn_checkpoint_close(pn_checkpoint_file *file);

const char *pn_checkpoint_path(const pn_checkpoint_file *file);
const unsigned char *pn_checkpoint_id(const pn_checkpoint_file *file);
pn_checkpoint_mode pn_checkpoint_mode_of(const pn_checkpoint_file *file);

#endif
