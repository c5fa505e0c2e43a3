/* program_loss_test.c -- losses in other programs: tiny shell and awk children that answer, hang, crash and babble.
 * Depends on: check.h, sh, awk.  The children end by themselves or are ended by the loss: every test looks for one left
 * over. */
#define _GNU_SOURCE /* mkdtemp, pthread_sigmask */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "core/alloc.h"
#include "core/task.h"
#include "objective/losses/program_loss.h"

enum { DIM = 2, P = 3, MANY = 1000, JUMP = 1000 };

#define PATIENT 60.0 /* seconds: no program here takes so long to answer, however busy the machine is */
/* Lets JUMP seconds pass, again and again until it is killed: a signal that comes after the look at the clock and
 * before the wait wakes nobody. */
#define LATE(more) "while kill -USR2 $PPID; do " more "sleep 0.05; done"

static char folder[] = "/tmp/pn_program_XXXXXX";
static const double record_x[P] = { 1.0, -0.5, 1e-300 };

/* ---- events ---- */

static void make_fifo(char path[100], const char *name)
{
    (void)snprintf(path, 100, "%s/%s", folder, name);
    CHECK(mkfifo(path, 0600) == 0);
}

/* A child does `: > path`, which lasts until somebody reads: what it did before is done now,
 * and what follows is not before. */
static void wait_for_writer(const char *path)
{
    int file = open(path, O_RDONLY);
    char byte;

    CHECK(file >= 0 && read(file, &byte, 1) == 0 && close(file) == 0);
}

static volatile sig_atomic_t jumps;
/* a fifo: whoever reads the clock the second time finds its writer done, and JUMP seconds gone */
static const char *stall;
static int readings;

static void on_late(int number)
{
    (void)number;
    jumps++;
}

/* In the place of the system's, so that time passes when a test wants it to. */
int clock_gettime(clockid_t clock, struct timespec *at)
{
    int code;

    if (stall && ++readings == 2) {
        wait_for_writer(stall);
        stall = NULL;
        jumps++;
    }
    code = (int)syscall(SYS_clock_gettime, clock, at);
    at->tv_sec += (time_t)jumps * JUMP;
    return code;
}

/* ---- programs ---- */

/* Reads a line, ignores it, does what `answer` says; `$i` counts from 1. */
static const char *write_script(const char *name, const char *before, const char *answer)
{
    static char path[200];
    FILE *file;

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    CHECK(file != NULL);
    if (!file)
        return path;
    (void)fprintf(file,
                  "#!/bin/sh\nread -r hello\n%s\necho ready\ni=0\nwhile read -r line; do i=$((i + 1)); %s; done\n",
                  before, answer);
    CHECK(fclose(file) == 0 && chmod(path, 0700) == 0);
    return path;
}

typedef struct asked {
    pn_status status;
    pn_err err;
    double values[MANY];
} asked;

static pn_loss *loss_of(const char *program, double timeout, size_t dim)
{
    const char *command[] = { program, NULL };
    pn_loss *loss = NULL;
    pn_err err;

    CHECK(pn_loss_program(&loss, &(pn_program_options){ .command = command, .timeout = timeout, .dim = dim }, &err) ==
          PN_OK);
    return loss;
}

static void ask_about(asked *out, const pn_loss *loss, const double *thetas, size_t count, size_t dim,
                      const pn_record *record)
{
    double lipschitz;
    void *self;
    pn_record_fn call = pn_loss_record(loss, &self, &lipschitz);

    out->err.message[0] = '\0';
    memset(out->values, 0, sizeof out->values);
    out->status = call(self, thetas, count, dim, record, out->values, &out->err);
}

static void ask(asked *out, const pn_loss *loss, size_t count)
{
    static double thetas[MANY * DIM];

    for (size_t k = 0; k < MANY * DIM; k++)
        thetas[k] = (double)k / 8.0;
    ask_about(out, loss, thetas, count, DIM, &(pn_record){ .x = record_x, .p = P, .y = -1.0, .row = 16 });
}

