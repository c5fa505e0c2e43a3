/* lattice_cap_test.c -- a Laplace number at the sampler's cap goes on: its source is compiled here against a sampler
 * that says what it is told to, since no stream shows a number of 2^22 scales. */
#define pn_noise_laplace told_laplace
#include "runtime/random/noise_lattice.c"

#include "check.h"

#define CAP (INT64_C(1) << 62)

static const int64_t *told;
static uint32_t width = 1;

void told_laplace(pn_rng *rng, uint32_t w, size_t n, int64_t *out)
{
    (void)rng;
    CHECK(w == width);
    for (size_t i = 0; i < n; i++)
        out[i] = *told++;
}

static double released(const int64_t *numbers, size_t count, double x)
{
    double out;

    told = numbers;
    pn_lattice_laplace(NULL, 0x1p40, &x, 1, &out); /* steps of 1 */
    CHECK(told == numbers + count);
    return out;
}

int main(void)
{
    CHECK(released((const int64_t[]){ 5 }, 1, -2.0) == 3.0);
    CHECK(released((const int64_t[]){ CAP - 1 }, 1, 0.0) == 0x1p62);
    CHECK(released((const int64_t[]){ CAP, -9, INT64_C(3) << 60 }, 3, 0.0) == 0x1.cp62);
    CHECK(released((const int64_t[]){ -CAP, 0 }, 2, 0.0) == -0x1p62);
    CHECK(released((const int64_t[]){ -CAP, CAP, -1, -CAP, CAP, CAP / 2 }, 6, 0x1p61) == -0x1.8p63);
    width = 1000; /* as sparse vector draws them */
    told = (const int64_t[]){ -1, CAP, -CAP, 7 };
    CHECK(pn_noise_laplace_uncapped(NULL, 1000, -CAP) == -((pn_steps)2 * CAP + 7));
    CHECK(pn_noise_laplace_uncapped(NULL, 1000, CAP - 1) == CAP - 1);
    return check_summary();
}
