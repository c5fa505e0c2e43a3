/* channels_test.c -- the two threads of a notebook's kernel.  What is printed goes out before what is ordered after it,
 * as a part of what it answers, also while other threads print; heartbeats go on meanwhile; a request with a wrong
 * signature is dropped; the end lets nothing be lost, and gives standard output and error back.
 * Depends on: check.h, bindings/kernel/channels_impl.h, jansson, libsodium, libzmq, POSIX threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>
#include <sodium.h>

#include "bindings/kernel/channels_impl.h"
#include "check.h"

#define MANY       900   /* messages of a test: a socket that publishes holds 1000, and drops what is more */
#define PATIENCE   60000 /* milliseconds; a guard against hanging, not a measure */
#define PRINTERS   3
#define LINES      100
#define ORDERS     60
#define MESSAGE    7
#define TEXT_BYTES 20000

static const char key[] = "a key of the notebook";

/* What listens and asks, with sockets of its own. */
typedef struct client {
    void *context, *shell, *iopub, *heartbeat;
} client;

/* What was published, in its order: texts that follow each other in one stream for one parent are one. */
typedef struct part {
    char topic[40], parent[80], *text;
} part;

static part heard[MANY];
static size_t heard_count;
static bool well_signed = true;

/* ---- a client ---- */

static void *connect_to(const client *self, const char *folder, int kind, int port)
{
    void *socket = zmq_socket(self->context, kind);
    char address[200];
    int patience = PATIENCE, all = 0;

    (void)snprintf(address, sizeof address, "ipc://%s/k-%d", folder, port);
    CHECK(socket && zmq_setsockopt(socket, ZMQ_RCVTIMEO, &patience, sizeof patience) == 0);
    CHECK(zmq_setsockopt(socket, ZMQ_RCVHWM, &all, sizeof all) == 0);
    if (kind == ZMQ_SUB)
        CHECK(zmq_setsockopt(socket, ZMQ_SUBSCRIBE, "", 0) == 0);
    CHECK(zmq_connect(socket, address) == 0);
    return socket;
}

static void client_open(client *self, const char *folder)
{
    self->context = zmq_ctx_new();
    self->shell = connect_to(self, folder, ZMQ_DEALER, 1);
    self->iopub = connect_to(self, folder, ZMQ_SUB, 4);
    self->heartbeat = connect_to(self, folder, ZMQ_REQ, 5);
}

static void client_close(client *self)
{
    CHECK(zmq_close(self->shell) == 0 && zmq_close(self->iopub) == 0 && zmq_close(self->heartbeat) == 0);
    CHECK(zmq_ctx_term(self->context) == 0);
    for (size_t k = 0; k < heard_count; k++)
        free(heard[k].text);
    heard_count = 0;
}

static void sign(char out[2 * crypto_auth_hmacsha256_BYTES + 1], const char *const parts[PNL_PARTS])
{
    crypto_auth_hmacsha256_state state;
    unsigned char digest[crypto_auth_hmacsha256_BYTES];

    crypto_auth_hmacsha256_init(&state, (const unsigned char *)key, sizeof key - 1);
    for (int k = 0; k < PNL_PARTS; k++)
        crypto_auth_hmacsha256_update(&state, (const unsigned char *)parts[k], strlen(parts[k]));
    crypto_auth_hmacsha256_final(&state, digest);
    (void)sodium_bin2hex(out, 2 * crypto_auth_hmacsha256_BYTES + 1, digest, sizeof digest);
}

/* The frames of a message as texts; false: none came. */
static bool read_message(void *socket, char frames[MESSAGE][TEXT_BYTES], int flags)
{
    int more = 1;
    size_t size = sizeof more;

    for (int k = 0; more; k++) {
        int got = k < MESSAGE ? zmq_recv(socket, frames[k], TEXT_BYTES - 1, flags) : -1;

        if (got < 0 || got >= TEXT_BYTES)
            return false;
        frames[k][got] = '\0';
        if (zmq_getsockopt(socket, ZMQ_RCVMORE, &more, &size) != 0)
            return false;
    }
    return true;
}