static bool says(const asked *got, pn_status status, const char *words)
{
    bool holds = got->status == status && strstr(got->err.message, words);

    if (!holds)
        (void)fprintf(stderr, "    %s: %s\n", pn_status_name(got->status), got->err.message);
    return holds;
}

/* Every child of ours is reaped, running or not. */
static bool no_children(void)
{
    int how;

    return waitpid(-1, &how, WNOHANG) < 0 && errno == ECHILD;
}

/* Free the loss and look that nothing is left of it. */
static void end(pn_loss *loss)
{
    pn_loss_free(loss);
    CHECK(no_children());
}

static asked got;

static void test_protocol(void)
{
    char path[300], text[2000];
    size_t size;
    FILE *file;
    pn_loss *loss;

    (void)snprintf(text, sizeof text, "echo \"$hello\" > %s/log", folder);
    (void)snprintf(path, sizeof path, "echo \"$line\" >> %s/log; echo $i", folder);
    loss = loss_of(write_script("log.sh", text, path), PATIENT, 0);
    CHECK(strcmp(loss->name, "program") == 0 && strcmp(loss->row->name, "program") == 0 && loss->margins == 0);
    CHECK(no_children()); /* not before it is asked */
    ask(&got, loss, 2);
    CHECK(got.status == PN_OK && got.values[0] == 1.0 && got.values[1] == 2.0);
    ask(&got, loss, 1); /* still the same one */
    CHECK(got.status == PN_OK && got.values[0] == 3.0);
    end(loss);
    (void)snprintf(path, sizeof path, "%s/log", folder);
    file = fopen(path, "r");
    if (!CHECK(file != NULL))
        return;
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    CHECK(strcmp(text, "penumbra 1 2 3\n"
                       "0 0.125 | 1 -0.5 1e-300 | -1 | 17\n"
                       "0.25 0.375 | 1 -0.5 1e-300 | -1 | 17\n"
                       "0 0.125 | 1 -0.5 1e-300 | -1 | 17\n") == 0);
}

/* Whatever a program may print for a number. */
static void test_answers(void)
{
    static const struct {
        const char *text;
        double value;
    } good[] = { { "1", 1.0 },
                 { "-2.5e3", -2500.0 },
                 { "  +.5  ", 0.5 },
                 { "1e999", INFINITY },
                 { "inf", INFINITY },
                 { "-Infinity", -INFINITY },
                 { "0.1\\r", 0.1 },
                 { "\\t7", 7.0 },
                 { "5e-324", 0x1p-1074 },
                 { "+Inf", INFINITY },
                 { "1.7976931348623157e308", 0x1.fffffffffffffp1023 } };
    static const char *const not_numbers[] = { "nan", "NaN", "-nan" };
    static const char *const bad[] = { "",         "x",     "1,5", "1 2", "0x10",
                                       "infinite", "nanny", "1e",  "--1", "- 1",
                                       "1;",       "in",    "e5",  ".",   "error: singular matrix" };
    char body[200];

    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        pn_loss *loss;

        (void)snprintf(body, sizeof body, "printf -- '%s\\n'", good[i].text);
        loss = loss_of(write_script("answer.sh", "", body), PATIENT, 0);
        ask(&got, loss, 1);
        if (!CHECK(got.status == PN_OK && got.values[0] == good[i].value))
            (void)fprintf(stderr, "    %s: %g %s\n", good[i].text, got.values[0], got.err.message);
        end(loss);
    }
    for (size_t i = 0; i < sizeof not_numbers / sizeof *not_numbers; i++) {
        pn_loss *loss;

        (void)snprintf(body, sizeof body, "echo %s", not_numbers[i]);
        loss = loss_of(write_script("answer.sh", "", body), PATIENT, 0);
        ask(&got, loss, 1);
        CHECK(got.status == PN_OK && isnan(got.values[0]));
        end(loss);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char words[100];
        pn_loss *loss;

        (void)snprintf(body, sizeof body, "echo '%s'", bad[i]);
        loss = loss_of(write_script("answer.sh", "", body), PATIENT, 0);
        ask(&got, loss, 1);
        (void)snprintf(words, sizeof words, "answer.sh: answered \"%s\", expected a number", bad[i]);
        CHECK(says(&got, PN_EPARSE, words));
        CHECK(no_children()); /* a program that is not understood is ended at once */
        end(loss);
    }
}

