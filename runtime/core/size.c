/* size.c -- checked arithmetic on sizes.  Depends on: size.h.  Used by: every constructor that makes a size of
 * others. */
#include "core/size.h"

bool pn_size_add(size_t *out, size_t a, size_t b)
{
    size_t sum;

    if (__builtin_add_overflow(a, b, &sum) || sum > PN_SIZE_MAX)
        return false;
    *out = sum;
    return true;
}

bool pn_size_multiply(size_t *out, size_t a, size_t b)
{
    size_t product;

    if (__builtin_mul_overflow(a, b, &product) || product > PN_SIZE_MAX)
        return false;
    *out = product;
    return true;
}

bool pn_size_from(size_t *out, double x)
{
    if (!(x >= 0.0 && x <= (double)PN_SIZE_MAX) || x != (double)(size_t)x)
        return false;
    *out = (size_t)x;
    return true;
}

pn_status pn_size_check(const char *owner, const char *name, size_t value, pn_err *err)
{
    if (value <= PN_SIZE_MAX)
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "%s: %s must be at most 2^48, got %zu", owner, name, value);
}

pn_status pn_size_sum(size_t *out, const char *owner, const char *what, size_t a, size_t b, pn_err *err)
{
    if (pn_size_add(out, a, b))
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "%s: %s, %zu + %zu, must be at most 2^48", owner, what, a, b);
}

pn_status pn_size_product(size_t *out, const char *owner, const char *what, size_t a, size_t b, pn_err *err)
{
    if (pn_size_multiply(out, a, b))
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "%s: %s, %zu x %zu, must be at most 2^48", owner, what, a, b);
}
