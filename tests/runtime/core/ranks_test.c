/* ranks_test.c -- shares, exchange, agreement and messages of ranks, which are threads here.
 * Depends on: core/ranks.h, fake_ranks.h. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "fail_alloc.h"
#include "fake_ranks.h"

#define CHUNKS_MOST 13

/* ---- shares ---- */

/* Rank r of a world that nobody runs. */
static pn_ranks *lone(fake_world *world, fake_rank *self, size_t size, size_t rank)
{
    pn_ranks *ranks = NULL;
    pn_err err;

    world->size = size;
    *self = (fake_rank){ world, rank };
    CHECK(pn_ranks_new(&ranks, &fake_ops, self, &err) == PN_OK);
    return ranks;
}

static void shares_cover_all_chunks_once(void)
{
    fake_world world = { 0 };
    fake_rank self;

    for (size_t size = 1; size <= 5; size++) {
        for (size_t count = 0; count <= CHUNKS_MOST; count++) {
            size_t at = 0;

            for (size_t r = 0; r < size; r++) {
                pn_ranks *ranks = lone(&world, &self, size, r);
                size_t begin, end;

                pn_ranks_share(ranks, count, &begin, &end);
                CHECK(begin == at && end >= begin);
                CHECK(end - begin == count / size || end - begin == count / size + 1);
                CHECK(r > 0 || count == 0 || end > 0);
                at = end;
                pn_ranks_free(ranks);
            }
            CHECK(at == count);
        }
    }
}

/* Any cut into chunks of so many records at most, the last one shorter; asked: more than n / 32 + 4096, or 0. */
static void what_ranks_hold_covers(size_t n, size_t asked)
{
    size_t most = asked ? asked : n / 32 + 4096;
    fake_world world = { 0 };
    fake_rank self;

    for (size_t size = 1; size <= 40; size++) {
        for (size_t r = 0; r < size; r++) {
            pn_ranks *ranks = lone(&world, &self, size, r);
            size_t first, last, begin, end, missed = 0;

            pn_ranks_hold(ranks, n, asked, &first, &last);
            CHECK(last <= n && first < last);
            CHECK((first == 0 && last == n) == (size == 1 || most >= n));
            for (size_t rows = 1; rows <= most; rows += 1 + rows / 8 + (rows == 4096)) {
                pn_ranks_share(ranks, (n + rows - 1) / rows, &begin, &end);
                missed += begin < end && (begin * rows < first || (end * rows < n ? end * rows : n) > last);
            }
            pn_ranks_share(ranks, (n + most - 1) / most, &begin, &end);
            missed += begin < end && (begin * most < first || (end * most < n ? end * most : n) > last);
            CHECK(missed == 0);
            pn_ranks_free(ranks);
        }
    }
}

static void what_ranks_hold_covers_their_share_of_any_cut(void)
{
    static const size_t records[] = { 1, 7, 5000, 131072, 1000003 };

    for (size_t i = 0; i < sizeof records / sizeof records[0]; i++)
        what_ranks_hold_covers(records[i], 0);
    what_ranks_hold_covers(1000003, 250007);
    what_ranks_hold_covers(131072, 131071);
}

static void no_ranks_are_one(void)
{
    size_t begin = 7, end = 7;
    fake_world world = { 0 };
    fake_rank self;
    pn_ranks *one = lone(&world, &self, 1, 0);

    pn_ranks_share(NULL, 9, &begin, &end);
    CHECK(begin == 0 && end == 9);
    CHECK(pn_ranks_rank(NULL) == 0 && pn_ranks_size(NULL) == 1);
    CHECK(!pn_ranks_enter(NULL));
    CHECK(!pn_ranks_enter(one));
    pn_ranks_free(pn_ranks_keep(one));
    CHECK(pn_ranks_size(one) == 1);
    pn_ranks_free(one);
    pn_ranks_free(NULL);
}

static void other_versions_are_refused(void)
{
    pn_ranks_ops other = fake_ops;
    fake_world world = { .size = 2 };
    fake_rank self = { &world, 0 };
    pn_ranks *ranks = NULL;
    pn_err err;

    other.version = PN_RANKS_VERSION + 1;
    CHECK(pn_ranks_new(&ranks, &other, &self, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "version 1") && strstr(err.message, "version 2"));
    self.rank = 2;
    CHECK(pn_ranks_new(&ranks, &fake_ops, &self, &err) == PN_EINVAL);
    CHECK(ranks == NULL);
}

