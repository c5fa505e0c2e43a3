/* pty_run.c -- run a command on a terminal of its own and play a script of keys to it.
 * Usage: pty_run COLUMNS SCRIPT COMMAND [ARGUMENT ...].  What the terminal shows goes to stdout; the exit status is the
 * command's, 128 + signal when a signal ended it, and 99 when an expected text did not come.
 * A line of the script is one of
 *     send TEXT     type it; \n \t \e \\ and \xHH stand for keys, \x03 is Ctrl-C
 *     expect TEXT   wait until it (with the same escapes) appears behind what was expected last
 *     press TEXT    type it again and again, 50 milliseconds apart, until the command has left the terminal
 *     sleep N       wait N milliseconds
 *     stall N       the same without reading what comes: what the command writes fills the terminal,
 *                   and it waits in its write
 * Depends on: libutil (forkpty).  Used by: specs of the program and of the progress bar. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 120000 /* a guard against hanging, not a measure */
#define PRESS_MS    50
#define NOT_FOUND   99
#define BROKEN      98

static char *screen; /* everything that was shown, NUL-terminated */
static size_t shown, expected;
static int terminal;

static long now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Take what comes within `timeout` milliseconds; 0 when the terminal is closed. */
static int take(int timeout)
{
    struct pollfd waiting = { terminal, POLLIN, 0 };
    char block[4096];
    ssize_t got;

    if (poll(&waiting, 1, timeout) <= 0)
        return 1;
    got = read(terminal, block, sizeof block);
    if (got <= 0)
        return 0;
    screen = realloc(screen, shown + (size_t)got + 1);
    if (!screen)
        exit(BROKEN);
    memcpy(screen + shown, block, (size_t)got);
    shown += (size_t)got;
    screen[shown] = '\0';
    return 1;
}

/* 0 when the terminal is closed. */
static int rest(long ms)
{
    long end = now_ms() + ms;

    for (long left = ms; left > 0; left = end - now_ms()) {
        if (!take((int)left))
            return 0;
    }
    return 1;
}

static int expect(const char *text)
{
    long end = now_ms() + PATIENCE_MS;
    int open = 1;

    for (;;) {
        char *found = screen ? strstr(screen + expected, text) : NULL;

        if (found) {
            expected = (size_t)(found - screen) + strlen(text);
            return 1;
        }
        if (!open || now_ms() > end)
            return 0;
        open = take(100);
    }
}

/* Resolve escapes in place. */
static void unescape(char *text)
{
    char *out = text;

    for (const char *in = text; *in; in++) {
        if (*in != '\\' || !in[1]) {
            *out++ = *in;
            continue;
        }
        in++;
        if (*in == 'x' && in[1] && in[2]) {
            char hex[3] = { in[1], in[2], '\0' };

            *out++ = (char)strtol(hex, NULL, 16);
            in += 2;
        } else {
            *out++ = (char)(*in == 'n' ? '\n' : *in == 't' ? '\t' : *in == 'e' ? '\x1b' : *in);
        }
    }
    *out = '\0';
}

static void type(const char *text)
{
    size_t length = strlen(text);

    while (length > 0) {
        ssize_t written = write(terminal, text, length);

        if (written < 0)
            return;
        text += written;
        length -= (size_t)written;
    }
}

static void press(const char *text)
{
    long end = now_ms() + PATIENCE_MS;

    do
        type(text);
    while (rest(PRESS_MS) && now_ms() < end);
}

/* 0, or the exit status for a script that did not work out. */
static int play(FILE *script)
{
    char buffer[4096];

    while (fgets(buffer, sizeof buffer, script)) {
        char *line = buffer + strspn(buffer, " "), *text = line + strcspn(line, " \n");

        line[strcspn(line, "\n")] = '\0';
        if (*text)
            *text++ = '\0';
        if (strcmp(line, "send") == 0) {
            unescape(text);
            type(text);
        } else if (strcmp(line, "press") == 0) {
            unescape(text);
            press(text);
        } else if (strcmp(line, "sleep") == 0) {
            (void)rest(atol(text));
        } else if (strcmp(line, "stall") == 0) {
            (void)poll(NULL, 0, atoi(text));
        } else if (strcmp(line, "expect") == 0) {
            unescape(text);
            if (!expect(text)) {
                (void)fprintf(stderr, "pty_run: \"%s\" was not shown\n", text);
                return NOT_FOUND;
            }
        } else if (line[0]) {
            (void)fprintf(stderr, "pty_run: unknown word \"%s\"\n", line);
            return BROKEN;
        }
    }
    return 0;
}

static int finish(pid_t child, int failure)
{
    long end = now_ms() + (failure ? 0 : PATIENCE_MS);
    int status = 0, late;

    while (take(100) && now_ms() < end)
        ;
    late = now_ms() >= end;
    if (late)
        kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (shown > 0)
        (void)fwrite(screen, 1, shown, stdout);
    if (failure || late)
        return failure ? failure : NOT_FOUND;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    struct winsize size = { 24, 80, 0, 0 };
    FILE *script = argc < 4 ? NULL : fopen(argv[2], "r");
    pid_t child;
    int failure;

    if (!script) {
        (void)fputs("usage: pty_run COLUMNS SCRIPT COMMAND [ARGUMENT ...]\n", stderr);
        return BROKEN;
    }
    size.ws_col = (unsigned short)atoi(argv[1]);
    child = forkpty(&terminal, NULL, NULL, &size);
    if (child < 0) {
        fclose(script);
        return BROKEN;
    }
    if (child == 0) {
        /* As a login has them: who runs the tests in the background ignores these, and a program inherits that. */
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGQUIT, SIG_DFL);
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    failure = play(script);
    fclose(script);
    return finish(child, failure);
}