static void test_answers_that_are_no_lines(void)
{
    pn_loss *loss = loss_of(write_script("long.sh", "", "head -c 100000 /dev/zero | tr '\\0' 7; echo"), PATIENT, 0);

    ask(&got, loss, 1);
    CHECK(says(&got, PN_EPARSE, "answered \"77777777777777777777777777777777777777777777777777777777777"));
    CHECK(strstr(got.err.message, "77...\", expected a line with one number"));
    end(loss);

    loss = loss_of(write_script("zero.sh", "", "printf '1@\\n' | tr @ '\\000'"), PATIENT, 0);
    ask(&got, loss, 1);
    CHECK(got.status == PN_EPARSE);
    end(loss);

    loss = loss_of(write_script("pieces.sh", "", "printf 1; sleep 0.05; printf 2.; sleep 0.05; echo 5"), PATIENT, 0);
    ask(&got, loss, 2);
    CHECK(got.status == PN_OK && got.values[0] == 12.5 && got.values[1] == 12.5);
    end(loss);

    loss = loss_of(write_script("partial.sh", "", "printf 1.5; " LATE("")), PATIENT, 0);
    ask(&got, loss, 1);
    CHECK(says(&got, PN_EIO, "partial.sh: began an answer but did not end its line within 60 s"));
    CHECK(no_children());
    end(loss);

    /* bytes that come are not an answer: the time is over none the less */
    loss = loss_of(write_script("drip.sh", "", "printf 1; " LATE("printf 1; ")), PATIENT, 0);
    ask(&got, loss, 1);
    CHECK(says(&got, PN_EIO, "drip.sh: began an answer but did not end its line within 60 s"));
    end(loss);

    loss = loss_of(write_script("bytes.sh", "", "printf '\\033[31m\\377\\n'"), PATIENT, 0);
    ask(&got, loss, 1);
    CHECK(says(&got, PN_EPARSE, "answered \"?[31m?\""));
    end(loss);
}

static void test_too_many_answers(void)
{
    pn_loss *loss = loss_of(write_script("twice.sh", "", "printf '1\\n2\\n'"), PATIENT, 0);
    char go[100], said[100], body[300];

    ask(&got, loss, 1);
    CHECK(says(&got, PN_EPARSE, "answered \"2\", expected no more than one answer to a request"));
    end(loss);
    make_fifo(go, "go");
    make_fifo(said, "said");
    (void)snprintf(body, sizeof body, "echo 1; : > %s; echo '99 bottles'; : > %s", go, said);
    loss = loss_of(write_script("later.sh", "", body), PATIENT, 0);
    ask(&got, loss, 1);
    if (CHECK(got.status == PN_OK)) {
        wait_for_writer(go);
        wait_for_writer(said);
    }
    ask(&got, loss, 1);
    CHECK(says(&got, PN_EPARSE, "answered \"99 bottles\", expected no more than one answer"));
    end(loss);
}

