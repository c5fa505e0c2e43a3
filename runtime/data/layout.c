/* layout.c -- see layout.h.  Depends on: layout.h, build.h, core/size.h.  Used by: shared.c, files/. */
#include <string.h>

#include "core/size.h"
#include "data/build.h"
#include "data/layout.h"

#define ALIGN ((size_t)64)
#define MOST  ((uint64_t)1 << 48) /* records, features, entries, bytes of a text: what follows does not overflow */

pn_layout_sizes pn_layout_sizes_of(const pn_dataset *data, bool texts)
{
    return (pn_layout_sizes){ .n = data->n,
                              .p = data->p,
                              .entries = data->sparse ? pn_dataset_stored(data) : 0,
                              .first = data->first,
                              .held = data->held,
                              .sparse = data->sparse,
                              .float32 = data->float32,
                              .name = texts ? strlen(data->name) + 1 : 0,
                              .features = texts ? data->feature_bytes : 0,
                              .recipe = texts && data->recipe ? strlen(data->recipe) + 1 : 0 };
}

static bool sensible(const pn_layout_sizes *sizes)
{
    return sizes->n > 0 && sizes->n <= MOST && sizes->p > 0 && sizes->p <= MOST && sizes->entries <= MOST &&
           sizes->sparse <= 1 && sizes->float32 <= 1 && (sizes->sparse || sizes->entries == 0) &&
           sizes->held < sizes->n && sizes->first <= sizes->n - sizes->held && (sizes->held > 0 || sizes->first == 0) &&
           sizes->name <= MOST && sizes->features <= MOST && sizes->recipe <= MOST;
}

bool pn_layout_find(pn_layout *out, const pn_layout_sizes *sizes)
{
    size_t cells = sizes->entries, rows = sizes->held ? sizes->held : sizes->n, at = PN_LAYOUT_FIRST;
    size_t most = (size_t)1 << 60;
    bool sparse = sizes->sparse, wide = !sizes->float32;

    memset(out, 0, sizeof *out);
    if (!sensible(sizes) || (!sparse && (!pn_size_multiply(&cells, rows, sizes->p) || cells > most / sizeof(double))))
        return false;
    out->bytes[PN_ARRAY_LABELS] = sizes->n * sizeof(double);
    out->bytes[sparse ? PN_ARRAY_VALUE : PN_ARRAY_DENSE] = wide ? cells * sizeof(double) : 0;
    out->bytes[sparse ? PN_ARRAY_CSR_SINGLE : PN_ARRAY_SINGLE] = wide ? 0 : cells * sizeof(float);
    out->bytes[PN_ARRAY_START] = sparse ? (sizes->n + 1) * sizeof(size_t) : 0;
    out->bytes[PN_ARRAY_COLUMN] = sparse ? cells * sizeof(uint32_t) : 0;
    out->bytes[PN_ARRAY_NAME] = sizes->name;
    out->bytes[PN_ARRAY_FEATURES] = sizes->features;
    out->bytes[PN_ARRAY_RECIPE] = sizes->recipe;
    for (int i = 0; i < PN_ARRAYS; i++) {
        out->offset[i] = at;
        at += (out->bytes[i] + ALIGN - 1) / ALIGN * ALIGN;
    }
    out->end = at;
    return true;
}

void pn_layout_arrays(const pn_dataset *data, const void *from[PN_ARRAYS])
{
    const void *const arrays[PN_ARRAYS] = { data->y,          data->dense,     data->single,     data->csr.start,
                                            data->csr.column, data->csr.value, data->csr_single, data->name,
                                            data->features,   data->recipe };

    memcpy(from, arrays, sizeof arrays);
}

static void *place(char *base, const pn_layout *layout, pn_array which)
{
    return base + layout->offset[which];
}

static void *array(char *base, const pn_layout *layout, pn_array which)
{
    return layout->bytes[which] > 0 ? place(base, layout, which) : NULL;
}

void pn_layout_view(pn_dataset *data, char *base, const pn_layout *layout, const pn_layout_sizes *sizes)
{
    data->n = sizes->n;
    data->p = sizes->p;
    data->sparse = sizes->sparse;
    data->partial = sizes->held > 0;
    data->first = sizes->first;
    data->held = sizes->held;
    data->float32 = sizes->float32;
    data->y = array(base, layout, PN_ARRAY_LABELS);
    data->dense = array(base, layout, PN_ARRAY_DENSE);
    data->single = array(base, layout, PN_ARRAY_SINGLE);
    if (sizes->sparse) /* one without entries has them somewhere, too: a row is a place in them */
        data->csr =
            (pn_csr){ sizes->n, sizes->p, array(base, layout, PN_ARRAY_START), place(base, layout, PN_ARRAY_COLUMN),
                      sizes->float32 ? NULL : place(base, layout, PN_ARRAY_VALUE) };
    if (sizes->sparse && sizes->float32)
        data->csr_single = place(base, layout, PN_ARRAY_CSR_SINGLE);
}
