/* model_file.h -- the two halves of a model file: bytes on the disk, and what they say.  Private to model*.c.
 * Depends on: model.h. */
#ifndef PN_MODEL_MODEL_FILE_H
#define PN_MODEL_MODEL_FILE_H

#include "model/model.h"

#define PN_MODEL_HEAD   24                /* magic, version, zero, length */
#define PN_MODEL_DIGEST 32                /* behind everything else */
#define PN_MODEL_MOST   ((size_t)1 << 30) /* bytes between them */

#define PN_MODEL_JSON_MOST ((size_t)1 << 26) /* bytes */
#define PN_MODEL_RECIPE    ((size_t)1 << 20) /* bytes of a recipe's JSON, at most, with its end */
#define PN_MODEL_WORDS     256               /* of a set or regulariser */

/* ---- model_file.c: whole files ---- */

/** Fill the head and the digest of bytes[PN_MODEL_HEAD + size + PN_MODEL_DIGEST],
 *  and put them in place of `path`.  Errors: PN_EIO, PN_ENOMEM. */
pn_status pn_model_file_put(const char *path, unsigned char *bytes, size_t size, pn_err *err);
/** The checked bytes between head and digest: *bytes is allocated and has them from PN_MODEL_HEAD on.
 *  Errors: as pn_model_load. */
pn_status pn_model_file_get(const char *path, unsigned char **bytes, size_t *size, pn_err *err);
/** The whole of a file that is JSON: *text is allocated and ends with a zero byte behind text[*size].
 *  *text is NULL when it is not.  Errors: as pn_model_load. */
pn_status pn_model_file_text(const char *path, char **text, size_t *size, pn_err *err);

/* ---- model.c ---- */

/** What a terminal would obey, but for line breaks, becomes '?'. */
void pn_model_clean(char *text);
/** A fit and what is known of its run as a file of them would give them back, but for its version: in no file yet.
 *  Errors: PN_EINVAL for a theta that is not finite; PN_ENOMEM. */
pn_status pn_model_copy(pn_fit **fit_out, pn_model_about **about_out, const pn_fit *fit, const pn_model_about *about,
                        pn_err *err);

/* ---- model_load.c, model_read.c ---- */

/** From bytes that need not be what they say they are.  `path` is for messages.  Errors: PN_EPARSE, PN_ENOMEM. */
pn_status pn_model_decode(pn_fit **fit, pn_model_about **about, const unsigned char *bytes, size_t size,
                          const char *path, pn_err *err);
struct Penumbra__Model;
/** From a Model that need not be one: its texts and numbers are checked, and copied.  Errors: likewise. */
pn_status pn_model_accept(pn_fit **fit, pn_model_about **about, const struct Penumbra__Model *model, const char *path,
                          pn_err *err);

/* ---- model_matrices.c ---- */

/** What a Model says of moments and curvature makes sense.  Errors: PN_EPARSE. */
pn_status pn_model_check_matrices(const struct Penumbra__Model *model, const char *path, pn_err *err);
/** Copy them into the fit, whose p is known.  Errors: PN_ENOMEM. */
pn_status pn_model_read_matrices(pn_fit *fit, const struct Penumbra__Model *model, pn_err *err);

#endif