static bool is_signed(char frames[][TEXT_BYTES]) /* from the delimiter on */
{
    char want[2 * crypto_auth_hmacsha256_BYTES + 1];

    sign(want, (const char *[]){ frames[2], frames[3], frames[4], frames[5] });
    return strcmp(frames[0], "<IDS|MSG>") == 0 && strcmp(frames[1], want) == 0;
}

static void hear(char frames[MESSAGE][TEXT_BYTES])
{
    json_t *content = json_loads(frames[6], 0, NULL);
    const char *text = json_string_value(json_object_get(content, "text"));
    part *last = heard_count ? &heard[heard_count - 1] : NULL;
    size_t before = 0;

    well_signed = well_signed && is_signed(frames + 1);
    text = text ? text : "";
    if (last && strncmp(frames[0], "stream.", 7) == 0 && strcmp(last->topic, frames[0]) == 0 &&
        strcmp(last->parent, frames[4]) == 0) {
        before = strlen(last->text);
    } else if (heard_count < MANY) {
        last = &heard[heard_count++];
        last->text = NULL;
        (void)snprintf(last->topic, sizeof last->topic, "%.39s", frames[0]);
        (void)snprintf(last->parent, sizeof last->parent, "%.79s", frames[4]);
    }
    last->text = realloc(last->text, before + strlen(text) + 1);
    memcpy(last->text + before, text, strlen(text) + 1);
    json_decref(content);
}

/* All up to a message of that topic. */
static void hear_until(const client *self, const char *topic)
{
    static char frames[MESSAGE][TEXT_BYTES];

    do {
        if (!read_message(self->iopub, frames, 0))
            return;
        hear(frames);
    } while (strcmp(frames[0], topic) != 0);
}

/* ---- a kernel ---- */

/* Who chose the names of sockets removes them, as Jupyter does. */
static void remove_folder(const char *folder)
{
    char name[200];

    for (int port = 1; port <= 5; port++) {
        (void)snprintf(name, sizeof name, "%s/k-%d", folder, port);
        (void)unlink(name);
    }
    CHECK(rmdir(folder) == 0);
}

static pnl_channels *channels_open(const char *folder)
{
    char place[120];
    const char *why = NULL;
    const pnl_connection to = { "ipc", place, key, 1, 2, 3, 4, 5 };
    pnl_channels *made;

    (void)snprintf(place, sizeof place, "%s/k", folder);
    made = pnl_channels_open(&to, &why);
    if (!CHECK(made != NULL))
        (void)fprintf(stderr, "    %s\n", why);
    return made;
}

static bool publish(pnl_channels *channels, const char *topic)
{
    return pnl_channels_publish(channels, (pnl_bytes){ topic, strlen(topic) },
                                (pnl_bytes[]){ { "{}", 2 }, { "{}", 2 }, { "{}", 2 }, { "{}", 2 } });
}

static bool answer(pnl_channels *channels, const char *header)
{
    return pnl_channels_answer(channels, (pnl_bytes){ header, strlen(header) });
}

/* What is published before a client has joined does not reach it. */
static bool join(pnl_channels *channels, const client *self)
{
    static char frames[MESSAGE][TEXT_BYTES];
    bool fine = true;

    while (fine && !read_message(self->iopub, frames, ZMQ_DONTWAIT))
        fine = publish(channels, "join");
    fine = fine && publish(channels, "joined");
    hear_until(self, "joined");
    while (heard_count > 0)
        free(heard[--heard_count].text);
    return fine;
}

/* A text that was printed by who was heard last. */
static bool is_part(size_t k, const char *topic, const char *parent, const char *text)
{
    return k < heard_count && strcmp(heard[k].topic, topic) == 0 && strcmp(heard[k].parent, parent) == 0 &&
           strcmp(heard[k].text, text) == 0;
}

