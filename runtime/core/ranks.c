/* ranks.c -- shares of work for several processes, the exchange of what they leave behind,
 * and agreement on how it went.
 * Depends on: ranks.h, alloc.h.  Used by: random/, objective/, federated/, bindings.
 *
 * A rank that failed cannot simply return: the others would wait for its part for ever.  So every exchange begins with
 * a word of each rank: how it went, and which call it is at; nobody waits for the parts of a rank that has none. */
#include <string.h>

#include "core/alloc.h"
#include "core/ranks.h"

/* What a rank says of its share. */
typedef struct word {
    uint64_t status, what, call;
} word;

struct pn_ranks {
    const pn_ranks_ops *ops;
    void *self;
    size_t rank, size;
    int references;
    bool sharing;
    uint64_t calls;  /* completed: ranks that are out of step have other numbers */
    size_t *offsets; /* [size + 1] */
    word *words;     /* [size] */
    char *texts;     /* [size][PN_ERR_MAX] messages; kept, for who fails may have no memory left */
};

pn_status pn_ranks_new(pn_ranks **out, const pn_ranks_ops *ops, void *self, pn_err *err)
{
    pn_ranks *ranks;
    size_t size, rank;

    if (ops->version != PN_RANKS_VERSION)
        return pn_fail(err, PN_EINVAL, "ranks: this Penumbra needs version %d of its module for ranks, got version %u",
                       PN_RANKS_VERSION, ops->version);
    size = ops->size(self);
    rank = ops->rank(self);
    if (size == 0 || rank >= size)
        return pn_fail(err, PN_EINVAL, "ranks: %s says that this is rank %zu of %zu", ops->name, rank, size);
    ranks = pn_calloc(1, sizeof *ranks);
    if (ranks) {
        *ranks = (pn_ranks){ .ops = ops, .self = self, .rank = rank, .size = size, .references = 1 };
        ranks->offsets = pn_calloc(size + 1, sizeof *ranks->offsets);
        ranks->words = pn_calloc(size, sizeof *ranks->words);
        ranks->texts = pn_alloc(size, PN_ERR_MAX);
    }
    if (!ranks || !ranks->offsets || !ranks->words || !ranks->texts) {
        pn_ranks_free(ranks);
        return pn_fail(err, PN_ENOMEM, "ranks: out of memory for %zu ranks", size);
    }
    *out = ranks;
    return PN_OK;
}

pn_ranks *pn_ranks_keep(pn_ranks *ranks)
{
    ranks->references++;
    return ranks;
}

void pn_ranks_free(pn_ranks *ranks)
{
    if (!ranks || --ranks->references > 0)
        return;
    pn_free(ranks->offsets);
    pn_free(ranks->words);
    pn_free(ranks->texts);
    pn_free(ranks);
}

size_t pn_ranks_rank(const pn_ranks *ranks)
{
    return ranks ? ranks->rank : 0;
}

size_t pn_ranks_size(const pn_ranks *ranks)
{
    return ranks ? ranks->size : 1;
}

const char *pn_ranks_name(const pn_ranks *ranks)
{
    return ranks->ops->name;
}

/* ---- shares ---- */

/* The first chunk of a rank: as equal as can be, the first ones have one more. */
static size_t first_of(size_t count, size_t size, size_t rank)
{
    size_t more = count % size;

    return count / size * rank + (rank < more ? rank : more);
}

void pn_ranks_share(const pn_ranks *ranks, size_t count, size_t *begin, size_t *end)
{
    *begin = ranks ? first_of(count, ranks->size, ranks->rank) : 0;
    *end = ranks ? first_of(count, ranks->size, ranks->rank + 1) : count;
}

/* A share of c chunks of L records begins at or after n rank / size, up to L because the last chunk may be short, and
 * up to size / 4 more chunks because the first ranks may have one more.  What may be one chunk all ranks have; else
 * rank 0 has not the last record, which is never in its share: either all ranks hold all records or none does. */