/* ---- exchange ---- */

/* What every rank ends up with: CHUNKS chunks of three numbers, the last of two; of two rows;
 * with chunk 0 elsewhere. */
typedef struct outcome {
    pn_status status[FAKE_MOST];
    char message[FAKE_MOST][PN_ERR_MAX];
    bool right[FAKE_MOST];
    size_t count;
    size_t failing; /* the rank that fails; FAKE_MOST: none */
    pn_status failure;
    uint64_t what[FAKE_MOST];
    bool uneven; /* rank 0 has a chunk, the last one half of them, those between the rest or nothing */
} outcome;

static int number(size_t chunk, size_t k)
{
    return (int)(100 * chunk + k);
}

static void exchange(pn_ranks *ranks, void *argument)
{
    outcome *out = argument;
    size_t me = pn_ranks_rank(ranks), begin, end, count = out->count;
    int rows[2][3 * CHUNKS_MOST], tail[CHUNKS_MOST * 3], head[3];
    double sums[CHUNKS_MOST];
    const pn_ranks_part parts[] = {
        { .data = rows,
          .bytes = 3 * sizeof(int),
          .total = (3 * count - 1) * sizeof(int),
          .times = 2,
          .stride = sizeof rows[0] },
        { .data = tail, .bytes = 3 * sizeof(int), .head = head },
        { .data = NULL, .bytes = 5 },
        { .data = sums, .bytes = sizeof *sums },
    };
    pn_err err = { PN_OK, "" };
    size_t size = pn_ranks_size(ranks), uneven[FAKE_MOST + 1] = { 0 }, *cut = out->uneven ? uneven : NULL;
    bool right = true;

    for (size_t r = 1; r < size; r++)
        uneven[r] = r + 1 < size ? 1 : (count + 1) / 2;
    uneven[size] = count;
    memset(rows, 0xff, sizeof rows);
    memset(tail, 0xff, sizeof tail);
    memset(head, 0xff, sizeof head);
    for (size_t c = 0; c < count; c++)
        sums[c] = -1.0;
    if (!pn_ranks_enter(ranks) || pn_ranks_enter(ranks))
        right = false;
    pn_ranks_share(ranks, count, &begin, &end);
    if (cut) {
        begin = cut[me];
        end = cut[me + 1];
    }
    for (size_t c = begin; c < end; c++) {
        sums[c] = 0.5 * (double)c;
        for (size_t k = 0; k < 3; k++) {
            if (3 * c + k < 3 * count - 1) {
                rows[0][3 * c + k] = number(c, k);
                rows[1][3 * c + k] = -number(c, k);
            }
            (c ? tail + 3 * (c - 1) : head)[k] = number(c, k);
        }
    }
    out->status[me] = me == out->failing ? pn_fail(&err, out->failure, "the disk of %zu is full", me) : PN_OK;
    out->status[me] = pn_ranks_complete(ranks, count, cut, parts, 4, out->what[me], out->status[me], &err);
    if (out->status[me] != PN_OK)
        memcpy(out->message[me], err.message, PN_ERR_MAX);
    for (size_t i = 0; i < 3 * count; i++) {
        right = right && (i == 3 * count - 1 || rows[0][i] == number(i / 3, i % 3));
        right = right && (i == 3 * count - 1 || rows[1][i] == -number(i / 3, i % 3));
        right = right && (i < 3 ? head[i] : tail[i - 3]) == number(i / 3, i % 3);
        right = right && sums[i / 3] == 0.5 * (double)(i / 3);
    }
    out->right[me] = right && rows[0][3 * count - 1] == -1;
    if (pn_ranks_enter(ranks)) /* after a failure, too */
        (void)pn_ranks_complete(ranks, 0, NULL, NULL, 0, 0, PN_OK, NULL);
    else
        out->right[me] = false;
}

