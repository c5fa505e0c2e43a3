"""pld_peer.py -- certified intervals of accountant.pld beside those of two programs written by others, dp_accounting
(privacy loss distributions on a lattice) and prv_accountant (privacy random variables): a line of pld_grid.md for each
case.  The relation is add_remove.  Ends with status 1 where an interval does not meet one of theirs; a peer that is not
installed, or that fails, has a dash.
Depends on: numpy, scipy, dp_accounting, prv_accountant; the program.
usage: PENUMBRA=build/penumbra python3 tests/bench/peers/pld_peer.py"""
import math
import os
import subprocess
import sys
import time

# Parts (kind, rate, noise, times), then delta.
CASES = [
    ([("gaussian", 1, 10, 100)], 1e-5),
    ([("gaussian", 0.2, 0.5, 3)], 1e-3),
    ([("gaussian", 0.01, 1, 1000)], 1e-5),
    ([("gaussian", 256 / 60000, 1.1, 14062)], 1e-5),
    ([("gaussian", 0.005, 0.8, 1000)], 1e-6),
    ([("gaussian", 1e-3, 0.6, 100000)], 1e-7),
    ([("gaussian", 0.1, 2, 1000)], 1e-8),
    ([("gaussian", 0.5, 5, 1000)], 1e-6),
    ([("gaussian", 1e-4, 0.5, 100000)], 1e-5),
    ([("gaussian", 1e-4, 0.4, 10000)], 1e-5),
    ([("gaussian", 1e-5, 0.3, 1000000)], 1e-5),
    ([("laplace", 1, 10, 100)], 1e-6),
    ([("laplace", 1, 1, 3), ("laplace", 1, 2, 2)], 1e-3),
    ([("gaussian", 0.005, 0.8, 100), ("gaussian", 1, 8, 200), ("laplace", 1, 10, 100)], 1e-6),
]


def ours(parts, delta):
    adds = []
    for kind, rate, noise, times in parts:
        size = "sigma" if kind == "gaussian" else "scale"
        event = f'pn.event.{kind}{{{size} = {noise!r}, sensitivity = 1, neighbours = "add_remove"}}'
        if rate < 1:
            event = f"pn.event.poisson_sampled{{q = {rate!r}, event = {event}}}"
        adds.append(f"a:add({event}, {times})")
    program = f"""local pn = require "penumbra"; local a = pn.accountant.pld{{}}; {"; ".join(adds)}
        local t = os.clock(); local low, high = a:epsilon_interval({delta!r})
        print(("%.17g %.17g %.17g"):format(low, high, os.clock() - t))"""
    run = subprocess.run([os.environ.get("PENUMBRA", "build/penumbra"), "-e", program], capture_output=True, text=True)
    if run.returncode:
        sys.exit(run.stderr)
    return tuple(map(float, run.stdout.split()))


def by_lattice(parts, delta, upper):
    from dp_accounting.pld import privacy_loss_distribution as pld

    whole = None
    for kind, rate, noise, times in parts:
        make = pld.from_gaussian_mechanism if kind == "gaussian" else pld.from_laplace_mechanism
        part = make(noise, sampling_prob=rate, pessimistic_estimate=upper, use_connect_dots=upper).self_compose(times)
        whole = part if whole is None else whole.compose(part)
    return whole.get_epsilon_for_delta(delta)


def dp_accounting(parts, delta):
    return by_lattice(parts, delta, False), by_lattice(parts, delta, True)


def prv_accountant(parts, delta):
    import prv_accountant as prv
    from prv_accountant import privacy_random_variables as variables

    made = []
    for kind, rate, noise, _ in parts:
        if kind == "laplace":
            made.append(variables.LaplaceMechanism(mu=1 / noise))
        elif rate < 1:
            made.append(variables.PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=noise))
        else:
            made.append(variables.GaussianMechanism(noise_multiplier=noise))
    times = [part[3] for part in parts]
    accountant = prv.PRVAccountant(prvs=made, max_self_compositions=times, eps_error=0.01, delta_error=delta / 1000)
    low, _, high = accountant.compute_epsilon(delta=delta, num_self_compositions=times)
    return low, high


def peer(ask, parts, delta):
    start = time.process_time()
    try:
        low, high = ask(parts, delta)
    except Exception as why:  # what a peer does not know, or dies of, is its own
        print(f"{ask.__name__}: {type(why).__name__}: {why}", file=sys.stderr)
        return None
    return low, high, time.process_time() - start


def words(parts, delta):
    each = [f"{times} x {kind} {noise:g}" + (f" at rate {rate:.3g}" if rate < 1 else "") for kind, rate, noise, times in parts]
    return ", ".join(each) + f"; {delta:g}"


def main():
    apart = 0
    print("| releases; delta | penumbra | ms | dp_accounting | ms | prv_accountant | ms |")
    print("|---|---|---:|---|---:|---|---:|")
    for parts, delta in CASES:
        low, high, seconds = ours(parts, delta)
        row = [words(parts, delta), f"{low:.6g} to {high:.6g}", f"{1000 * seconds:.0f}"]
        for ask in (dp_accounting, prv_accountant):
            found = peer(ask, parts, delta)
            if found is None or math.isnan(found[0] + found[1]):
                row += ["-", "-"]
                continue
            row += [f"{found[0]:.6g} to {found[1]:.6g}", f"{1000 * found[2]:.0f}"]
            if found[1] < low or found[0] > high:
                apart += 1
                row[-2] += " (apart)"
        print("| " + " | ".join(row) + " |", flush=True)
    return apart > 0


if __name__ == "__main__":
    sys.exit(main())
