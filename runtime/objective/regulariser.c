/* regulariser.c -- the table of regularisers and their reference counts.  Depends on: regulariser.h.  Used by: objective.c, bindings. */
#include <stddef.h>

#include "objective/regulariser.h"

pn_regulariser *pn_regulariser_keep(pn_regulariser *regulariser)
{
    regulariser->references++;
    return regulariser;
}

void pn_regulariser_free(pn_regulariser *regulariser)
{
    if (regulariser && --regulariser->references == 0)
        regulariser->ops->destroy(regulariser);
}