/* Standard error is a pipe while channels are open: what a CHECK or a sanitizer said meanwhile. */
static void say_again(void)
{
    for (size_t k = 0; k < heard_count; k++) {
        if (strstr(heard[k].text, "ThreadSanitizer") || strstr(heard[k].text, "does not hold"))
            (void)fputs(heard[k].text, stderr);
    }
}

/* Channels and a client; what `body` does with them, and, once they are closed, what `judge` says of all that was
 * heard. */
static void with_channels(bool (*body)(pnl_channels *channels, const client *self), void (*judge)(void))
{
    char folder[] = "/tmp/penumbra-channels-XXXXXX";
    struct stat before[2], after[2];
    pnl_channels *channels;
    bool fine;
    client self;

    (void)fflush(stdout);
    CHECK(fstat(STDOUT_FILENO, &before[0]) == 0 && fstat(STDERR_FILENO, &before[1]) == 0);
    if (!CHECK(mkdtemp(folder) != NULL) || !(channels = channels_open(folder)))
        return;
    client_open(&self, folder);
    fine = join(channels, &self) && body(channels, &self) && publish(channels, "end");
    (void)printf("the last words");
    pnl_channels_close(channels);
    if (fine) {
        hear_until(&self, "end");
        hear_until(&self, "stream.stdout");
    }
    say_again();
    CHECK(fine);
    CHECK(well_signed);
    CHECK(heard_count > 0 && strcmp(heard[heard_count - 1].text, "the last words") == 0);
    CHECK(fstat(STDOUT_FILENO, &after[0]) == 0 && fstat(STDERR_FILENO, &after[1]) == 0);
    for (int k = 0; k < 2; k++)
        CHECK(before[k].st_ino == after[k].st_ino && before[k].st_dev == after[k].st_dev);
    judge();
    client_close(&self);
    remove_folder(folder);
}

/* ---- tests ---- */

static bool print_between_orders(pnl_channels *channels, const client *self)
{
    bool fine = answer(channels, "{\"of\":1}");

    (void)self;
    (void)printf("a\n");
    fine = fine && publish(channels, "first");
    (void)printf("b\n");
    fine = fine && answer(channels, "{\"of\":2}");
    (void)printf("c, and half of \xc3");
    (void)fflush(stdout);
    (void)printf("\xa9\nno more than half of \xc3");
    fine = fine && publish(channels, "second");
    (void)fprintf(stderr, "d\n");
    return fine;
}

static void judge_order(void)
{
    const char *replaced = "c, and half of \xc3\xa9\nno more than half of \xef\xbf\xbd";

    CHECK(heard_count == 8);
    CHECK(is_part(0, "stream.stdout", "{\"of\":1}", "a\n"));
    CHECK(is_part(1, "first", "{}", ""));
    CHECK(is_part(2, "stream.stdout", "{\"of\":1}", "b\n"));
    CHECK(is_part(3, "stream.stdout", "{\"of\":2}", replaced));
    CHECK(is_part(4, "second", "{}", ""));
    CHECK(is_part(5, "stream.stderr", "{\"of\":2}", "d\n"));
    CHECK(is_part(6, "end", "{}", ""));
}

static void *print_lines(void *self)
{
    for (int line = 0; line < LINES; line++)
        (void)printf("%d %d\n", *(const int *)self, line);
    return NULL;
}