static void test_start(void)
{
    pn_loss *loss = loss_of("/nowhere/at/all", PATIENT, 0);

    ask(&got, loss, 1);
    CHECK(says(&got, PN_EIO, "loss.program: /nowhere/at/all: cannot be started: No such file or directory"));
    end(loss);
    loss = loss_of(folder, PATIENT, 0);
    ask(&got, loss, 1);
    CHECK(says(&got, PN_EIO, "cannot be started: Permission denied"));
    end(loss);
    loss = loss_of("true", PATIENT, 0);
    ask(&got, loss, 1);
    CHECK(says(&got, PN_EIO, "true: it ended with exit code 0 before the first question"));
    end(loss);
    loss = loss_of("cat", PATIENT, 0); /* hands back what it was told */
    ask(&got, loss, 1);
    CHECK(says(&got, PN_EPARSE, "cat: answered \"penumbra 1 2 3\", expected the line \"ready\""));
    end(loss);
    loss = loss_of(write_script("slow.sh", "sleep 0.3", "echo $i"), PATIENT, 0);
    ask(&got, loss, 3);
    CHECK(got.status == PN_OK && got.values[2] == 3.0);
    end(loss);
    loss = loss_of(write_script("never.sh", "sleep 100", "echo $i"), 0.2, 0);
    ask(&got, loss, 1);
    CHECK(says(&got, PN_EIO, "never.sh: did not answer within 0.2 s (timeout=)"));
    CHECK(no_children());
    end(loss);
}

static void test_ends(void)
{
    static const struct {
        const char *body, *words;
    } cases[] = {
        { "[ $i = 3 ] && exit 7; echo $i", "it ended with exit code 7 after 2 of 5 answers" },
        { "[ $i = 3 ] && kill -SEGV $$; echo $i", "it was ended by signal 11 after 2 of 5 answers" },
        { "[ $i = 3 ] && { exec >&-; sleep 100; }; echo $i", "it closed its output after 2 of 5 answers" },
        { "[ $i = 3 ] && { printf 1.5; exit 0; }; echo $i", "it ended with exit code 0 after 2 of 5 answers" },
        { "[ $i = 3 ] && { exec <&-; echo broken; sleep 100; }; echo $i", "answered \"broken\"" },
        { "[ $i = 3 ] && { " LATE("") "; }; echo $i", "did not answer within 60 s" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pn_loss *loss = loss_of(write_script("ends.sh", "", cases[i].body), PATIENT, 0);

        ask(&got, loss, 5);
        CHECK(says(&got, strstr(cases[i].words, "broken") ? PN_EPARSE : PN_EIO, cases[i].words));
        CHECK(no_children());
        ask(&got, loss, 2); /* it is started anew */
        CHECK(got.status == PN_OK && got.values[1] == 2.0);
        end(loss);
    }
}

/* It is gone between two calls, with nothing asked of it. */
static void test_ends_between_calls(void)
{
    pn_loss *loss = loss_of(write_script("once.sh", "", "echo $i; [ $i = 2 ] && exit 4"), PATIENT, 0);
    siginfo_t ended;

    ask(&got, loss, 2);
    CHECK(got.status == PN_OK);
    CHECK(waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT) == 0);
    ask(&got, loss, 1);
    CHECK(says(&got, PN_EIO, "it ended with exit code 4 before the first question"));
    end(loss);
}

/* What counts is when an answer came, not when we could look: here the deadline goes by between the request and the
 * look. */
static void test_an_answer_in_time_is_not_late(void)
{
    char said[100], body[200];
    pn_loss *loss;

    make_fifo(said, "in_time");
    (void)snprintf(body, sizeof body, "echo $i; [ $i = 2 ] && : > %s", said);
    loss = loss_of(write_script("in_time.sh", "", body), PATIENT, 0);
    ask(&got, loss, 1);
    if (CHECK(got.status == PN_OK)) {
        stall = said;
        ask(&got, loss, 1);
        CHECK(!stall && got.status == PN_OK && got.values[0] == 2.0);
    }
    end(loss);
}

/* More requests than the pipes hold, to a program that answers late, early, and not until it has many. */
static void test_many(void)
{
    static const char *const bodies[] = { "echo $i", "[ $((i % 32)) = 0 ] && for k in 1 2 3 4 5 6 7 8; do "
                                                     "echo 1; echo 1; echo 1; echo 1; done" };
    pn_loss *loss = loss_of(write_script("many.sh", "", bodies[0]), PATIENT, 0);

    ask(&got, loss, MANY);
    CHECK(got.status == PN_OK && got.values[0] == 1.0 && got.values[MANY - 1] == MANY);
    end(loss);
    loss = loss_of(write_script("bursts.sh", "", bodies[1]), PATIENT, 0);
    ask(&got, loss, 960); /* 64 are in flight, so that it always gets its 32 */
    CHECK(got.status == PN_OK && got.values[959] == 1.0);
    end(loss);
}

