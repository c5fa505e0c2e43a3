/* alone.c -- loaded into the interpreter that runs the specs, beside the runtime of a sanitizer: no program that the
 * interpreter starts loads that runtime as well.  A shell with it takes three times as long.
 * Depends on: libc.  Used by: make test-san. */
#include <stdlib.h>

__attribute__((constructor)) static void leave_no_preload(void)
{
    (void)unsetenv("LD_PRELOAD");
}