void pn_ranks_hold(const pn_ranks *ranks, size_t n, size_t most, size_t *begin, size_t *end)
{
    size_t size = pn_ranks_size(ranks), rank = pn_ranks_rank(ranks), usual = n / 32 + 4096;
    size_t chunk = most > usual ? most : usual;
    size_t margin = chunk + (size * chunk + 3) / 4, last = rank + 1 == size ? n : n / size * (rank + 1) + size;

    *begin = chunk < n ? n / size * rank : 0;
    *end = chunk >= n || last >= n || n - last <= margin ? n : last + margin;
    if (size > 1 && rank == 0 && chunk < n && *end == n)
        *end = n - 1;
}

bool pn_ranks_enter(pn_ranks *ranks)
{
    if (!ranks || ranks->size == 1 || ranks->sharing)
        return false;
    ranks->sharing = true;
    return true;
}

/* ---- exchange ---- */

static pn_status explain(const pn_ranks *ranks, const char *what, int code, pn_err *err)
{
    char text[256] = "";

    if (code == 0)
        return PN_OK;
    ranks->ops->explain(ranks->self, code, text, sizeof text);
    text[sizeof text - 1] = '\0';
    return pn_fail(err, PN_EIO, "ranks: %s could not %s: %s", ranks->ops->name, what, text);
}

/* data[size] of `bytes` each, one for every rank. */
static pn_status gather_each(const pn_ranks *ranks, void *data, size_t bytes, pn_err *err)
{
    for (size_t r = 0; r <= ranks->size; r++)
        ranks->offsets[r] = r * bytes;
    return explain(ranks, "gather", ranks->ops->gather_all(ranks->self, data, ranks->offsets), err);
}

static pn_status gather_part(const pn_ranks *ranks, size_t count, const size_t *cut, const pn_ranks_part *part,
                             pn_err *err)
{
    size_t skipped = part->head ? 1 : 0, total = part->total ? part->total : (count - skipped) * part->bytes;
    size_t times = part->times ? part->times : 1;
    pn_status status = PN_OK;

    for (size_t r = 0; r <= ranks->size; r++) {
        size_t first = cut ? cut[r] : first_of(count, ranks->size, r);
        size_t at = (first > skipped ? first - skipped : 0) * part->bytes;

        ranks->offsets[r] = at < total ? at : total;
    }
    for (size_t k = 0; k < times && total && status == PN_OK; k++)
        status = explain(
            ranks, "gather",
            ranks->ops->gather_all(ranks->self, (unsigned char *)part->data + k * part->stride, ranks->offsets), err);
    if (part->head && status == PN_OK)
        status = pn_ranks_broadcast(ranks, part->head, part->bytes, err);
    return status;
}

/* ---- agreement ---- */

/* Another rank has failed: everybody's message is passed round, for those that have none. */
static pn_status pass_on_failure(const pn_ranks *ranks, pn_status mine, pn_err *err)
{
    char *texts = ranks->texts;
    pn_status status;
    size_t r = 0;

    while (ranks->words[r].status == PN_OK)
        r++;
    memset(texts, 0, ranks->size * PN_ERR_MAX);
    if (mine != PN_OK) /* both end within PN_ERR_MAX */
        strcpy(texts + ranks->rank * PN_ERR_MAX, err ? err->message : pn_status_name(mine));
    status = gather_each(ranks, texts, PN_ERR_MAX, mine != PN_OK ? NULL : err);
    if (mine != PN_OK) {
        status = mine;
    } else if (status == PN_OK) {
        status = (pn_status)ranks->words[r].status;
        texts[(r + 1) * PN_ERR_MAX - 1] = '\0';
        status = pn_fail(err, status == PN_ECALLBACK ? PN_EIO : status, "rank %zu: %s", r, texts + r * PN_ERR_MAX);
    }
    return status;
}

