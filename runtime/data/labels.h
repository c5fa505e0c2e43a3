/* labels.h -- what the loaders do to labels.  Depends on: dataset.h.  Used by: libsvm.c, csv.c, csv_label.c. */
#ifndef PN_DATA_LABELS_H
#define PN_DATA_LABELS_H

#include "data/dataset.h"

/** A mapping of `count` labels: not empty, not beside `binary`, finite.  owner: "libsvm".  Errors: PN_EINVAL. */
pn_status pn_labels_check(const char *owner, const pn_label_options *options, pn_err *err);
/** The smaller of the two values found becomes -1, the larger 1.  Errors: PN_EDOMAIN unless there are two. */
pn_status pn_labels_make_binary(pn_dataset *data, const char *path, pn_err *err);
/** What the options enforce about the labels of a data set that has been loaded by them. */
void pn_labels_enforce(pn_dataset *data, const pn_label_options *options);
/** The labels that a mapping knows, as far as they fit: "1, 2, >50K". */
void pn_labels_list(char *text, size_t size, const pn_label_options *options);

#endif
