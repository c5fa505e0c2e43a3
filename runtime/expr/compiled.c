/* compiled.c -- a formula and its derivatives as programs.  Depends on: compiled.h.  Used by: compiled.h's callers. */
#include "expr/compiled.h"

#include <string.h>

void pn_compiled_clear(pn_compiled *self)
{
    pn_program_free(self->value);
    pn_program_free(self->slope);
    pn_program_free(self->both);
    pn_program_free(self->curvature);
    pn_graph_free(self->graph);
    memset(self, 0, sizeof *self);
}

static pn_status compile(pn_compiled *self, pn_err *err)
{
    pn_node slope = pn_graph_derivative(self->graph, self->root, 0);
    pn_node curvature = pn_graph_derivative(self->graph, slope, 0);
    pn_status status = pn_graph_status(self->graph, err);

    self->slope_root = slope;
    if (status == PN_OK)
        status = pn_program_new(&self->value, self->graph, &self->root, 1, err);
    if (status == PN_OK)
        status = pn_program_new(&self->slope, self->graph, &slope, 1, err);
    if (status == PN_OK)
        status = pn_program_new(&self->both, self->graph, (pn_node[2]){ self->root, slope }, 2, err);
    if (status == PN_OK)
        status = pn_program_new(&self->curvature, self->graph, &curvature, 1, err);
    return status;
}

pn_status pn_compiled_open(pn_compiled *out, pn_graph *graph, pn_node root, pn_err *err)
{
    pn_status status;

    *out = (pn_compiled){ .graph = pn_graph_keep(graph), .root = root };
    status = compile(out, err);
    if (status != PN_OK)
        pn_compiled_clear(out);
    return status;
}

void pn_compiled_run(const pn_compiled *self, size_t n, const double *const *inputs, double *value, double *slope)
{
    if (value && slope)
        pn_program_run(self->both, n, inputs, (double *[2]){ value, slope });
    else if (value)
        pn_program_run(self->value, n, inputs, &value);
    else if (slope)
        pn_program_run(self->slope, n, inputs, &slope);
}