/* As a run with helpers does; here each of them prints. */
static bool print_beside_orders(pnl_channels *channels, const client *self)
{
    pthread_t threads[PRINTERS];
    int names[PRINTERS], started = 0;
    char beat[8] = "", header[32];
    bool fine = true;

    for (; started < PRINTERS; started++) {
        names[started] = started;
        if (pthread_create(&threads[started], NULL, print_lines, &names[started]) != 0)
            break;
    }
    for (int k = 0; fine && k < ORDERS; k++) {
        (void)snprintf(header, sizeof header, "{\"of\":%d}", k);
        fine = answer(channels, header) && publish(channels, "tick");
    }
    fine = fine && zmq_send(self->heartbeat, "beat", 4, 0) == 4 &&
           zmq_recv(self->heartbeat, beat, sizeof beat, 0) == 4 && memcmp(beat, "beat", 4) == 0;
    for (int k = 0; k < started; k++)
        (void)pthread_join(threads[k], NULL);
    return fine && started == PRINTERS;
}

/* Each line once, those of a thread in its order. */
static void judge_lines(void)
{
    int next[PRINTERS] = { 0 }, ticks = 0, strange = 0;

    for (size_t k = 0; k < heard_count; k++) {
        char *rest = NULL;

        ticks += strcmp(heard[k].topic, "tick") == 0;
        if (strcmp(heard[k].topic, "stream.stdout") != 0 || k + 1 == heard_count)
            continue;
        for (const char *line = strtok_r(heard[k].text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            int name = -1, number = -1;

            if (sscanf(line, "%d %d", &name, &number) != 2 || name < 0 || name >= PRINTERS || number != next[name])
                strange++;
            else
                next[name]++;
        }
    }
    CHECK(strange == 0);
    CHECK(ticks == ORDERS);
    for (int k = 0; k < PRINTERS; k++)
        CHECK(next[k] == LINES);
}

static bool ask(const client *self, const char *signature)
{
    const char *const parts[PNL_PARTS] = { "{\"msg_type\":\"ask\"}", "{}", "{}", "{\"code\":\"1\"}" };
    char right[2 * crypto_auth_hmacsha256_BYTES + 1];
    bool fine;

    sign(right, parts);
    signature = signature ? signature : right;
    fine = pnl_send_frame(self->shell, (pnl_bytes){ "<IDS|MSG>", 9 }, true) &&
           pnl_send_frame(self->shell, (pnl_bytes){ signature, strlen(signature) }, true);
    for (int k = 0; fine && k < PNL_PARTS; k++)
        fine = pnl_send_frame(self->shell, (pnl_bytes){ parts[k], strlen(parts[k]) }, k + 1 < PNL_PARTS);
    return fine;
}

static bool answer_a_request(pnl_channels *channels, const client *self)
{
    static char frames[MESSAGE][TEXT_BYTES];
    pnl_request request = { .count = 0 };
    bool wrong, right, fine = ask(self, "0123456789abcdef") && ask(self, NULL);

    wrong = pnl_channels_receive(channels, PATIENCE, &request);
    right = pnl_channels_receive(channels, PATIENCE, &request);
    fine = fine && !wrong && right && request.channel == PNL_SHELL &&
           pnl_request_part(&request, PNL_CONTENT).size == strlen("{\"code\":\"1\"}") &&
           pnl_channels_answer(channels, pnl_request_part(&request, PNL_HEADER));
    (void)printf("done\n");
    fine = fine && pnl_channels_reply(channels, &request,
                                      (pnl_bytes[]){ { "{\"of\":3}", 8 }, { "{}", 2 }, { "{}", 2 }, { "{}", 2 } });
    pnl_request_clear(&request);
    return fine && read_message(self->shell, frames, 0) && is_signed(frames) && strcmp(frames[2], "{\"of\":3}") == 0;
}

static void judge_answer(void)
{
    CHECK(heard_count == 3);
    CHECK(is_part(0, "stream.stdout", "{\"msg_type\":\"ask\"}", "done\n"));
    CHECK(is_part(1, "end", "{}", ""));
}

int main(void)
{
    with_channels(print_between_orders, judge_order);
    with_channels(print_beside_orders, judge_lines);
    with_channels(answer_a_request, judge_answer);
    return check_summary();
}