/* All are at the same call, and it went well everywhere. */
static pn_status agree(pn_ranks *ranks, uint64_t what, pn_status mine, pn_err *err)
{
    word *words = ranks->words;
    bool failed = false;
    pn_status status;

    words[ranks->rank] = (word){ (uint64_t)mine, what, ranks->calls++ };
    status = gather_each(ranks, words, sizeof *words, mine == PN_OK ? err : NULL);
    if (mine != PN_OK && status != PN_OK)
        return mine;
    for (size_t r = 0; r < ranks->size && status == PN_OK; r++)
        failed = failed || words[r].status != PN_OK;
    if (failed)
        return pass_on_failure(ranks, mine, err);
    for (size_t r = 0; r < ranks->size && status == PN_OK; r++) {
        if (words[r].what != words[0].what || words[r].call != words[0].call)
            status = pn_fail(err, PN_EIO,
                             "ranks: rank %zu diverged from rank 0: every rank must make the same calls with the "
                             "same data and the same numbers (noise from one source: ranks:rng())",
                             r);
    }
    return status;
}

pn_status pn_ranks_complete(pn_ranks *ranks, size_t count, const size_t *cut, const pn_ranks_part *parts,
                            size_t part_count, uint64_t what, pn_status mine, pn_err *err)
{
    pn_status status;

    ranks->sharing = false;
    what = pn_ranks_digest_word(what, count);
    for (size_t i = 0; i < part_count; i++)
        what = pn_ranks_digest_word(what, parts[i].data ? parts[i].bytes : 0);
    status = agree(ranks, what, mine, err);
    for (size_t i = 0; i < part_count && count && status == PN_OK; i++) {
        if (parts[i].data)
            status = gather_part(ranks, count, cut, &parts[i], err);
    }
    return status;
}

/* Multiply and fold: tells apart what differs by a rounding; nobody means to deceive. */
uint64_t pn_ranks_digest_word(uint64_t digest, uint64_t more)
{
    digest = (digest ^ more) * 0x9e3779b97f4a7c15u;
    return digest ^ (digest >> 29);
}

/* Four side by side: one product need not wait for the last. */
uint64_t pn_ranks_digest(uint64_t digest, const double *x, size_t count)
{
    uint64_t lane[4] = { digest, 1, 2, 3 }, bits;

    for (size_t i = 0; i < count; i++) {
        memcpy(&bits, x + i, sizeof bits);
        lane[i % 4] = pn_ranks_digest_word(lane[i % 4], bits);
    }
    for (size_t k = 1; k < 4; k++)
        lane[0] = pn_ranks_digest_word(lane[0], lane[k]);
    return pn_ranks_digest_word(lane[0], count);
}

pn_status pn_ranks_broadcast(const pn_ranks *ranks, void *data, size_t bytes, pn_err *err)
{
    if (!ranks || ranks->size == 1)
        return PN_OK;
    return explain(ranks, "broadcast", ranks->ops->broadcast(ranks->self, data, bytes), err);
}

/* ---- messages ---- */

static pn_status check_rank(const pn_ranks *ranks, size_t other, pn_err *err)
{
    if (other >= ranks->size || other == ranks->rank)
        return pn_fail(err, PN_EINVAL, "ranks: rank %zu of %zu has no messages to pass with rank %zu", ranks->rank,
                       ranks->size, other);
    return PN_OK;
}

pn_status pn_ranks_send(const pn_ranks *ranks, size_t to, const void *data, size_t bytes, pn_err *err)
{
    pn_status status = check_rank(ranks, to, err);

    return status == PN_OK ? explain(ranks, "send", ranks->ops->send(ranks->self, to, data, bytes), err) : status;
}

pn_status pn_ranks_probe(const pn_ranks *ranks, size_t from, double seconds, size_t *bytes, pn_err *err)
{
    pn_status status = check_rank(ranks, from, err);

    *bytes = 0;
    return status == PN_OK ? explain(ranks, "wait", ranks->ops->probe(ranks->self, from, seconds, bytes), err) : status;
}

pn_status pn_ranks_receive(const pn_ranks *ranks, size_t from, void *data, size_t bytes, pn_err *err)
{
    pn_status status = check_rank(ranks, from, err);

    return status == PN_OK ? explain(ranks, "receive", ranks->ops->receive(ranks->self, from, data, bytes), err)
                           : status;
}
