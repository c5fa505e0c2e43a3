/* repl_display.c -- an entry on the screen: its later lines behind dots; of one that is higher than the screen, which
 * readline cannot show, the part around the cursor; drawn anew where the window has another size.
 * Depends on: repl.h, GNU readline.  Used by: repl_edit.c, repl_input.c. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <readline/readline.h>

#include "bindings/prompt/repl.h"

#define MAX_LEAD   64
#define LEAST_ROWS 5  /* of a screen that a part is cut to */
#define NOTE_BYTES 64 /* of "(12 lines above)" */

static char lead[MAX_LEAD + 1] = "..> "; /* before later lines */
static char *shown_prompt;               /* by the last display of this entry; NULL: there was none */
static bool shown_lines;                 /* whether that had several lines */
static char *shown;                      /* what readline had for the last display */
static int shown_point;                  /* the cursor in it */
static int rows, columns;                /* of the window at the last display */
static int first_row;                    /* of the entry that is shown, where not all are */
static bool written;                     /* all of the entry is on the screen: nothing more is shown */

/* ---- columns ---- */

/* Columns of a prompt, in which \1 and \2 enclose what is invisible. */
static int prompt_width(const char *prompt)
{
    int width = 0;
    bool visible = true;

    for (; *prompt; prompt++) {
        if (*prompt == '\1' || *prompt == '\2')
            visible = *prompt == '\2';
        else if (visible && ((unsigned char)*prompt & 0xC0) != 0x80)
            width++;
    }
    return width;
}

/* The character at text: its bytes, and the columns that readline gives it at `column`. */
static int character(const char *text, int length, int column, int *width)
{
    mbstate_t state;
    wchar_t wide;
    size_t bytes;

    memset(&state, 0, sizeof state);
    if (*text == '\t') {
        *width = 8 - column % 8;
        return 1;
    }
    if ((unsigned char)*text < ' ' || *text == '\177') {
        *width = 2; /* ^A */
        return 1;
    }
    bytes = mbrtowc(&wide, text, (size_t)length, &state);
    if (bytes == 0 || bytes > (size_t)length) { /* no character */
        *width = 1;
        return 1;
    }
    *width = wcwidth(wide) < 0 ? 1 : wcwidth(wide);
    return (int)bytes;
}

/* Where the rows of a text begin whose first one begins at `column`: starts[], of length + 2 at most; their number.
 * Without starts they are only counted. */
static int rows_of(const char *text, int length, int column, int *starts)
{
    int count = 0;

    if (starts)
        starts[count] = 0;
    count++;
    for (int i = 0; i < length;) {
        int width = 0, bytes = 1;
        bool broken = text[i] == '\n';

        if (!broken)
            bytes = character(text + i, length - i, column, &width);
        if (broken || column + width > columns) {
            if (starts)
                starts[count] = broken ? i + 1 : i;
            count++;
            column = 0;
        }
        column += width;
        i += bytes;
    }
    if (column >= columns) { /* the cursor is on the next one */
        if (starts)
            starts[count] = length;
        count++;
    }
    return count;
}

/* ---- the prompt ---- */

static void forget_shown(void)
{
    free(shown_prompt);
    free(shown);
    shown_prompt = shown = NULL;
}

void repl_display_prompt(const char *prompt)
{
    int width = prompt_width(prompt);

    forget_shown();
    first_row = 0;
    written = false;
    width = width < 3 ? 3 : width > MAX_LEAD ? MAX_LEAD : width;
    memset(lead, '.', (size_t)width);
    lead[width - 2] = '>';
    lead[width - 1] = ' ';
    lead[width] = '\0';
}

/* Readline gets lost in several lines when the prompt changes, as for a search: let it begin anew. */
static void follow_prompt(void)
{
    bool lines = memchr(rl_line_buffer, '\n', (size_t)rl_end) != NULL;

    if (shown_prompt && strcmp(shown_prompt, rl_display_prompt) != 0 && (lines || shown_lines)) {
        (void)rl_clear_visible_line();
        (void)rl_on_new_line();
    }
    if (!shown_prompt || strcmp(shown_prompt, rl_display_prompt) != 0) {
        free(shown_prompt);
        shown_prompt = strdup(rl_display_prompt);
    }
    shown_lines = lines;
}

/* The window has another size: terminals have moved the text to fit it, so the entry begins as many rows above the
 * cursor as it takes now.  Readline itself draws it once more below. */
