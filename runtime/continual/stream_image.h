/* stream_image.h -- what of a stream goes into a file, as bytes.
 * That is what prefix_impl.h lists: the options, from which the design is made again and compared, a few scalars, the
 * key of the noise, and the state as it lies in memory.  Everything is as the machine has it; a file does not leave its
 * machine (checkpoint_file.h).
 * Depends on: prefix.h.  Used by: checkpoint.c. */
#ifndef PN_CONTINUAL_STREAM_IMAGE_H
#define PN_CONTINUAL_STREAM_IMAGE_H

#include <stddef.h>

#include "continual/prefix.h"

/* Secret: it holds the key.  Zeroed, or written before, whose memory it then takes where that is large enough. */
typedef struct pn_stream_image {
    unsigned char *bytes; /* [size] */
    size_t size, room;
} pn_stream_image;

/** Errors: PN_ENOMEM. */
pn_status pn_stream_image_write(pn_stream_image *self, const pn_prefix *stream, pn_err *err);
void pn_stream_image_clear(pn_stream_image *self);

/** The stream of data[size], at 16 bytes of alignment; a secure one gets a new key where what was drawn need not be
 *  drawn again.
 *    path  for messages.
 *  Errors: PN_EPARSE for bytes that do not fit together, or of a version that chooses other noise; as
 *  pn_prefix_design_new; PN_ENOMEM. */
pn_status pn_stream_image_read(pn_prefix **out, const unsigned char *data, size_t size, const char *path, pn_err *err);

#endif
