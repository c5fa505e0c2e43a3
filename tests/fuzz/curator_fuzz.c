/* curator_fuzz.c -- what the process of an analyst's script asks of the ledger that pays for it: a frame that was
 * received.  Whatever it says, the budget is never overdrawn, and an answer goes back as it was made.
 * Depends on: fuzz.h, bindings/curator/wire.h. */
#include <math.h>
#include <string.h>

#include "bindings/curator/wire.h"
#include "fuzz/fuzz.h"

static pn_ledger *open_ledger(bool pure)
{
    const pn_budget budget = { .epsilon = pure ? 1.0 : NAN, .rho = pure ? NAN : 0.5 };
    pn_ledger *ledger = NULL;

    FUZZ_HOLDS(pn_ledger_new(&ledger, &budget, NULL) == PN_OK);
    return ledger;
}

static void answer(pn_ledger *ledger, pnl_frame *frame)
{
    pn_ledger_question question;
    pn_ledger_answer said, heard;
    pnl_frame back = { 0 };

    pnl_get_question(frame, &question);
    if (!pnl_frame_done(frame))
        return;
    pn_ledger_answer_to(ledger, &question, &said);
    FUZZ_HOLDS(pn_ledger_spent(ledger) <= (isnan(pn_ledger_budget(ledger)->rho) ? 1.0 : 0.5) * (1.0 + 1e-9));
    pnl_frame_begin(&back, PNL_FRAME_ANSWER);
    pnl_put_answer(&back, &said);
    pnl_get_answer(&back, &heard);
    FUZZ_HOLDS(pnl_frame_done(&back) && heard.status == said.status && strcmp(heard.text, said.text) == 0);
    pnl_frame_clear(&back);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    pnl_frame frame = { .kind = PNL_FRAME_QUESTION };
    pn_ledger *ledger;

    if (size == 0)
        return 0;
    ledger = open_ledger(*data & 1);
    frame.data = malloc(size); /* of that size, so that a byte beyond it is seen */
    FUZZ_HOLDS(frame.data != NULL);
    memcpy(frame.data, data + 1, size - 1);
    frame.size = frame.room = size - 1;
    answer(ledger, &frame);
    free(frame.data);
    pn_ledger_free(ledger);
    return 0;
}
