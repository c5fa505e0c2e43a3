/* width_bench.c -- a Gaussian width by 1,000 draws at 10^6 coordinates: at most 10 seconds on two cores;
 * and a product with many
 * vertices.  Depends on: geometry/convex/set.h, core/task.h, bench.h.  Run with `make bench`. */
#include "bench/bench.h"
#include "core/task.h"
#include "geometry/convex/set.h"
#include "geometry/sets/sets.h"

static int time_width(const char *name, const pn_set *set, size_t draws, pn_task *task, double limit)
{
    pn_width_options how = { .method = PN_WIDTH_MONTE_CARLO, .draws = draws, .task = task };
    double begun = bench_now(), seconds;
    pn_width width;

    if (pn_set_width(set, &how, &width, NULL) != PN_OK)
        exit(1);
    seconds = bench_now() - begun;
    printf("%-46s %9.3f s  (width %.4f, %u threads)", name, seconds, width.value, pn_task_threads(task));
    if (limit > 0.0)
        printf("  (limit %.2f s)%s", limit, seconds <= limit ? "" : "  OVER");
    printf("\n");
    return limit > 0.0 && seconds > limit;
}

int main(void)
{
    enum { ROWS = 2000, COLS = 500 };
    static double vertices[ROWS * COLS];
    pn_arg ball_args[3] = { { .given = true, .count = 1000000 }, { .given = true, .real = 1.0 }, { .given = false } };
    pn_arg list_args[1] = { { .given = true, .matrix = { vertices, ROWS, COLS } } };
    pn_set *ball = NULL, *list = NULL;
    pn_task *task = NULL;
    unsigned state = 1;
    int over;

    for (size_t i = 0; i < ROWS * COLS; i++) {
        state = state * 1664525u + 1013904223u;
        vertices[i] = (double)state / 4294967296.0 - 0.5;
    }
    if (pn_task_new(&task, 0, NULL) != PN_OK || pn_set_from_args(&ball, "l1_ball", ball_args, NULL) != PN_OK ||
        pn_set_from_args(&list, "polytope", list_args, NULL) != PN_OK)
        return 1;
    over = time_width("width of an l1_ball, 1,000 draws, dim 1e6", ball, 1000, task, 10.0);
    (void)time_width("width of 2,000 vertices, 10,000 draws, dim 500", list, 10000, task, 0.0);
    pn_set_free(ball);
    pn_set_free(list);
    pn_task_free(task);
    return over;
}
