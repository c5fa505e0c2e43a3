/* purse.h -- memory for reading what others wrote: an allocator that gives so much and no more.
 * Depends on: alloc.h.  Used by: decoders of messages and files, as the allocator of libprotobuf-c. */
#ifndef PN_CORE_PURSE_H
#define PN_CORE_PURSE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pn_purse {
    size_t left;  /* what is freed does not come back: it bounds the decoder's work, too */
    bool empty;   /* more was asked for than may be given */
    bool refused; /* the allocator gave nothing */
} pn_purse;

/** The shape of a ProtobufCAllocator's functions; `purse` is a pn_purse.  NULL when it is empty or memory is short. */
void *pn_purse_alloc(void *purse, size_t size);
void pn_purse_free(void *purse, void *block);

#endif
