/* program_loss.c -- the protocol of program_loss.h: requests are written and answers read in one loop that waits for
 * whichever pipe is ready, so that neither side ever waits for the other in a ring.
 * Depends on: program_loss.h, child.h, data/number.h, numeric/decimal.h.  Used by: bindings. */
#define _GNU_SOURCE /* newlocale */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/alloc.h"
#include "data/number.h"
#include "numeric/decimal.h"
#include "objective/losses/child.h"
#include "objective/losses/program_loss.h"

#define AHEAD       64
#define SEND_BYTES  32768 /* of requests that are written together */
#define ANSWER_MAX  4095  /* bytes of a line */
#define QUOTED      60    /* bytes of a wrong answer that a message repeats */
#define LOOK_EVERY  0.1   /* seconds between looks for a cancel */
#define PATIENCE    0.2   /* seconds for a program to exit by itself */
#define NUMBER_ROOM (PN_DECIMAL_MAX + 1)

typedef struct text {
    char *bytes;
    size_t size, room;
} text;

typedef struct program {
    const char **command; /* one block with its words */
    double timeout;
    size_t ahead;
    void *c_locale;

    bool running;
    pn_child child;
    size_t dim, p; /* what it was told */

    text send; /* requests, of which the first `sent` bytes are gone */
    size_t sent;
    text record;               /* what all requests of a record end with */
    char read[ANSWER_MAX + 1]; /* answers, [begin, end) not looked at yet */
    size_t begin, end;
} program;

/* One call: `asked` of the requests are in `send` or gone, `answered` of them are answered. */
typedef struct exchange {
    program *self;
    const double *thetas;
    size_t count, dim, asked, answered;
    pn_task *task;
} exchange;

/* ---- failures ---- */

static void end_program(program *self, double patience, char *fate, size_t size)
{
    if (self->running)
        pn_child_end(&self->child, patience, fate, size);
    self->running = false;
    self->send.size = self->sent = self->begin = self->end = 0;
}

/* Its output is at its end. */
static pn_status has_ended(const exchange *call, pn_err *err)
{
    program *self = call->self;
    char fate[64] = "it ended";

    end_program(self, PATIENCE, fate, sizeof fate);
    if (call->count == 0)
        return pn_fail(err, PN_EIO, "loss.program: %.200s: %s before the first question", self->command[0], fate);
    return pn_fail(err, PN_EIO, "loss.program: %.200s: %s after %zu of %zu answers", self->command[0], fate,
                   call->answered, call->count);
}

static pn_status is_late(const exchange *call, pn_err *err)
{
    program *self = call->self;
    bool begun = self->end > self->begin;

    end_program(self, 0.0, NULL, 0);
    return pn_fail(err, PN_EIO,
                   "loss.program: %.200s: %s within %g s (timeout=); it must end every answer with a new line and "
                   "flush its output, as print(loss, flush=True) does in Python",
                   self->command[0], begun ? "began an answer but did not end its line" : "did not answer",
                   self->timeout);
}

static pn_status answered_wrongly(program *self, const char *line, const char *wanted, pn_err *err)
{
    char quoted[QUOTED + 4];
    size_t size = 0;

    for (; size < QUOTED && line[size]; size++)
        quoted[size] = line[size] >= ' ' && line[size] <= '~' ? line[size] : '?';
    (void)snprintf(quoted + size, sizeof quoted - size, "%s", line[size] ? "..." : "");
    end_program(self, 0.0, NULL, 0);
    return pn_fail(err, PN_EPARSE, "loss.program: %.200s: answered \"%s\", expected %s", self->command[0], quoted,
                   wanted);
}

static pn_status out_of_memory(program *self, pn_err *err)
{
    end_program(self, 0.0, NULL, 0); /* requests may be half written */
    return pn_fail(err, PN_ENOMEM, "loss.program: %.200s: out of memory", self->command[0]);
}

/* ---- requests ---- */

static bool reserve(text *to, size_t more)
{
    size_t room = to->size + more;
    char *bytes;

    if (room <= to->room)
        return true;
    room += room / 2;
    bytes = pn_resize(to->bytes, room, 1);
    if (!bytes)
        return false;
    to->bytes = bytes;
    to->room = room;
    return true;
}

/* Room was reserved. */
static void add_numbers(text *to, const double *numbers, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        to->size += pn_decimal(to->bytes + to->size, numbers[j]);
        to->bytes[to->size++] = ' ';
    }
}

/* "| 1 2 3 | 1 | 17\n" */
static bool lay_record(text *to, const pn_record *record)
{
    to->size = 0;
    if (!reserve(to, record->p * NUMBER_ROOM + 4 * NUMBER_ROOM))
        return false;
    memcpy(to->bytes, "| ", 2);
    to->size = 2;
    add_numbers(to, record->x, record->p);
    memcpy(to->bytes + to->size, "| ", 2);
    to->size += 2;
    add_numbers(to, &record->y, 1);
    to->size += (size_t)snprintf(to->bytes + to->size, to->room - to->size, "| %zu\n", record->row + 1);
    return true;
}