static void follow_window(void)
{
    int columns_before = columns, rows_before = rows;

    rl_get_screen_size(&rows, &columns);
    if ((columns_before == columns && rows_before == rows) || !shown || !rl_get_termcap("up"))
        return;
    for (int up = rows_of(shown, shown_point, prompt_width(rl_display_prompt), NULL) - 1; up > 0; up--)
        (void)fputs("\033[A", rl_outstream);
    (void)fputs("\r\033[J", rl_outstream);
    (void)rl_on_new_line();
}

/* ---- the entry ---- */

/* Where the byte at `point` of text stands once each line begins with the lead. */
static int shown_at(const char *text, int point)
{
    int at = point;

    for (int i = 0; i < point; i++)
        at += text[i] == '\n' ? (int)strlen(lead) : 0;
    return at;
}

/* Each newline with the lead behind it; NULL when memory ran out. */
static char *with_leads(const char *text, int length)
{
    size_t width = strlen(lead);
    char *out = malloc((size_t)shown_at(text, length) + 1), *end = out;

    if (!out)
        return NULL;
    for (int i = 0; i < length; i++) {
        *end++ = text[i];
        if (text[i] == '\n') {
            memcpy(end, lead, width);
            end += width;
        }
    }
    *end = '\0';
    return out;
}

/* The rows of a text from first_row on, which follows the cursor, between notes of how many there are besides;
 * *point moves into
 * it.  NULL when memory ran out. */
static char *part_around(const char *text, const int *starts, int count, int *point)
{
    int room = rows - 2, cursor = 0, last, from, to;
    char above[NOTE_BYTES] = "", below[NOTE_BYTES] = "", *part = NULL;

    while (cursor + 1 < count && starts[cursor + 1] <= *point)
        cursor++;
    first_row = cursor < first_row ? cursor : cursor >= first_row + room ? cursor - room + 1 : first_row;
    first_row = first_row > count - room ? count - room : first_row;
    last = first_row + room;
    from = starts[first_row];
    to = last < count ? starts[last] : (int)strlen(text);
    if (first_row > 0)
        (void)snprintf(above, sizeof above, "(%d line%s above)\n", first_row, first_row == 1 ? "" : "s");
    if (last < count)
        (void)snprintf(below, sizeof below, "(%d line%s below)", count - last, count - last == 1 ? "" : "s");
    if (asprintf(&part, "%s%.*s%s", above, to - from, text + from, below) < 0)
        return NULL;
    *point += (int)strlen(above) - from;
    return part;
}

/* What readline is to show for the entry, and where the cursor is in it; NULL when memory ran out. */
static char *view_of(const char *text, int end, int *point)
{
    char *whole = with_leads(text, end), *part;
    int at = shown_at(text, *point), length = shown_at(text, end), count;
    int *starts = whole && columns > 0 ? calloc((size_t)length + 2, sizeof *starts) : NULL;

    if (!starts) {
        free(whole);
        return NULL;
    }
    *point = at;
    count = rows_of(whole, length, prompt_width(rl_display_prompt), starts);
    if (count >= rows && rows >= LEAST_ROWS) {
        part = part_around(whole, starts, count, point);
        free(whole);
        whole = part;
    } else {
        first_row = 0;
    }
    free(starts);
    return whole;
}

/* Readline shows its buffer: for that time it has another one. */
void repl_display_entry(void)
{
    char *text = rl_line_buffer, *view;
    int point = rl_point, end = rl_end, mark = rl_mark, at = point;

    if (written)
        return;
    follow_window();
    follow_prompt();
    if (!(view = view_of(text, end, &at))) {
        rl_redisplay();
        return;
    }
    rl_line_buffer = view;
    rl_point = at;
    rl_end = (int)strlen(view);
    rl_mark = shown_at(text, mark > end ? end : mark);
    rl_mark = rl_mark > rl_end ? rl_end : rl_mark;
    rl_redisplay();
    rl_line_buffer = text;
    rl_point = point;
    rl_end = end;
    rl_mark = mark;
    free(shown);
    shown = view;
    shown_point = at;
}

void repl_display_whole(void)
{
    char *whole = with_leads(rl_line_buffer, rl_end);
    bool is_part = whole && shown && strlen(shown) != strlen(whole);

    if (is_part) {
        (void)rl_clear_visible_line();
        for (const char *c = rl_display_prompt; *c; c++)
            if (*c != '\1' && *c != '\2')
                (void)fputc(*c, rl_outstream);
        (void)fprintf(rl_outstream, "%s\r\n", whole);
        (void)rl_set_prompt("");
        (void)rl_on_new_line();
        written = true;
    }
    free(whole);
}