/* Lines that are longer than what a pipe holds, both on their way at once. */
static void test_long_theta(void)
{
    enum { LONG = 100000, COUNT = 4 };
    const char *command[] = {
        "awk", "-W", "interactive",
        "NR == 1 { print \"ready\"; fflush(); next } { s = 0; for (i = 1; i <= 100000; i++) s += $i; "
        "printf \"%.17g\\n\", s / 7; fflush() }",
        NULL
    };
    double *thetas = pn_alloc(COUNT, LONG * sizeof *thetas), y = 1.0;
    pn_loss *loss = NULL;
    pn_err err;

    if (!CHECK(thetas != NULL))
        return;
    for (size_t j = 0; j < COUNT * LONG; j++)
        thetas[j] = (double)(j % 7) + (double)(j / LONG) + 0.1;
    CHECK(pn_loss_program(&loss, &(pn_program_options){ .command = command, .dim = LONG, .timeout = PATIENT }, &err) ==
          PN_OK);
    CHECK(loss->dim == LONG);
    ask_about(&got, loss, thetas, COUNT, LONG, &(pn_record){ .x = record_x, .p = 1, .y = y });
    for (size_t k = 0; k < COUNT; k++) {
        double sum = 0.0;

        for (size_t j = 0; j < LONG; j++)
            sum += thetas[k * LONG + j];
        CHECK(got.values[k] == sum / 7);
    }
    if (got.status != PN_OK)
        (void)fprintf(stderr, "    %s\n", got.err.message);
    pn_free(thetas);
    end(loss);
}

/* Every double goes there and comes back as it was, under a locale whose point is a comma, too. */
static void test_numbers(void)
{
    const char *command[] = { "sh", "-c",
                              "read -r hello; echo ready; while read -r a rest; do printf '%s\\n' \"$a\"; done", NULL };
    static double thetas[MANY * DIM];
    pn_loss *loss = NULL;
    uint64_t bits = 88172645463325252u;
    size_t wrong = 0;
    pn_err err;

    (void)setlocale(LC_ALL, "de_DE.UTF-8");
    for (size_t k = 0; k < MANY * DIM; k++) {
        do {
            bits ^= bits << 13; /* Marsaglia's xorshift */
            bits ^= bits >> 7;
            bits ^= bits << 17;
            memcpy(&thetas[k], &bits, sizeof bits);
        } while (isnan(thetas[k]));
    }
    thetas[0] = -0x0.fffffffffffffp-1022; /* the longest there is */
    thetas[2] = -0.0;
    thetas[4] = -2.2250738585072014e-308;
    CHECK(pn_loss_program(&loss, &(pn_program_options){ .command = command }, &err) == PN_OK);
    ask_about(&got, loss, thetas, MANY, DIM, &(pn_record){ .x = record_x, .p = P, .y = 0.5 });
    CHECK(got.status == PN_OK);
    for (size_t k = 0; k < MANY; k++)
        wrong += memcmp(&got.values[k], &thetas[k * DIM], sizeof(double)) != 0;
    CHECK(wrong == 0);
    (void)setlocale(LC_ALL, "C");
    end(loss);
}

/* A program is told its sizes once; for others a new one is started. */
static void test_sizes(void)
{
    static const size_t sizes[][2] = { { 1, 1 }, { 1, 2 }, { 2, 2 }, { 2, 1 } };
    pn_loss *loss = loss_of(write_script("sizes.sh", "set -- $hello", "echo $(($3 * 100 + $4 * 10 + i))"), PATIENT, 0);
    const double theta[2] = { 0 };

    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        for (int again = 0; again < 2; again++) {
            ask_about(&got, loss, theta, 1, sizes[k][0], &(pn_record){ .x = theta, .p = sizes[k][1] });
            CHECK(got.status == PN_OK);
            CHECK(got.values[0] == 100.0 * (double)sizes[k][0] + 10.0 * (double)sizes[k][1] + 1.0 + again);
        }
    }
    end(loss);
}

