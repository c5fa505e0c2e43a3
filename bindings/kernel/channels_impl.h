/* channels_impl.h -- what the two threads of channels.h share.  Depends on: channels.h.  Private to bindings/kernel. */
#ifndef PNL_CHANNELS_IMPL_H
#define PNL_CHANNELS_IMPL_H

#include <pthread.h>

#include "bindings/kernel/channels.h"

#define PNL_HELD 4 /* bytes of a character that has not arrived whole */

struct pnl_channels {
    void *context;
    void *shell, *control, *input; /* of the thread that opened */
    void *orders;                  /* of that thread, to the other one */
    void *obeys;                   /* of the publishing thread ... */
    void *iopub, *heartbeat;       /* ... as these */
    pthread_t thread;
    bool runs;
    char *key;
    size_t key_size;
    char session[PNL_ID_BYTES];
    int before[2];  /* standard output and error as they were; -1: none */
    int printed[2]; /* what is printed can be read here */
    /* Of the publishing thread. */
    char *parent; /* JSON of the header that is answered; NULL: none yet */
    size_t parent_size;
    char held[2][PNL_HELD];
    size_t held_size[2];
};

bool pnl_send_frame(void *socket, pnl_bytes frame, bool more);
bool pnl_send_signed(const pnl_channels *self, void *socket, const pnl_bytes parts[PNL_PARTS]);

/** What the publishing thread runs until it gets an empty order. */
void *pnl_publish_loop(void *channels);

#endif
