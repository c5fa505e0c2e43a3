/* purse.c -- an allocator that gives so much and no more.  Depends on: purse.h, alloc.h.  Used by: decoders. */
#include "core/purse.h"

#include "core/alloc.h"

void *pn_purse_alloc(void *purse, size_t size)
{
    pn_purse *p = purse;
    void *block;

    if (size > p->left) {
        p->empty = true;
        return NULL;
    }
    block = pn_alloc(size, 1);
    if (!block)
        p->refused = true;
    else
        p->left -= size;
    return block;
}

void pn_purse_free(void *purse, void *block)
{
    (void)purse;
    pn_free(block);
}
