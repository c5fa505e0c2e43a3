/* decimal.cc -- the door to std::to_chars.  Depends on: decimal.h, the C++ library.
 * Used by: objective (program_loss.c). */
#include <charconv>

extern "C" {
#include "numeric/decimal.h"
}

extern "C" size_t pn_decimal(char *out, double x)
{
    return static_cast<size_t>(std::to_chars(out, out + PN_DECIMAL_MAX, x).ptr - out);
}
