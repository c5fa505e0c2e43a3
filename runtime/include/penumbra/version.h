/* version.h -- which version these headers are of, and which the library that the program has found.  Depends on:
 * libc. */
#ifndef PENUMBRA_VERSION_H
#define PENUMBRA_VERSION_H

#ifdef __cplusplus
extern "C" {
#endif

#define PN_VERSION_MAJOR  0
#define PN_VERSION_MINOR  1
#define PN_VERSION_PATCH  0
#define PN_VERSION_STRING "0.1.0"

/** "0.1.0": of the library that the program has found, which may be newer than the headers it was compiled with.
 *  Static. */
const char *pn_version(void);

#ifdef __cplusplus
}
#endif

#endif
