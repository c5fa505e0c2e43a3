/* host.cc -- a host in C++: objects in unique_ptr, a loss and a listener that are lambdas, a failure as an exception.
 * Depends on: the public headers only.  Used by: headers_spec.lua. */
#include <cstdio>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>

#include <penumbra.h>

namespace
{

template <typename T> using owned = std::unique_ptr<T, void (*)(T *)>;

void need(pn_status status, const pn_err &err)
{
    if (status != PN_OK)
        throw std::runtime_error(err.message);
}

/* What a constructor makes, owned. */
template <typename T, typename Make> owned<T> make(Make call, void (*release)(T *))
{
    T *object = nullptr;
    pn_err err;

    need(call(&object, &err), err);
    return owned<T>(object, release);
}

owned<pn_options> options_with_epsilon(const char *name)
{
    owned<pn_options> options = make<pn_options>(pn_options_new, pn_options_free);

    pn_options_set(options.get(), name, "1");
    pn_options_set(options.get(), "delta", "1e-6");
    pn_options_count(options.get(), "iterations", 10);
    return options;
}

owned<pn_dataset> records()
{
    owned<pn_dataset> raw = make<pn_dataset>(
        [](pn_dataset **out, pn_err *err) {
            pn_synthetic_options how = {};

            how.n = 500;
            how.p = 4;
            how.sparsity = 2;
            how.signal = 2.0;
            how.seed = 3;
            return pn_dataset_synthetic_logistic(out, &how, nullptr, err);
        },
        pn_dataset_free);

    return make<pn_dataset>(
        [&](pn_dataset **out, pn_err *err) { return pn_dataset_clip_rows(out, raw.get(), PN_L2, 1.0, err); },
        pn_dataset_free);
}

void train()
{
    bool heard = false;
    owned<pn_task> task =
        make<pn_task>([](pn_task **out, pn_err *err) { return pn_task_new(out, 2, err); }, pn_task_free);
    owned<pn_dataset> data = records();
    owned<pn_loss> loss = make<pn_loss>(
        [](pn_loss **out, pn_err *err) { return pn_loss_new(out, "logistic", nullptr, err); }, pn_loss_free);
    owned<pn_objective> objective = make<pn_objective>(
        [&](pn_objective **out, pn_err *err) {
            pn_objective_parts parts = {};

            parts.data = data.get();
            parts.loss = loss.get();
            return pn_objective_new(out, &parts, err);
        },
        pn_objective_free);
    auto plan_with = [&](const char *name) {
        owned<pn_options> options = options_with_epsilon(name);

        return make<pn_plan>(
            [&](pn_plan **out, pn_err *err) {
                return pn_plan_new(out, "sgd", objective.get(), nullptr, options.get(), task.get(), err);
            },
            pn_plan_free);
    };
    owned<pn_plan> plan = plan_with("epsilon");
    pn_run_options how = {};

    how.task = task.get();
    how.on_step_self = &heard;
    how.on_step = [](void *self, const pn_trace_row *, const double *, size_t, pn_err *) {
        *static_cast<bool *>(self) = true;
        return PN_OK;
    };
    owned<pn_fit> fit =
        make<pn_fit>([&](pn_fit **out, pn_err *err) { return pn_plan_run(out, plan.get(), &how, err); }, pn_fit_free);
    std::printf("%zu steps, private: %d, heard of: %d\n", pn_fit_steps(fit.get()), pn_fit_is_private(fit.get()), heard);
    try {
        plan_with("epsilom");
    } catch (const std::runtime_error &error) {
        const char *what = error.what();

        std::printf("%.*s\n", static_cast<int>(std::strcspn(what, ";")), what);
    }
}

} /* namespace */

int main()
{
    try {
        train();
    } catch (const std::runtime_error &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
