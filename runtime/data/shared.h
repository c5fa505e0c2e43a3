/* shared.h -- records in memory that processes share: written once, sealed,
 * then mapped for reading by whoever is handed the descriptor.
 * Depends on: dataset.h, core/vault.h, Linux (memfd).  Used by: bindings/curator/. */
#ifndef PN_DATA_SHARED_H
#define PN_DATA_SHARED_H

#include "data/dataset.h"

/** *fd: a descriptor of a sealed copy of the records and of what is enforced of them, without names;
 *  closed by the caller.
 *  Errors: PN_EUNSUPPORTED for records that are not all here, and where the system has no such memory;
 *  PN_EIO when it has none left. */
pn_status pn_dataset_publish(int *fd, const pn_dataset *data, pn_err *err);

/** The records behind `fd`, which may be closed afterwards, as part of the vault,
 *  for the life of the process: *out is not freed.
 *  Errors: PN_EPARSE for a descriptor of something else; PN_ENOMEM. */
pn_status pn_dataset_attach(pn_dataset **out, int fd, const char *name, pn_err *err);

#endif