/* Requests to an empty buffer, once half of those in flight are answered: fewer writes of more bytes. */
static bool fill(exchange *call)
{
    program *self = call->self;
    text *to = &self->send;

    if (to->size > 0 || call->asked - call->answered > self->ahead / 2)
        return true;
    while (call->asked < call->count && call->asked - call->answered < self->ahead && to->size < SEND_BYTES) {
        if (!reserve(to, call->dim * NUMBER_ROOM + self->record.size))
            return false;
        add_numbers(to, call->thetas + call->asked * call->dim, call->dim);
        memcpy(to->bytes + to->size, self->record.bytes, self->record.size);
        to->size += self->record.size;
        call->asked++;
    }
    return true;
}

/* ---- waiting ---- */

static double now(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* What the pipe takes of `send`.  When nobody reads it any more the rest is dropped: the last answers,
 * or their end, tell why. */
static void write_some(program *self)
{
    ssize_t written;

    if (self->sent == self->send.size)
        return;
    written = pn_child_write(&self->child, self->send.bytes + self->sent, self->send.size - self->sent);
    if (written > 0)
        self->sent += (size_t)written;
    else if (errno != EAGAIN && errno != EINTR)
        self->sent = self->send.size;
    if (self->sent == self->send.size)
        self->sent = self->send.size = 0;
}

/* What there is of answers.  False: there will be no more. */
static bool read_some(program *self)
{
    ssize_t got;

    memmove(self->read, self->read + self->begin, self->end - self->begin);
    self->end -= self->begin;
    self->begin = 0;
    got = read(self->child.output, self->read + self->end, ANSWER_MAX - self->end);
    if (got < 0)
        return errno == EAGAIN || errno == EINTR;
    self->end += (size_t)got;
    return got > 0;
}

/* The next line of what was read, without its end; NULL when it is not whole. */
static char *take_line(program *self)
{
    char *line = self->read + self->begin, *end = memchr(line, '\n', self->end - self->begin);

    if (!end)
        return NULL;
    self->begin = (size_t)(end - self->read) + 1;
    *end = '\0';
    for (char *at = line; (at = memchr(at, '\0', (size_t)(end - at)));)
        *at = '?'; /* must not hide what follows it */
    if (end > line && end[-1] == '\r')
        end[-1] = '\0';
    return line;
}

/* Until a pipe is ready, it is time to look for a cancel, or no time is left. */
static pn_status wait_for_pipes(const exchange *call, double left, pn_err *err)
{
    program *self = call->self;
    struct pollfd pipes[2] = { { .fd = self->child.output, .events = POLLIN },
                               { .fd = self->child.input, .events = POLLOUT } };

    left = fmin(fmax(left, 0.0), LOOK_EVERY);
    (void)poll(pipes, self->send.size > 0 ? 2 : 1, (int)ceil(left * 1e3));
    if (!pn_task_cancelled(call->task))
        return PN_OK;
    end_program(self, 0.0, NULL, 0); /* what is in flight would be taken for answers of the next call */
    return pn_fail_in(err, pn_task_stopped(call->task, self->command[0], err), "loss.program");
}

/* The next line that it answers; valid until the next call.  It is late when there is none in what is read after the
 * deadline: one that came in time counts, even if it was us who could not look. */
static pn_status next_line(exchange *call, char **line, pn_err *err)
{
    program *self = call->self;
    double deadline = now() + self->timeout, left = self->timeout;

    while (!(*line = take_line(self))) {
        pn_status status;

        if (!(left > 0.0))
            return is_late(call, err);
        if (self->end - self->begin == ANSWER_MAX) {
            self->read[ANSWER_MAX] = '\0';
            return answered_wrongly(self, self->read + self->begin, "a line with one number", err);
        }
        if (!fill(call))
            return out_of_memory(self, err);
        write_some(self);
        left = deadline - now();
        status = wait_for_pipes(call, left, err);
        if (status != PN_OK)
            return status;
        if (!read_some(self))
            return has_ended(call, err);
    }
    return PN_OK;
}

/* ---- answers ---- */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* After `at` when it begins with that word in any case, which has lower-case letters only; else NULL. */
static const char *skip_word(const char *at, const char *word)
{
    for (; *word; at++, word++) {
        if ((*at | 0x20) != *word)
            return NULL;
    }
    return at;
}

/* nan, inf, infinity, with a sign if need be */
static const char *read_special(const char *at, double *out)
{
    bool negative = *at == '-';
    const char *after;

    at += *at == '-' || *at == '+';
    *out = NAN;
    after = skip_word(at, "nan");
    if (after)
        return after;
    *out = negative ? -INFINITY : INFINITY;
    after = skip_word(at, "infinity");
    return after ? after : skip_word(at, "inf");
}

static bool read_answer(const program *self, const char *line, double *out)
{
    const char *at = skip_blanks(line), *after = pn_number_read(at, out, self->c_locale);

    if (!after)
        after = read_special(at, out);
    return after && !*skip_blanks(after);
}

/* ---- a call ---- */

/* Started, told the sizes and ready. */
static pn_status make_ready(program *self, size_t dim, const pn_record *record, pn_err *err)
{
    exchange call = { .self = self, .task = record->task };
    pn_status status;
    char *line;

    if (self->running && pn_child_ours(&self->child) && self->dim == dim && self->p == record->p)
        return PN_OK;
    end_program(self, PATIENCE, NULL, 0);
    if (!reserve(&self->send, 4 * NUMBER_ROOM))
        return out_of_memory(self, err);
    status = pn_child_start(&self->child, self->command, err);
    if (status != PN_OK) {
        char context[256];

        (void)snprintf(context, sizeof context, "loss.program: %.200s", self->command[0]);
        return pn_fail_in(err, status, context);
    }
    self->running = true;
    self->dim = dim;
    self->p = record->p;
    self->send.size = (size_t)snprintf(self->send.bytes, self->send.room, "penumbra 1 %zu %zu\n", self->dim, self->p);
    status = next_line(&call, &line, err);
    if (status == PN_OK && strcmp(line, "ready") != 0)
        status = answered_wrongly(self, line, "the line \"ready\"", err);
    return status;
}

/* It says nothing that it was not asked, after a call (and `before` the next: then its end is noticed, too). */
static pn_status expect_silence(program *self, bool before, pn_err *err)
{
    if (before && self->begin == self->end && !read_some(self))
        return has_ended(&(exchange){ .self = self }, err);
    if (self->begin == self->end)
        return PN_OK;
    self->read[self->end] = '\0';
    self->read[self->begin + strcspn(self->read + self->begin, "\r\n")] = '\0';
    return answered_wrongly(self, self->read + self->begin, "no more than one answer to a request", err);
}

static pn_status ask(void *context, const double *thetas, size_t count, size_t dim, const pn_record *record,
                     double *values, pn_err *err)
{
    program *self = context;
    exchange call = { .self = self, .thetas = thetas, .count = count, .dim = dim, .task = record->task };
    pn_status status = make_ready(self, dim, record, err);

    if (status == PN_OK)
        status = expect_silence(self, true, err);
    if (status == PN_OK && !lay_record(&self->record, record))
        status = out_of_memory(self, err);
    for (; status == PN_OK && call.answered < count; call.answered++) {
        char *line;

        status = next_line(&call, &line, err);
        if (status == PN_OK && !read_answer(self, line, &values[call.answered]))
            status = answered_wrongly(self, line, "a number", err);
    }
    return status == PN_OK ? expect_silence(self, false, err) : status;
}

/* ---- the loss ---- */

static void release(void *context)
{
    program *self = context;

    end_program(self, PATIENCE, NULL, 0);
    if (self->c_locale)
        freelocale((locale_t)self->c_locale);
    pn_free(self->command);
    pn_free(self->send.bytes);
    pn_free(self->record.bytes);
    pn_free(self);
}

/* The words and the pointers to them in one block. */
static const char **copy_command(const char *const *command)
{
    size_t words = 0, bytes = 0;
    const char **copy;
    char *to;

    for (; command[words]; words++)
        bytes += strlen(command[words]) + 1;
    copy = pn_alloc((words + 1) * sizeof *copy + bytes, 1);
    if (!copy)
        return NULL;
    to = (char *)(copy + words + 1);
    for (size_t i = 0; i < words; i++) {
        size_t size = strlen(command[i]) + 1;

        copy[i] = memcpy(to, command[i], size);
        to += size;
    }
    copy[words] = NULL;
    return copy;
}

static pn_status check_options(const pn_program_options *options, pn_err *err)
{
    if (!options->command || !options->command[0] || !options->command[0][0])
        return pn_fail(err, PN_EINVAL, "loss.program: command must name a program");
    if (!(options->timeout >= 0.0) || isinf(options->timeout))
        return pn_fail(err, PN_EINVAL, "loss.program: timeout must be a positive number of seconds, got %g",
                       options->timeout);
    if (!(options->lipschitz >= 0.0) || isinf(options->lipschitz))
        return pn_fail(err, PN_EINVAL, "loss.program: lipschitz must be a positive number, got %g", options->lipschitz);
    return PN_OK;
}

static const pn_loss_ops program_row = {
    .name = "program",
    .doc = "A loss that another program computes, asked over a pipe; it has values, no derivatives.",
    .source = "Zhang, Tran, Cutkosky (2024) train on such losses",
};

pn_status pn_loss_program(pn_loss **out, const pn_program_options *options, pn_err *err)
{
    pn_status status = check_options(options, err);
    program *self;

    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&self, 1, err, "loss.program: out of memory"));
    self->timeout = options->timeout > 0.0 ? options->timeout : PN_PROGRAM_TIMEOUT;
    self->ahead = options->ahead ? options->ahead : AHEAD;
    self->command = copy_command(options->command);
    self->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    status = self->command && self->c_locale
                 ? pn_loss_black_box(out, ask, release, self, options->dim, options->lipschitz, err)
                 : pn_fail(err, PN_ENOMEM, "loss.program: out of memory");
    if (status != PN_OK) {
        release(self);
        return status;
    }
    (*out)->row = &program_row;
    return pn_loss_rename(*out, program_row.name, err);
}
