/* model_load.c -- a fit from a file: a model file or JSON.
 * Depends on: model_file.h, model_json.h, the code generated from model.proto, libprotobuf-c, core/purse.h.
 * Used by: bindings, hosts.
 *
 * The decoder takes its memory from a purse that holds a small multiple of the file's length.  What it returns is
 * encoded as long as the bytes were, or the bytes held something that does not belong there. */
#include "core/alloc.h"
#include "core/purse.h"
#include "model/model.pb-c.h"
#include "model/model_json.h"

#define PURSE_FLOOR 65536 /* structs, and the decoder's notes on their fields */

/* Nothing but known fields, each once, encoded as every writer does: the same fields take as many bytes again. */
static bool is_plain(const Penumbra__Model *m, size_t size)
{
    return m->base.n_unknown_fields == 0 && (!m->privacy || m->privacy->base.n_unknown_fields == 0) &&
           (!m->certificate || m->certificate->base.n_unknown_fields == 0) &&
           (!m->trace || m->trace->base.n_unknown_fields == 0) &&
           (!m->figures || m->figures->base.n_unknown_fields == 0) &&
           (!m->moments || m->moments->base.n_unknown_fields == 0) &&
           (!m->curvature || m->curvature->base.n_unknown_fields == 0) &&
           (!m->bounds || m->bounds->base.n_unknown_fields == 0) && penumbra__model__get_packed_size(m) == size;
}

pn_status pn_model_decode(pn_fit **fit, pn_model_about **about, const unsigned char *bytes, size_t size,
                          const char *path, pn_err *err)
{
    pn_purse money = { .left = 2 * size + PURSE_FLOOR };
    ProtobufCAllocator allocator = { pn_purse_alloc, pn_purse_free, &money };
    Penumbra__Model *model = penumbra__model__unpack(&allocator, size, bytes);
    pn_status status;

    if (!model && money.refused)
        return pn_fail(err, PN_ENOMEM, "model: %.300s: out of memory for reading %zu bytes", path, size);
    if (!model)
        return pn_fail(err, PN_EPARSE, "model: %.300s: %s", path,
                       money.empty ? "it expands to more than a model can hold"
                                   : "its contents are not a model, or lack a part of one");
    status = is_plain(model, size)
                 ? pn_model_accept(fit, about, model, path, err)
                 : pn_fail(err, PN_EPARSE, "model: %.300s: it has repeated, unknown or non-canonical fields", path);
    penumbra__model__free_unpacked(model, &allocator);
    return status;
}

pn_status pn_model_load(pn_fit **fit, pn_model_about **about, const char *path, pn_err *err)
{
    unsigned char *bytes;
    size_t size;
    char *text;
    pn_status status = pn_model_file_text(path, &text, &size, err);

    if (status != PN_OK)
        return status;
    if (text) {
        status = pn_model_json_read(fit, about, text, size, path, err);
        pn_free(text);
        return status;
    }
    PN_TRY(pn_model_file_get(path, &bytes, &size, err));
    status = pn_model_decode(fit, about, bytes + PN_MODEL_HEAD, size, path, err);
    pn_free(bytes);
    return status;
}

void pn_model_about_free(pn_model_about *about)
{
    pn_free(about); /* first in its record */
}
