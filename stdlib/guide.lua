-- guide.lua -- what belongs to a subject and to no single function, by the name in the reference that it stands with: sections of
-- a heading of one word and a text, or rows of two columns.
-- Depends on: nothing.  Used by: penumbra.prompt.help, the generated documents.
return {
  oracle = {
    { "Questions", {
      { "gradient(x)", "the mean gradient: 2 L/n in l2, L the certified length of a record's gradient" },
      { "moment(phi, x)", "the mean of phi(z, y) x_i, z = <x_i, x>: 2 max |phi| R/n, R the largest row" },
      { "difference(x, y)", "the gradient at x less that at y: 2 t/n, t = smoothness x ||x - y||" },
      { "hessian(x)", "second derivatives: sqrt(2) max l'' R^2/n for convex losses, else 2 max l'' R^2/n" },
      { "hvp(x, v)", "the Hessian times v: M ||v||/n for convex losses, else 2 M ||v||/n, M the smoothness" },
      { "mean(phi, x)", "the mean of phi(z, y), a number: the width of its range over n" },
      { "within(x, length)", "the share of gradients of at most that length: 1/n" },
      { "value(x)", "the mean loss: the width of its range over n" },
      { "values(points)", "at k points: sqrt(k) times as much as of value" },
      { "differences(x, U)", "slopes along k directions, from values: 2 L sqrt(k)/n" },
      { "vertex(x)", "a private choice among the set's vertices: scores by 2 max |<v, gradient>|/n" },
      { "choose(points)", "a private choice of the least mean loss: scores as value" },
      { "prefix{...}", "a stream of running sums of gradients, paid for once: a push by 2 L/n, of a batch 2 L/batch" },
      { "watch{...}", "whether a mean is above a threshold, paid for until it was: as value" },
    } },
    { "Certified",
      "The numbers above are what one record moves an answer by, or a score.  They are proved from the loss, the set and the "
        .. "bounds of the data, or enforced by clipping each record; the rounding of sums is added to them.  They hold under "
        .. "replace_one.  Under zero_out gradients move by half, and nothing by more, but for numbers whose range leaves 0 out: "
        .. "these by its largest absolute value.  What nothing bounds is refused, with the interval that failed and what to give.  "
        .. "Under add_remove n is a secret, and all is refused.  phi is traced, as in loss.glm, so that no function of yours sees "
        .. "a record.  The regulariser is public, and added after the noise." },
    { "Prices",
      "At the prompt an answer names its price: sigma= of the noise, or rho=, or epsilon= with delta=; choices and watches "
        .. "take no sigma=, and need no delta=.  In a step the plan pays: one multiplier z is found for all questions of all "
        .. "steps, and a question has noise of z/share times what one record moves.  share= is 1 by default; share=2 is half of "
        .. "the noise, at four times the cost.  budget=0.3 gives a question three tenths of the plan's epsilon and delta (or rho) "
        .. "to itself, and the others what it leaves.  accountant=\"pld\", an option of the call, prices the whole run by its "
        .. "loss distribution, for less noise on batches, and charges it at once.  The ledger is charged before the noise is "
        .. "drawn; an answer that it cannot pay is refused, and nothing is drawn." },
    { "Batches",
      'batch={scheme="fixed", size=b} draws b records anew for each answer, "poisson" each record by a coin of rate b/n; '
        .. 'nobody learns who was drawn, and that makes an answer cheaper.  "shuffled" goes through all records in a random '
        .. 'order, drawn for each pass: cheap because a record is in one batch a pass.  rate= gives b/n in place of size=; a '
        .. "number alone is a size, of fixed batches under replace_one and of poisson ones under zero_out; false is all "
        .. "records.  Gradient, moment, difference and hvp take all three, hessian fixed ones, prefix shuffled ones (in one order "
        .. "for all passes), the others none.  batch= of pn.oracle, or of the call of a solver, is the default." },
    { "Planning",
      "solver.plan tries the step once, against an oracle whose answers are zeros (of vertex and choose the first, of a watch "
        .. "false); what it asks then is what any step may ask.  No record is looked at, and nothing is spent.  A step that "
        .. "asks different things at different times asks all of them in step 1, or declares them: queries={gradient=1, "
        .. "hvp={count=2, share=0.5}}, or a function of s that returns such a table.  What is not asked is not paid for.  A run "
        .. "has s.steps steps: iterations= of the call, else what iterations(s) returns, else options.iterations.  It starts at "
        .. "start=, else in the set's centre; after each step s.x, or what answer(s) returns, is the model." },
    { "Refused",
      "A question of another kind than planned, one more of a kind, another batch, phi, range, threshold or number of "
        .. "points, a larger share, a price: the question is refused with nothing charged or drawn for it, and what was answered "
        .. "before stays paid.  So are, while the run is private, numbers of the records (obj:value) and runs with privacy=false; "
        .. "and the `ask` of another run, and planning or running the solver itself.  Points, lengths and clip= of a gradient may "
        .. "change freely: noise follows them.  A step that fails and is tried again gets the same answers, and pays nothing.  A "
        .. "pn.oracle of your own answers in a step, too, and is charged each time, also while the step is tried for the plan." },
    { "Stopping",
      'With adaptive = true a step may return "done".  The ledger is charged for what ran (Feldman, Zrnic 2021); the fit states '
        .. "the whole plan's price all the same, because when it stopped tells of the answers." },
    { "Streams",
      "ask:prefix and ask:watch in a step are the same stream in every step, found by their options; one charge, at the first "
        .. "push or question, pays for all.  Of prefix with batches a record takes part once in every floor(n/size) pushes, "
        .. "which the noise counts on.  After a watch has said true answers= times it is over." },
    { "Shipped",
      "solve.heavy_ball, nesterov, adam, noisy_sgd, coordinate_descent, adaptive_clipping, ftrl and matrix_factorization_sgd "
        .. "are pn.solvers of less than 60 lines each, to read in stdlib/solvers.  lesson \"own_solver\" writes one." },
  },
}
