/* text.c -- a text file, gzip or plain, in blocks of whole lines that stay in the processor's cache.
 * Depends on: text.h, ahead.h, zlib.  Used by: libsvm.c, csv.c, recipe. */
#define _GNU_SOURCE /* memrchr, newlocale */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/file.h"
#include "data/files/text.h"

#define INPUT_BYTES    (64u << 10) /* compressed bytes at a time */
#define SMALL_BYTES    4096.0      /* of a file, which zlib reads at a time, too */
#define WORTH_A_THREAD 1048576.0   /* bytes of a file that takes longer to read than a thread to start */
#define QUOTED         24          /* bytes of the file that a message repeats */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* NULL with errno set, to 0 or ENOMEM for memory. */
static gzFile open_gzip(const char *path)
{
    int fd = pn_file_open(path, O_RDONLY, 0);
    gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");

    if (fd >= 0 && !file) {
        (void)close(fd);
        errno = ENOMEM;
    }
    return file;
}

/* A small file is one piece and a byte that is not there: room for large pieces takes longer to get and to give back
 * than to read it.  A compressed one may become anything. */
static size_t piece_of(pn_text *text)
{
    if (!(text->bytes > 0.0 && text->bytes < SMALL_BYTES))
        return PN_PIECE_BYTES;
    (void)gzbuffer(text->file, (unsigned)SMALL_BYTES);
    return gzdirect(text->file) ? (size_t)text->bytes + 1 : PN_PIECE_BYTES;
}

pn_status pn_text_open(pn_text *text, const char *path, pn_task *task, pn_err *err)
{
    struct stat facts;

    memset(text, 0, sizeof *text);
    text->path = path;
    text->name = last_part(path);
    text->task = task;
    (void)snprintf(text->label, sizeof text->label, "reading %s", text->name);
    errno = 0;
    text->file = open_gzip(path);
    if (!text->file) {
        if (errno == 0 || errno == ENOMEM)
            return pn_fail(err, PN_ENOMEM, "%.300s: out of memory", path);
        return pn_fail(err, PN_EIO, "%.300s: cannot be opened: %s", path, strerror(errno));
    }
    (void)gzbuffer(text->file, INPUT_BYTES);
    if (stat(path, &facts) == 0 && S_ISREG(facts.st_mode))
        text->bytes = (double)facts.st_size;
    text->c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    text->piece = piece_of(text);
    text->capacity = 2 * text->piece; /* a piece and most of a line that the one before has begun */
    text->buffer = pn_alloc(text->capacity, 1);
    text->ahead = pn_ahead_open(text->file, text->piece, text->bytes >= WORTH_A_THREAD);
    if (!text->buffer || !text->ahead || !text->c_locale) {
        pn_text_close(text);
        return pn_fail(err, PN_ENOMEM, "%.300s: out of memory", path);
    }
    return PN_OK;
}

void pn_text_close(pn_text *text)
{
    pn_ahead_close(text->ahead);
    if (text->file)
        (void)gzclose(text->file);
    if (text->c_locale)
        freelocale((locale_t)text->c_locale);
    pn_free(text->buffer);
    memset(text, 0, sizeof *text);
}

/* zlib has the system's reason from where the read failed, behind its own name for the file, "<fd:5>: ". */
static pn_status read_error(const pn_text *text, const pn_piece *piece, pn_err *err)
{
    const char *named = strstr(piece->why, ">: ");

    if (piece->code == Z_ERRNO)
        return pn_fail(err, PN_EIO, "%.300s: cannot be read: %s", text->path, named ? named + 3 : piece->why);
    if (piece->code == Z_MEM_ERROR)
        return pn_fail(err, PN_ENOMEM, "%.300s: out of memory", text->path);
    if (piece->code == Z_BUF_ERROR)
        return pn_fail(err, PN_EIO, "%.300s: the gzip stream is cut short (truncated file)", text->path);
    return pn_fail(err, PN_EIO, "%.300s: the gzip stream is damaged (corrupt file): %s", text->path, piece->why);
}

/* Moves what is left to the front and makes the buffer large enough for a piece and the newline that may be missing. */
static pn_status make_room(pn_text *text, pn_err *err)
{
    size_t left = text->end - text->next;

    if (left > 0 && text->next > 0)
        memmove(text->buffer, text->buffer + text->next, left);
    text->next = 0;
    text->end = left;
    if (text->capacity - left < text->piece + 1) { /* a line longer than a piece */
        char *larger = pn_resize(text->buffer, text->capacity, 2);

        PN_TRY(pn_made(larger, err, "%.300s: out of memory for a line of %zu bytes", text->path, left));
        text->buffer = larger;
        text->capacity *= 2;
    }
    return PN_OK;
}