static void all_get_all_parts(void)
{
    fake_world world;

    for (size_t size = 2; size <= 5; size++) {
        for (size_t count = 1; count <= CHUNKS_MOST; count += 3) {
            for (int uneven = 0; uneven < 2; uneven++) {
                outcome out = { .count = count, .failing = FAKE_MOST, .uneven = uneven };

                fake_run(&world, size, exchange, &out);
                for (size_t r = 0; r < size; r++)
                    CHECK(out.status[r] == PN_OK && out.right[r]);
            }
        }
    }
}

static void the_failure_of_one_is_that_of_all(void)
{
    fake_world world;

    for (size_t failing = 0; failing < 3; failing++) {
        outcome out = { .count = 6, .failing = failing, .failure = PN_ENOMEM };
        char wanted[64];

        (void)snprintf(wanted, sizeof wanted, "rank %zu: the disk of %zu is full", failing, failing);
        fake_run(&world, 3, exchange, &out);
        for (size_t r = 0; r < 3; r++) {
            CHECK(out.status[r] == PN_ENOMEM);
            CHECK(strcmp(out.message[r], r == failing ? wanted + strlen("rank 0: ") : wanted) == 0);
        }
    }
}

/* The error value of a callback is on one rank only. */
static void a_failed_callback_is_no_callback_elsewhere(void)
{
    outcome out = { .count = 4, .failing = 1, .failure = PN_ECALLBACK };
    fake_world world;

    fake_run(&world, 2, exchange, &out);
    CHECK(out.status[0] == PN_EIO && out.status[1] == PN_ECALLBACK);
}

static void ranks_that_do_different_things_are_told(void)
{
    outcome out = { .count = 4, .failing = FAKE_MOST, .what = { 5, 5, 6 } };
    fake_world world;

    fake_run(&world, 3, exchange, &out);
    for (size_t r = 0; r < 3; r++)
        CHECK(out.status[r] == PN_EIO && strstr(out.message[r], "rank 2 diverged from rank 0"));
}

static void a_broken_table_is_an_error(void)
{
    fake_world world = { .fails = 3 };
    fake_rank self;
    pn_ranks *ranks = lone(&world, &self, 2, 1);
    double data[2] = { 0.0 };
    pn_err err;

    CHECK(pn_ranks_complete(ranks, 2, NULL, &(pn_ranks_part){ .data = data, .bytes = 8 }, 1, 0, PN_OK, &err) == PN_EIO);
    CHECK(strcmp(err.message, "ranks: fake could not gather: fake error 3") == 0);
    CHECK(pn_ranks_broadcast(ranks, data, 8, &err) == PN_EIO);
    CHECK(strcmp(err.message, "ranks: fake could not broadcast: fake error 3") == 0);
    err = (pn_err){ PN_ENOMEM, "mine" };
    CHECK(pn_ranks_complete(ranks, 2, NULL, NULL, 0, 0, PN_ENOMEM, &err) == PN_ENOMEM);
    CHECK(strcmp(err.message, "mine") == 0);
    pn_ranks_free(ranks);
}

static void a_digest_tells_roundings_and_order_apart(void)
{
    double x[] = { 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 }, y[6];
    uint64_t digest = pn_ranks_digest(1, x, 6);

    memcpy(y, x, sizeof x);
    CHECK(pn_ranks_digest(1, y, 6) == digest);
    CHECK(pn_ranks_digest(2, y, 6) != digest);
    CHECK(pn_ranks_digest(1, y, 5) != digest);
    y[4] = nextafter(5.0, 6.0);
    CHECK(pn_ranks_digest(1, y, 6) != digest);
    y[4] = 1.0;
    y[0] = 5.0;
    CHECK(pn_ranks_digest(1, y, 6) != digest);
}

/* ---- messages ---- */

typedef struct talk {
    bool fine[FAKE_MOST];
} talk;

