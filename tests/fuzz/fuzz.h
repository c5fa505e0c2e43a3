/* fuzz.h -- what fuzz targets share.  A target is a file tests/fuzz/NAME_fuzz.c with one function, which hands bytes to
 * a reader; whatever the bytes are, it returns 0.  libFuzzer calls it with inputs of its own (make fuzz), and
 * corpus_test.c with those that are kept in tests/fuzz/corpus/NAME (make test).
 * Depends on: libc, POSIX.  Used by: tests/fuzz/. */
#ifndef PN_TESTS_FUZZ_H
#define PN_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* corpus_test.c has all targets in one program, each under a name of its own (tests/fuzz/targets.h). */
#ifndef FUZZ_TARGET
#define FUZZ_TARGET LLVMFuzzerTestOneInput
#endif
int FUZZ_TARGET(const uint8_t *data, size_t size);

/** End the process, which is how a fuzzer learns of it, unless the condition holds. */
#define FUZZ_HOLDS(condition)                                                                                          \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            (void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                       \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/** The path of `name` in a folder of this process's own, in memory where the system has such a place.  The folder goes
 *  when the process ends by itself.  Valid until the fourth call after it. */
const char *fuzz_path(const char *name);
/** A file of that name there, of mode 600, that holds data[size]: its path. */
const char *fuzz_file(const char *name, const void *data, size_t size);
/** Take away all that is there. */
void fuzz_sweep(void);

#endif
