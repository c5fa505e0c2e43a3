/* solvers.c -- the table of solvers: a new one is its file and its line here.
 * Depends on: solvers.h, every solver by its row.  Used by: bindings, hosts, auto.c. */
#include <pthread.h>
#include <stdio.h>

#include "core/options.h"
#include "core/table.h"
#include "solvers/catalogue/solvers.h"

/* One row, one line. */
#define SOLVERS(X)                                                                                                     \
    X(auto)                                                                                                            \
    X(frank_wolfe)                                                                                                     \
    X(frank_wolfe_convex)                                                                                              \
    X(mirror_descent)                                                                                                  \
    X(accelerated_mirror_descent)                                                                                      \
    X(gradient_descent)                                                                                                \
    X(sgd)                                                                                                             \
    X(svrg)                                                                                                            \
    X(svrg_pp)                                                                                                         \
    X(objective_perturbation)                                                                                          \
    X(output_perturbation)                                                                                             \
    X(zeroth_order)                                                                                                    \
    X(zeroth_order_naive)                                                                                              \
    X(second_order)                                                                                                    \
    X(trust_region)                                                                                                    \
    X(sufficient_statistics)                                                                                           \
    X(newton)                                                                                                          \
    X(block_frank_wolfe)

#define DECLARE(name) extern const pn_solver_ops pn_solver_##name;
SOLVERS(DECLARE)

#define ROW(name)   &pn_solver_##name,
#define COUNT(name) +1
enum { OWN = 0 SOLVERS(COUNT) };

static const pn_solver_ops *rows[OWN + PN_SOLVERS_ADDED + 1] = { SOLVERS(ROW) };
PN_TABLE(solvers, pn_solver_ops, "solve", "solver", rows);

const pn_solver_ops *const *pn_solver_table(void)
{
    return rows;
}

const pn_solver_ops *pn_solver_find(const char *name)
{
    return pn_table_find(rows, name);
}

/* Under the lock. */
static pn_status add(const pn_solver_ops *solver, pn_err *err)
{
    const pn_solver_ops *there = pn_solver_find(solver->name);
    size_t count = OWN;

    if (there == solver)
        return PN_OK;
    if (there)
        return pn_fail(err, PN_EINVAL, "pn_solver_add: there is a solver \"%.40s\" already; give it another name",
                       solver->name);
    while (rows[count])
        count++;
    if (count == OWN + PN_SOLVERS_ADDED)
        return pn_fail(err, PN_EINVAL, "pn_solver_add: %d solvers were added already, which is the most",
                       PN_SOLVERS_ADDED);
    rows[count] = solver;
    return PN_OK;
}

pn_status pn_solver_add(const pn_solver_ops *solver, pn_err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pn_status status;

    (void)pthread_mutex_lock(&lock);
    status = add(solver, err);
    (void)pthread_mutex_unlock(&lock);
    return status;
}

pn_status pn_plan_from_args(pn_plan **out, const char *name, pn_objective *objective, pn_ledger *ledger, pn_arg *common,
                            pn_arg *own, pn_task *task, pn_err *err)
{
    const pn_solver_ops *solver = pn_solver_find(name);

    return solver ? pn_plan_by(out, solver, objective, NULL, ledger, common, own, task, err)
                  : pn_table_refuse(&solvers, __func__, name, err);
}

pn_status pn_plan_new(pn_plan **out, const char *name, pn_objective *objective, pn_ledger *ledger,
                      const pn_options *options, pn_task *task, pn_err *err)
{
    const pn_solver_ops *solver = pn_solver_find(name);
    pn_arg common[PN_OPT_COUNT], own[PN_ARGS_MAX];
    char owner[64];
    pn_status status;

    *out = NULL;
    if (!solver)
        return pn_table_refuse(&solvers, __func__, name, err);
    (void)snprintf(owner, sizeof owner, "solve.%s", name);
    status = pn_options_spread(
        options, owner, (const pn_option_rows[]){ { pn_solver_common, common }, { solver->params, own } }, 2, err);
    return status == PN_OK ? pn_plan_by(out, solver, objective, owner, ledger, common, own, task, err) : status;
}