/* Ranks 1 .. send to rank 0, which answers with one more. */
static void converse(pn_ranks *ranks, void *argument)
{
    talk *out = argument;
    size_t me = pn_ranks_rank(ranks), bytes = 0;
    int word = (int)me;
    bool fine = true;

    if (me == 0) {
        fine = pn_ranks_probe(ranks, 1, 0.0, &bytes, NULL) == PN_OK;
        for (size_t r = 1; r < pn_ranks_size(ranks); r++) {
            fine = fine && pn_ranks_probe(ranks, r, 60.0, &bytes, NULL) == PN_OK && bytes == sizeof word;
            fine = fine && pn_ranks_receive(ranks, r, &word, bytes, NULL) == PN_OK && word == (int)r;
            word++;
            fine = fine && pn_ranks_send(ranks, r, &word, sizeof word, NULL) == PN_OK;
        }
        fine = fine && pn_ranks_probe(ranks, 1, 0.01, &bytes, NULL) == PN_OK && bytes == 0;
        fine = fine && pn_ranks_send(ranks, 0, &word, sizeof word, NULL) == PN_EINVAL;
        fine = fine && pn_ranks_send(ranks, 9, &word, sizeof word, NULL) == PN_EINVAL;
    } else {
        fine = pn_ranks_send(ranks, 0, &word, sizeof word, NULL) == PN_OK;
        fine = fine && pn_ranks_probe(ranks, 0, 60.0, &bytes, NULL) == PN_OK && bytes == sizeof word;
        fine = fine && pn_ranks_receive(ranks, 0, &word, bytes, NULL) == PN_OK && word == (int)me + 1;
    }
    out->fine[me] = fine;
}

static void messages_arrive(void)
{
    fake_world world;
    talk out;

    fake_run(&world, 4, converse, &out);
    for (size_t r = 0; r < 4; r++)
        CHECK(out.fine[r]);
}

/* ---- short memory ---- */

static pn_status make(void *self, pn_err *err)
{
    fake_world world = { .size = 3 };
    fake_rank rank = { &world, 1 };
    pn_ranks *ranks = NULL;
    pn_status status = pn_ranks_new(&ranks, &fake_ops, &rank, err);

    (void)self;
    pn_ranks_free(ranks);
    return status;
}

typedef struct exhausted {
    fail_alloc memory;
    pn_status status[FAKE_MOST];
    char message[FAKE_MOST][PN_ERR_MAX];
} exhausted;

/* There is no memory left anywhere when rank 1 fails. */
static void fail_without_memory(pn_ranks *ranks, void *argument)
{
    exhausted *out = argument;
    size_t me = pn_ranks_rank(ranks);
    pn_err err = { PN_OK, "" };

    (void)pn_ranks_complete(ranks, 0, NULL, NULL, 0, 0, PN_OK, NULL); /* all ranks are made */
    if (me == 0)
        out->memory.fail_at = 1;
    (void)pn_ranks_complete(ranks, 0, NULL, NULL, 0, 0, PN_OK, NULL);
    out->status[me] = me == 1 ? pn_fail(&err, PN_ENOMEM, "no memory") : PN_OK;
    out->status[me] = pn_ranks_complete(ranks, 0, NULL, NULL, 0, 0, out->status[me], &err);
    memcpy(out->message[me], err.message, PN_ERR_MAX);
}

/* A rank that could not take part would leave the others waiting. */
static void a_failure_is_told_without_memory(void)
{
    static exhausted out = { .memory = { .for_good = true } };
    const pn_allocator allocator = { fail_alloc_allocate, fail_alloc_resize, fail_alloc_release, &out.memory };
    fake_world world;

    pn_allocator_set(&allocator);
    fake_run(&world, 3, fail_without_memory, &out);
    pn_allocator_set(NULL);
    CHECK(atomic_load(&out.memory.live) == 0);
    for (size_t r = 0; r < 3; r++) {
        CHECK(out.status[r] == PN_ENOMEM);
        CHECK(strcmp(out.message[r], r == 1 ? "no memory" : "rank 1: no memory") == 0);
    }
}

int main(void)
{
    (void)alarm(100); /* ranks that wait for each other for ever */
    shares_cover_all_chunks_once();
    what_ranks_hold_covers_their_share_of_any_cut();
    no_ranks_are_one();
    other_versions_are_refused();
    all_get_all_parts();
    the_failure_of_one_is_that_of_all();
    a_failed_callback_is_no_callback_elsewhere();
    ranks_that_do_different_things_are_told();
    a_broken_table_is_an_error();
    a_digest_tells_roundings_and_order_apart();
    messages_arrive();
    fail_alloc_sweep("ranks", make, NULL);
    a_failure_is_told_without_memory();
    return check_summary();
}
