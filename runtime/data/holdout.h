/* holdout.h -- which records are held out, by a rule of positions alone.  Depends on: nothing.  Used by: bindings/data,
 * whose d:holdout parts the records of pn.model and pn.tune too. */
#ifndef PN_DATA_HOLDOUT_H
#define PN_DATA_HOLDOUT_H

#include <stddef.h>

/**
 * Of each block of `every` consecutive records one is held out: in block b = 0, 1, ... the record at place
 * mix(b) mod every, mix being a fixed hash of 64 bits.  What is left over behind the last whole block is not held out.
 *   rows   [n] out, borrowed: the positions, from 0, that are not held out, then those that are, both increasing.
 *   every  2 .. n.
 * Returns how many are held out, n / every rounded down.
 * Privacy: neither values nor labels decide, and no random number that somebody would have to keep: n and `every` give
 * the parts.  Under replace_one and zero_out positions are public, so neighbours differ in one of the parts, and the
 * sizes of the parts are public.  Under add_remove a record that leaves moves those behind it: not for that relation.
 * A place that is the same in all blocks would hold out other records than it keeps where the order of a file has a
 * period that has a factor in common with `every`; a hashed one does not.
 * Source: the hash is the finalizer of SplitMix64, Steele, Lea and Flood (2014), at the counter b + 1.
 */
size_t pn_holdout(size_t *rows, size_t n, size_t every);

#endif
