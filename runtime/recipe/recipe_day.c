/* recipe_day.c -- days of the Gregorian calendar and their numbers.  Depends on: recipe.h.  Used by: recipe. */
#include <stdio.h>

#include "recipe/recipe.h"

static bool digits(const char *at, size_t count, int *value)
{
    *value = 0;
    for (size_t k = 0; k < count; k++) {
        if (at[k] < '0' || at[k] > '9')
            return false;
        *value = *value * 10 + (at[k] - '0');
    }
    return true;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_of(int year, int month)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

    return days[month - 1] + (month == 2 && is_leap(year));
}

/* Days from 0000-01-01 to the first of January. */
static int before_year(int year)
{
    int last = year - 1;

    return year == 0 ? 0 : 365 * year + last / 4 - last / 100 + last / 400 + 1;
}

bool pn_recipe_day(const char *text, size_t length, double *day)
{
    int year, month, of_month, count;

    if (length < 10 || text[4] != '-' || text[7] != '-' || !digits(text, 4, &year) || !digits(text + 5, 2, &month) ||
        !digits(text + 8, 2, &of_month))
        return false;
    if (length > 10 && text[10] != 'T' && text[10] != ' ')
        return false;
    if (month < 1 || month > 12 || of_month < 1 || of_month > days_of(year, month))
        return false;
    count = before_year(year) - before_year(1970) + of_month - 1;
    for (int m = 1; m < month; m++)
        count += days_of(year, m);
    *day = count;
    return true;
}

void pn_recipe_day_text(char out[32], double day)
{
    int left = (int)day + before_year(1970), year = left / 366, month = 1;

    while (before_year(year + 1) <= left)
        year++;
    left -= before_year(year);
    while (left >= days_of(year, month))
        left -= days_of(year, month++);
    (void)snprintf(out, 32, "%04d-%02d-%02d", year, (unsigned char)month, (unsigned char)(left + 1));
}
