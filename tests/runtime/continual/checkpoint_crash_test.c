/* checkpoint_crash_test.c -- a process with a stream that follows a file dies: at each step of a push, and by kill -9
 * at any moment.  Nothing that was released is forgotten, at most one leaf more is there, and its release can be read.
 * Depends on: check.h, checkpoint_kit.h, POSIX. */
#define _GNU_SOURCE
#include "runtime/continual/checkpoint_kit.h"

#include <signal.h>

/* What a child tells of each release: the count and the numbers. */
typedef struct told {
    uint64_t count;
    double release[3];
} told;

static void release_for_ever(int end, const char *point, uint64_t from)
{
    pn_prefix *stream = NULL;
    told tell;

    if (pn_prefix_resume(&stream, path, NULL) != PN_OK)
        _exit(1);
    while (true) {
        if (point && pn_prefix_count(stream) == from)
            (void)setenv("PENUMBRA_MUTANT", point, 1);
        if (push_next(stream, tell.release, NULL) != PN_OK)
            _exit(2);
        tell.count = pn_prefix_count(stream);
        if (write(end, &tell, sizeof tell) != (ssize_t)sizeof tell)
            _exit(3);
    }
}

/* How a child dies: at a crash point in the leaf after `from`, or killed `delay` microseconds after its start, or after
 * it has told of its first release, however long that takes here. */
typedef struct death {
    const char *point;
    uint64_t from;
    useconds_t delay;
    bool after_a_word;
} death;

/* The last that a child has told before it died. */
static told killed_run(death how)
{
    int ends[2], ended = 0;
    told last = { 0 }, next;
    pid_t child;

    CHECK(pipe(ends) == 0);
    child = fork();
    if (child == 0) {
        (void)close(ends[0]);
        release_for_ever(ends[1], how.point, how.from);
    }
    (void)close(ends[1]);
    if (!how.point) {
        if (how.after_a_word && read(ends[0], &next, sizeof next) == (ssize_t)sizeof next)
            last = next;
        (void)usleep(how.delay);
        (void)kill(child, SIGKILL);
    }
    while (read(ends[0], &next, sizeof next) == (ssize_t)sizeof next)
        last = next;
    (void)close(ends[0]);
    CHECK(waitpid(child, &ended, 0) == child && WIFSIGNALED(ended) && WTERMSIG(ended) == SIGKILL);
    return last;
}

/* Nothing that was released is forgotten, and at most one leaf more is in the file; its release is there to be read. */
static uint64_t check_survivor(told last, uint64_t before)
{
    pn_prefix *stream = resumed(path);
    double release[3] = { 0 };
    uint64_t count = 0;

    if (stream) {
        count = pn_prefix_count(stream);
        CHECK(count >= before && count >= last.count && count <= (last.count > before ? last.count : before) + 1);
        CHECK(pn_prefix_is_paid(stream));
        CHECK(count == 0 || pn_prefix_read(stream, release, NULL) == PN_OK);
        if (last.count == count && count > before)
            CHECK(memcmp(release, last.release, sizeof release) == 0);
    }
    pn_prefix_free(stream);
    return count;
}

static void begin_followed(bool secure)
{
    const pn_prefix_options options = { .dim = 3, .sensitivity = 1.0, .rho = 0.5 };
    pn_prefix *stream = started(&options, secure);
    pn_err err;

    remove_files();
    CHECK(pn_prefix_follow(stream, path, &err) == PN_OK);
    pn_prefix_free(stream);
}

static void test_every_step(void)
{
    static const struct {
        const char *name;
        bool kept;
    } points[] = { { "stream_crash_before", false },      { "stream_crash_in_state", false },
                   { "stream_crash_after_state", false }, { "stream_crash_in_first", false },
                   { "stream_crash_first", false },       { "stream_crash_prepared", false },
                   { "stream_crash_in_second", true },    { "stream_crash_second", true },
                   { "stream_crash_after", true } };

    for (int secure = 0; secure < 2; secure++) {
        uint64_t count = 0;

        begin_followed(secure);
        for (uint64_t leaves = 0; leaves < 5; leaves++) {
            for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
                uint64_t from = count + leaves;
                told last = killed_run((death){ .point = points[i].name, .from = from });

                CHECK(last.count == (leaves > 0 ? from : 0)); /* who dies in a push has told nothing of it */
                count = check_survivor(last, count);
                CHECK(count == from + points[i].kept);
            }
        }
    }
}

static void test_kills(int kills, useconds_t most)
{
    uint64_t count = 0, released = 0;

    begin_followed(true);
    for (int i = 0; i < kills; i++) {
        useconds_t delay = (useconds_t)randombytes_uniform(i % 3 ? most : most / 10);
        told last = killed_run((death){ .delay = delay, .after_a_word = i % 4 == 0 });

        released += last.count > 0;
        count = check_survivor(last, count);
    }
    CHECK(released > 0);
    (void)printf("    %d kills, %llu leaves\n", kills, (unsigned long long)count);
}

int main(void)
{
    const char *base = getenv("TMPDIR");

    if (enter("/dev/shm")) {
        test_every_step();
        test_kills((int)check_draws(150, 15), 4000);
        leave();
    }
    if (!CHECK(enter(base ? base : "/tmp")))
        return check_summary();
    test_kills((int)check_draws(40, 4), 50000);
    leave();
    return check_summary();
}
