/* targets.h -- the list of fuzz targets: X(NAME) for tests/fuzz/NAME_fuzz.c, whose kept inputs are in
 * tests/fuzz/corpus/NAME.  Used by: corpus_test.c. */
#ifndef PN_TESTS_FUZZ_TARGETS_H
#define PN_TESTS_FUZZ_TARGETS_H

#define FUZZ_TARGETS(X)                                                                                                \
    X(config)                                                                                                          \
    X(csv)                                                                                                             \
    X(curator)                                                                                                         \
    X(formula)                                                                                                         \
    X(kernel)                                                                                                          \
    X(keys)                                                                                                            \
    X(ledger)                                                                                                          \
    X(libsvm)                                                                                                          \
    X(model)                                                                                                           \
    X(npy)                                                                                                             \
    X(party)                                                                                                           \
    X(prefix)                                                                                                          \
    X(prompt)                                                                                                          \
    X(server)                                                                                                          \
    X(store)                                                                                                           \
    X(wire)

#endif