/* Two in flight are never three; of six, three are written again as soon as three are answered. */
static void test_ahead(void)
{
    const char *command[] = { write_script("three.sh", "", "[ $((i % 3)) = 0 ] && { echo 1; echo 2; echo 3; }"), NULL };

    for (size_t ahead = 2; ahead <= 6; ahead += 4) {
        pn_loss *loss = NULL;
        pn_err err;

        CHECK(pn_loss_program(
                  &loss,
                  &(pn_program_options){ .command = command, .ahead = ahead, .timeout = ahead > 2 ? PATIENT : 0.3 },
                  &err) == PN_OK);
        ask(&got, loss, 12);
        CHECK(got.status == (ahead > 2 ? PN_OK : PN_EIO));
        CHECK(got.values[2] == (ahead > 2 ? 3.0 : 0.0));
        end(loss);
    }
}

/* The signal comes from the program itself, so that nothing depends on time. */
static pn_task *stopped;

static void on_signal(int number)
{
    (void)number;
    pn_task_cancel(stopped);
}

static void test_cancel(void)
{
    pn_loss *loss =
        loss_of(write_script("stop.sh", "", "[ $i = 2 ] && { kill -USR1 $PPID; sleep 100; }; echo $i"), PATIENT, 0);
    pn_err err;

    CHECK(pn_task_new(&stopped, 1, &err) == PN_OK);
    CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
    for (int again = 0; again < 2; again++) {
        const double thetas[3] = { 0 };

        pn_task_reset(stopped);
        ask_about(&got, loss, thetas, 3, 1, &(pn_record){ .x = record_x, .p = P, .task = stopped });
        CHECK(says(&got, PN_ECANCELLED, "stopped by the user"));
        CHECK(no_children());
    }
    (void)signal(SIGUSR1, SIG_DFL);
    pn_task_free(stopped);
    end(loss);
}

/* What it has started ends with it: a grandchild that holds a pipe of ours is gone when the pipe is at its end. */
static void test_grandchildren(void)
{
    char body[300], byte;
    int ends[2];
    pn_loss *loss;

    CHECK(pipe(ends) == 0); /* not closed on exec: the children inherit it */
    (void)snprintf(body, sizeof body, "[ $i = 1 ] && sleep 100 & echo $i");
    loss = loss_of(write_script("parent.sh", "", body), PATIENT, 0);
    ask(&got, loss, 1);
    CHECK(got.status == PN_OK);
    CHECK(close(ends[1]) == 0);
    end(loss);
    CHECK(read(ends[0], &byte, 1) == 0); /* would wait for 100 s */
    CHECK(close(ends[0]) == 0);
}

/* A write to a program that is gone raises SIGPIPE neither here nor later, and leaves one that the host has put off. */
static void test_sigpipe(void)
{
    sigset_t pipes, pending;
    /* more answers than half of what is in flight: then the next requests are written, and nobody reads them */
    pn_loss *loss = loss_of(write_script("gone.sh", "",
                                         "exec <&-; while [ $i -le 40 ]; do echo 1; i=$((i + 1)); done; "
                                         "sleep 100"),
                            0.3, 0);

    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR);
    ask(&got, loss, MANY);
    CHECK(says(&got, PN_EIO, "did not answer"));
    (void)sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
    (void)sigemptyset(&pipes);
    (void)sigaddset(&pipes, SIGPIPE);
    CHECK(pthread_sigmask(SIG_BLOCK, &pipes, NULL) == 0 && raise(SIGPIPE) == 0);
    ask(&got, loss, MANY);
    CHECK(got.status == PN_EIO);
    (void)sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 1);
    CHECK(signal(SIGPIPE, SIG_IGN) != SIG_ERR); /* drops it */
    CHECK(signal(SIGPIPE, SIG_DFL) != SIG_ERR && pthread_sigmask(SIG_UNBLOCK, &pipes, NULL) == 0);
    end(loss);
}

