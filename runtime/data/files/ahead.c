/* ahead.c -- two pieces in turn: the thread fills one while its owner parses the other.
 * Depends on: ahead.h, core, zlib, POSIX threads.  Used by: text.c. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <signal.h>
#include <stdio.h>

#include "core/alloc.h"
#include "data/files/ahead.h"

struct pn_ahead {
    gzFile file;
    size_t bytes;      /* of a piece */
    pn_digest *digest; /* of the side that fills */
    bool threaded;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the three below; a piece belongs to the side whose turn it is */
    pthread_cond_t changed;
    size_t filled, released; /* pieces so far; piece k lies in pieces[k % 2] */
    bool stop;
    size_t taken; /* pieces handed out; only its owner looks at it */
    pn_piece pieces[2];
};

static void fill(pn_ahead *self, pn_piece *piece)
{
    gzFile file = self->file;
    int got = gzread(file, piece->bytes, (unsigned)self->bytes);

    piece->used = got > 0 ? (size_t)got : 0;
    pn_digest_add(self->digest, piece->bytes, piece->used);
    piece->last = piece->used < self->bytes;
    piece->code = Z_OK;
    if (piece->last) {
        const char *why = gzerror(file, &piece->code);

        if (piece->code == Z_STREAM_END)
            piece->code = Z_OK;
        (void)snprintf(piece->why, sizeof piece->why, "%s", why ? why : "");
    }
    piece->offset = (double)gzoffset(file);
}

static void *fill_in_turn(void *argument)
{
    pn_ahead *self = argument;
    bool last = false;

    pthread_mutex_lock(&self->lock);
    while (!last) {
        pn_piece *piece = &self->pieces[self->filled % 2];

        while (self->filled - self->released == 2 && !self->stop)
            pthread_cond_wait(&self->changed, &self->lock);
        if (self->stop)
            break;
        pthread_mutex_unlock(&self->lock);
        fill(self, piece);
        last = piece->last;
        pthread_mutex_lock(&self->lock);
        self->filled++;
        pthread_cond_signal(&self->changed);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* Signals are for the threads of the host. */
static bool start_thread(pn_ahead *self)
{
    sigset_t all, before;
    bool started;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return false;
    started = pthread_create(&self->thread, NULL, fill_in_turn, self) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return started;
}

pn_ahead *pn_ahead_open(gzFile file, size_t bytes, bool threaded)
{
    pn_ahead *self = pn_calloc(1, sizeof *self);
    char *room = pn_alloc(2, bytes);

    if (self)
        self->digest = pn_digest_new();
    if (!self || !room || !self->digest) {
        pn_digest_free(self ? self->digest : NULL);
        pn_free(self);
        pn_free(room);
        return NULL;
    }
    self->file = file;
    self->bytes = bytes;
    self->pieces[0].bytes = room;
    self->pieces[1].bytes = room + bytes;
    self->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* unlike pthread_mutex_init, it cannot fail */
    self->changed = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    self->threaded = threaded && start_thread(self);
    return self;
}

const pn_piece *pn_ahead_next(pn_ahead *self)
{
    const pn_piece *piece = &self->pieces[self->taken % 2];

    if (!self->threaded) {
        fill(self, &self->pieces[0]);
        return &self->pieces[0];
    }
    pthread_mutex_lock(&self->lock);
    self->released = self->taken; /* the one before is parsed */
    pthread_cond_signal(&self->changed);
    while (self->filled == self->taken)
        pthread_cond_wait(&self->changed, &self->lock);
    pthread_mutex_unlock(&self->lock);
    self->taken++;
    return piece;
}

pn_content pn_ahead_content(const pn_ahead *self)
{
    return pn_digest_content(self->digest);
}

void pn_ahead_close(pn_ahead *self)
{
    if (!self)
        return;
    if (self->threaded) {
        pthread_mutex_lock(&self->lock);
        self->stop = true;
        pthread_cond_signal(&self->changed);
        pthread_mutex_unlock(&self->lock);
        pthread_join(self->thread, NULL);
    }
    pthread_cond_destroy(&self->changed);
    pthread_mutex_destroy(&self->lock);
    pn_digest_free(self->digest);
    pn_free(self->pieces[0].bytes);
    pn_free(self);
}
