/* weak.h -- what is said of a price that protects little.
 * Depends on: nothing.  Used by: plans, descriptions, searches. */
#ifndef PN_PRIVACY_WEAK_H
#define PN_PRIVACY_WEAK_H

#include <stdbool.h>
#include <stddef.h>

/** text = what an epsilon above 10 means, in one sentence, true; up to 10 and for NaN "", false. */
bool pn_weak_epsilon(char *text, size_t size, double epsilon);

#endif