/* A forked child of ours starts a program of its own, and leaves the parent's alone. */
static void test_fork(void)
{
    pn_loss *loss = loss_of(write_script("count.sh", "", "echo $i"), PATIENT, 0);
    pid_t child;
    int how = 1;

    ask(&got, loss, 2);
    CHECK(got.status == PN_OK && got.values[1] == 2.0);
    child = fork();
    if (child == 0) {
        ask(&got, loss, 2);
        pn_loss_free(loss);
        _exit(got.status == PN_OK && got.values[0] == 1.0 && got.values[1] == 2.0 && no_children() ? 0 : 1);
    }
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0);
    ask(&got, loss, 1);
    CHECK(got.status == PN_OK && got.values[0] == 3.0);
    end(loss);
}

/* A program holds no pipe of another: as many open while a second one runs as alone. */
static void test_no_pipe_is_inherited(void)
{
    char before[300];
    pn_loss *first, *second;
    double alone;

    (void)snprintf(before, sizeof before, "exec 2>/dev/null; ls -l /proc/$$/fd > %s/$$; pipes=$(grep -c pipe: %s/$$)",
                   folder, folder);
    first = loss_of(write_script("pipes.sh", before, "echo $pipes"), PATIENT, 0);
    second = loss_of(write_script("pipes.sh", before, "echo $pipes"), PATIENT, 0);
    ask(&got, first, 1);
    alone = got.values[0];
    CHECK(got.status == PN_OK && alone >= 2.0);
    ask(&got, second, 1);
    CHECK(got.status == PN_OK && got.values[0] == alone);
    pn_loss_free(second);
    end(first);
}

/* Started from a process without standard files, the pipes do not get in each other's way. */
static void test_closed_standard_files(void)
{
    const char *program = write_script("count.sh", "", "echo $i");
    pid_t child = fork();
    int how = 1;

    if (child == 0) {
        pn_loss *loss;

        (void)close(0);
        (void)close(1);
        loss = loss_of(program, PATIENT, 0);
        ask(&got, loss, 2);
        /* nor would a host that prints print into a pipe */
        how = got.status == PN_OK && got.values[1] == 2.0 && write(1, "9\n", 2) < 0 ? 0 : 1;
        pn_loss_free(loss);
        _exit(how);
    }
    CHECK(waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 0);
}

static void test_options(void)
{
    const char *command[] = { "sh", NULL }, *none[] = { NULL }, *empty[] = { "", NULL };
    const pn_program_options bad[] = {
        { .command = NULL },
        { .command = none },
        { .command = empty },
        { .command = command, .timeout = -1.0 },
        { .command = command, .timeout = NAN },
        { .command = command, .timeout = INFINITY },
        { .command = command, .lipschitz = -1.0 },
        { .command = command, .lipschitz = NAN },
    };
    pn_err err;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        pn_loss *loss = NULL;

        CHECK(pn_loss_program(&loss, &bad[i], &err) == PN_EINVAL && !loss);
        CHECK(strncmp(err.message, "loss.program: ", 14) == 0);
    }
}

int main(void)
{
    char command[100];

    if (!CHECK(mkdtemp(folder) != NULL) || !CHECK(signal(SIGUSR2, on_late) != SIG_ERR))
        return check_summary();
    test_options();
    test_protocol();
    test_answers();
    test_answers_that_are_no_lines();
    test_too_many_answers();
    test_start();
    test_ends();
    test_ends_between_calls();
    test_an_answer_in_time_is_not_late();
    test_many();
    test_long_theta();
    test_numbers();
    test_sizes();
    test_ahead();
    test_cancel();
    test_grandchildren();
    test_sigpipe();
    test_fork();
    test_no_pipe_is_inherited();
    test_closed_standard_files();
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0); /* NOLINT: a name of ours */
    return check_summary();
}
