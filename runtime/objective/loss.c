/* loss.c -- the table of losses and their reference counts.  Depends on: loss.h.  Used by: objective.c, bindings. */
#include <stdio.h>
#include <string.h>

#include "objective/loss.h"

extern const pn_loss_ops pn_loss_squared, pn_loss_logistic;

static const pn_loss_ops *const loss_table[] = { &pn_loss_squared, &pn_loss_logistic, NULL };

const pn_loss_ops *const *pn_loss_table(void)
{
    return loss_table;
}

static void list_names(char *text, size_t size)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; loss_table[i] && used < size; i++) {
        int n = snprintf(text + used, size - used, "%s%s", i ? ", " : "", loss_table[i]->name);

        used += n > 0 ? (size_t)n : 0;
    }
}

pn_status pn_loss_new(pn_loss **out, const char *name, pn_arg *args, pn_err *err)
{
    char owner[64], known[256];

    *out = NULL;
    for (size_t i = 0; loss_table[i]; i++) {
        pn_status status;

        if (strcmp(loss_table[i]->name, name) != 0)
            continue;
        (void)snprintf(owner, sizeof owner, "loss.%s", name);
        status = pn_args_check(owner, loss_table[i]->params, args, err);
        return status != PN_OK ? status : loss_table[i]->create(out, args, err);
    }
    list_names(known, sizeof known);
    return pn_fail(err, PN_EUNSUPPORTED, "loss: there is no loss \"%.60s\"; known are %s", name, known);
}

pn_loss *pn_loss_keep(pn_loss *loss)
{
    loss->references++;
    return loss;
}

void pn_loss_free(pn_loss *loss)
{
    if (loss && --loss->references == 0)
        loss->ops->destroy(loss);
}
