/* model_json.h -- models as JSON (MODEL-JSON.md).  Private to model*.c.
 * Depends on: model_file.h, jansson. */
#ifndef PN_MODEL_MODEL_JSON_H
#define PN_MODEL_MODEL_JSON_H

#include <jansson.h>

#include "model/model_file.h"

#define PN_MODEL_JSON_FORMAT  "penumbra model"
#define PN_MODEL_JSON_VERSION 1

/** The Model as a file of mode 600, whole or not at all.  Errors: PN_EIO, PN_ENOMEM; PN_EINVAL for more than
 *  PN_MODEL_JSON_MOST bytes. */
pn_status pn_model_json_put(const char *path, const struct Penumbra__Model *model, pn_err *err);
/** What "features" is with a recipe; NULL when memory is short. */
json_t *pn_model_json_features(const pn_recipe *recipe);
/** From text[size], a zero byte behind it, that need not be what it says it is.  Errors: as pn_model_decode, and
 *  PN_EUNSUPPORTED for another version. */
pn_status pn_model_json_read(pn_fit **fit, pn_model_about **about, const char *text, size_t size, const char *path,
                             pn_err *err);

#endif
