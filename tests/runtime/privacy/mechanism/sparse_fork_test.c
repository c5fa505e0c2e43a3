/* sparse_fork_test.c -- what was paid for once is answered in one process: a forked child's copy of a run refuses.
 * Depends on: mechanism.h, fork. */
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "privacy/mechanism/mechanism.h"

/* 0: it was refused and the message says why. */
static int ask_in_child(pn_sparse_run *run)
{
    bool above;
    pn_err err;

    if (pn_sparse_run_above(run, 1.0, &above, &err) != PN_EPRIVACY)
        return 1;
    return strstr(err.message, "forked child") ? 0 : 2;
}

int main(void)
{
    pn_arg args[8] = { [0] = { .given = true, .real = 1.0 }, [1] = { .given = true, .real = 1.0 } };
    pn_budget terms = { .epsilon = 1.0, .rho = NAN };
    pn_mechanism *mechanism = NULL;
    pn_sparse_run *run = NULL;
    pn_ledger *ledger = NULL;
    pn_rng *rng = NULL;
    int state = -1;
    bool above;
    pid_t child;

    CHECK(pn_mechanism_from_args(&mechanism, "sparse_vector", args, PN_REPLACE_ONE, NULL) == PN_OK);
    CHECK(pn_ledger_new(&ledger, &terms, NULL) == PN_OK && pn_rng_secure(&rng, NULL) == PN_OK);
    CHECK(pn_sparse_run_new(&run, mechanism, ledger, "stream", rng, NULL) == PN_OK);
    child = fork();
    if (child == 0)
        _exit(ask_in_child(run));
    CHECK(child > 0 && waitpid(child, &state, 0) == child && WIFEXITED(state) && WEXITSTATUS(state) == 0);
    CHECK(pn_sparse_run_above(run, -1e5, &above, NULL) == PN_OK && !above);
    pn_sparse_run_free(run);
    pn_mechanism_free(mechanism);
    pn_ledger_free(ledger);
    pn_rng_free(rng);
    return check_summary();
}
