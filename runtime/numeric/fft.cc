/* fft.cc -- the door to KISS FFT, whose double precision form is a C++ template.  No exception leaves this file.
 * Depends on: fft.h, KISS FFT.  Used by: privacy (accountants). */
#include <complex>
#include <new>

#include <kissfft/kissfft.hh>

extern "C" {
#include "numeric/fft.h"
}

struct pn_fft {
    kissfft<double> plan;
    explicit pn_fft(size_t n) : plan(n, false)
    {
    }
};

extern "C" pn_status pn_fft_new(pn_fft **out, size_t n, pn_err *err)
{
    *out = nullptr;
    try {
        *out = new pn_fft(n);
        return PN_OK;
    } catch (...) {
        return pn_fail(err, PN_ENOMEM, "fft: out of memory for %zu points", n);
    }
}

extern "C" void pn_fft_free(pn_fft *plan)
{
    delete plan;
}

extern "C" pn_status pn_fft_run(const pn_fft *plan, const double *in, double *out, pn_err *err)
{
    try {
        plan->plan.transform(reinterpret_cast<const std::complex<double> *>(in),
                             reinterpret_cast<std::complex<double> *>(out));
        return PN_OK;
    } catch (...) {
        return pn_fail(err, PN_ENOMEM, "fft: out of memory");
    }
}

extern "C" size_t pn_fft_size(size_t n)
{
    size_t size = 1;

    while (size < n)
        size *= 2;
    if (size >= 8 && size / 8 * 5 >= n)
        return size / 8 * 5;
    return size >= 4 && size / 4 * 3 >= n ? size / 4 * 3 : size;
}