/* Appends one piece to buffer[..end). */
static pn_status read_some(pn_text *text, pn_err *err)
{
    const pn_piece *piece = pn_ahead_next(text->ahead);

    if (piece->code != Z_OK)
        return read_error(text, piece, err);
    memcpy(text->buffer + text->end, piece->bytes, piece->used);
    text->end += piece->used;
    text->finished = piece->last;
    if (text->finished && text->end > text->next && text->buffer[text->end - 1] != '\n')
        text->buffer[text->end++] = '\n';
    return pn_task_report(text->task, text->label, fmax(0.0, piece->offset), text->bytes, err);
}

static void skip_byte_order_mark(pn_text *text)
{
    if (text->end - text->next >= 3 && memcmp(text->buffer + text->next, "\xEF\xBB\xBF", 3) == 0)
        text->next += 3;
}

/* The next whole lines, the last of them complete too; *begin == *end after the last. */
static pn_status next_lines(pn_text *text, char **begin, char **end, pn_err *err)
{
    char *last = NULL;
    bool first = text->line == 0 && text->end == 0 && !text->finished;
    pn_status status;

    while (!last) {
        size_t seen;

        if (text->finished) { /* the last block ended with a newline, so nothing is left */
            *begin = *end = text->buffer;
            return PN_OK;
        }
        status = make_room(text, err);
        seen = text->end;
        if (status == PN_OK)
            status = read_some(text, err);
        if (status != PN_OK)
            return status;
        last = text->end > seen ? memrchr(text->buffer + seen, '\n', text->end - seen) : NULL;
    }
    if (first)
        skip_byte_order_mark(text);
    *begin = text->buffer + text->next;
    *end = last + 1;
    text->next = (size_t)(last + 1 - text->buffer);
    return PN_OK;
}

pn_status pn_text_each_line(pn_text *text, pn_status (*read)(void *self, const char *line, pn_err *err), void *self,
                            pn_err *err)
{
    char *line, *end;
    pn_status status;

    while ((status = next_lines(text, &line, &end, err)) == PN_OK && line < end) {
        while (line < end) {
            text->line++;
            status = read(self, line, err);
            if (status != PN_OK)
                return status;
            line = (char *)memchr(line, '\n', (size_t)(end - line)) + 1;
        }
    }
    return status;
}

static size_t count_newlines(const char *at, const char *end)
{
    size_t count = 0;

    while ((at = memchr(at, '\n', (size_t)(end - at)))) {
        count++;
        at++;
    }
    return count;
}

/* The record at `line` is not all there: what is left of the block is handed out again, with more behind it. */
static pn_status go_on(pn_text *text, const char *line, const char *end, pn_err *err)
{
    if (text->finished || (size_t)(end - line) > PN_TEXT_RECORD / 2)
        return pn_fail(err, PN_EPARSE, "%.300s:%zu: a quoted text that begins in this record is not closed%s",
                       text->path, text->line + 1, text->finished ? "" : " within 4 MiB");
    text->next = (size_t)(line - text->buffer);
    return PN_OK;
}

pn_status pn_text_each_record(pn_text *text, const char *(*ends)(const void *self, const char *line, const char *end),
                              pn_status (*read)(void *self, const char *line, pn_err *err), void *self, pn_err *err)
{
    char *line, *end;
    pn_status status;

    while ((status = next_lines(text, &line, &end, err)) == PN_OK && line < end) {
        const char *at = line, *stop;

        while (at < end && (stop = ends(self, at, end))) {
            text->line++;
            status = read(self, at, err);
            if (status != PN_OK)
                return status;
            text->line += count_newlines(at, stop);
            at = stop + 1;
        }
        if (at < end)
            status = go_on(text, at, end, err);
        if (status != PN_OK)
            return status;
    }
    return status;
}

/* The piece of the line that starts at `at`, printable, in quotes. */
static void quote(char out[QUOTED + 8], const char *at, const char *stop)
{
    size_t used = 0;

    if (*at == '\n' || (*at == '\r' && at[1] == '\n')) {
        (void)snprintf(out, QUOTED + 8, "the end of the line");
        return;
    }
    if (*at == ' ' || *at == '\t') {
        (void)snprintf(out, QUOTED + 8, "a blank");
        return;
    }
    out[used++] = '\'';
    do {
        out[used++] = isprint((unsigned char)*at) ? *at : '?';
        at++;
    } while (used <= QUOTED && *at && !strchr(" \t\r\n", *at) && !strchr(stop, *at));
    if (used > QUOTED) {
        memcpy(out + used, "...", 3);
        used += 3;
    }
    out[used++] = '\'';
    out[used] = '\0';
}

pn_status pn_text_fail(const pn_text *text, const char *line, const char *at, const char *stop, pn_err *err,
                       const char *expected, ...)
{
    char found[QUOTED + 8], wanted[160];
    va_list args;

    va_start(args, expected);
    (void)vsnprintf(wanted, sizeof wanted, expected, args);
    va_end(args);
    quote(found, at, stop);
    return pn_fail(err, PN_EPARSE, "%.300s:%zu:%td: expected %s, found %s", text->path, text->line, at - line + 1,
                   wanted, found);
}
