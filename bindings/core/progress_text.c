/* progress_text.c -- see progress_text.h.  Used by: lprogress.c. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/progress_text.h"

/* 12:34 or 1:02:03. */
static void format_time(char *out, size_t size, double seconds)
{
    long whole = seconds < 3.6e6 ? lround(seconds) : -1;

    if (!(seconds >= 0.0) || whole < 0)
        (void)snprintf(out, size, "--:--");
    else if (whole < 3600)
        (void)snprintf(out, size, "%ld:%02ld", whole / 60, whole % 60);
    else
        (void)snprintf(out, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
}

/* Three significant digits and a unit: 12.3k. */
static void format_count(char *out, size_t size, double value)
{
    static const char *const units[] = { "", "k", "M", "G", "T" };
    size_t unit = 0;

    while (value >= 999.5 && unit + 1 < sizeof units / sizeof units[0]) {
        value /= 1000.0;
        unit++;
    }
    if (unit == 0 && value == floor(value))
        (void)snprintf(out, size, "%.0f", value);
    else
        (void)snprintf(out, size, "%.*f%s", value < 9.995 ? 2 : value < 99.95 ? 1 : 0, value, units[unit]);
}

double pnl_progress_share(const pn_progress *progress)
{
    return progress->total > 0.0 ? fmin(fmax(progress->done / progress->total, 0.0), 1.0) : -1.0;
}

static void PN_PRINTF(3, 4) add_part(char *out, size_t size, const char *format, ...)
{
    size_t used = strlen(out);
    va_list args;

    va_start(args, format);
    (void)vsnprintf(out + used, size - used, format, args);
    va_end(args);
}

void pnl_progress_describe(char *out, size_t size, const pnl_pace *pace, const pn_progress *progress, double now,
                           bool roomy)
{
    double share = pnl_progress_share(progress), rate = (progress->done - pace->phase_base) / (now - pace->phase_begun);
    char count[24], speed[24], elapsed[24], left[24];
    bool known = isfinite(rate) && rate > 0.0; /* not yet at the first report */

    format_count(count, sizeof count, progress->done);
    format_count(speed, sizeof speed, known ? rate : 0.0);
    format_time(elapsed, sizeof elapsed, now - pace->begun);
    format_time(left, sizeof left, known ? (progress->total - progress->done) / rate : 0.0);
    out[0] = '\0';
    if (share >= 0.0)
        add_part(out, size, "%3.0f%%", floor(100.0 * share));
    else
        add_part(out, size, "%s done", count);
    if (known)
        add_part(out, size, "  %s/s", speed);
    if (roomy || share < 0.0 || !known)
        add_part(out, size, "  %s", elapsed);
    if (share >= 0.0 && known)
        add_part(out, size, "%s%s left", roomy ? ", " : "  ", left);
    if (!isnan(progress->value))
        add_part(out, size, "  value %.4g", progress->value);
    if (progress->unit && !isnan(progress->spent))
        add_part(out, size, "  charged %.3g/%.3g%s%s", progress->spent, progress->budget, roomy ? " " : "",
                 roomy ? progress->unit : "");
}
