/* model_save.c -- the file of a run that has its plan: its text and its receipt are made here.
 * Depends on: model.h, receipt.  Used by: bindings, hosts. */
#include <math.h>

#include "core/alloc.h"
#include "model/model.h"
#include "receipt/receipt.h"

/* As `form`; value is NULL where it is JSON. */
static pn_status save(const char *path, const pn_fit *fit, const pn_plan *plan, const double *value,
                      const char *receipt, pn_model_form form, pn_err *err)
{
    int length = pn_plan_describe(plan, NULL, 0);
    size_t room = (size_t)(length > 0 ? length : 0) + 1;
    char *text = pn_alloc(room, 1);
    pn_model_about about;
    pn_status status;

    PN_TRY(pn_made(text, err, "model: out of memory"));
    (void)pn_plan_describe(plan, text, room);
    pn_model_about_of(&about, plan);
    about.plan = text;
    about.raw = value != NULL;
    about.value = value ? *value : NAN;
    about.receipt = receipt;
    status = pn_model_write(path, fit, &about, form, err);
    pn_free(text);
    return status;
}

pn_status pn_model_save_by(const char *path, const pn_fit *fit, const pn_plan *plan, const double *value,
                           const char *lua, pn_err *err)
{
    char *receipt = NULL;
    pn_status status = fit->is_private ? pn_fit_receipt(&receipt, fit, plan, lua, err) : PN_OK;

    if (status == PN_OK)
        status = save(path, fit, plan, value, receipt, PN_MODEL_FILE, err);
    pn_free(receipt);
    return status;
}

pn_status pn_model_save(const char *path, const pn_fit *fit, const pn_plan *plan, const double *value, pn_err *err)
{
    return pn_model_save_by(path, fit, plan, value, NULL, err);
}

pn_status pn_model_export(const char *path, const pn_fit *fit, const pn_plan *plan, pn_err *err)
{
    return save(path, fit, plan, NULL, NULL, PN_MODEL_JSON, err);
}
