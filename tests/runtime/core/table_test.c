/* table_test.c -- rows by name, and what is said of a name that no row has.  Depends on: check.h. */
#include <string.h>

#include "core/size.h"
#include "core/table.h"

#include "check.h"

/* As pn_set_ops and the like: a head, and then their own. */
typedef struct fruit {
    const char *name, *doc, *source;
    const pn_param *params;
    int stones;
} fruit;

static const pn_param sizes[] = {
    { "size", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "how large" },
    PN_PARAM_END,
};
static const fruit cherry = { "cherry", "", "", sizes, 1 }, pear = { "pear", "", "", NULL, 0 },
                   gooseberry = { "gooseberry", "", "", NULL, 0 };
static const fruit *const rows[] = { &cherry, &pear, &gooseberry, NULL };
PN_TABLE(fruits, fruit, "fruit", "kind", rows);

static void rows_are_found_by_their_whole_name(void)
{
    CHECK(pn_table_find(rows, "pear") == &pear);
    CHECK(pn_table_find(rows, "pea") == NULL && pn_table_find(rows, "pears") == NULL &&
          pn_table_find(rows, "") == NULL);
}

static void options_are_checked_in_the_name_of_the_row(void)
{
    pn_arg size = { .given = true, .real = 2.0 }, none = { 0 };
    pn_status status = PN_EINVAL;
    pn_err err;

    CHECK(pn_table_open(&fruits, "pick", "cherry", &size, &status, &err) == &cherry && status == PN_OK);
    CHECK(pn_table_open(&fruits, "pick", "pear", NULL, &status, &err) == &pear && status == PN_OK);
    CHECK(!pn_table_open(&fruits, "pick", "cherry", &none, &status, &err) && status == PN_EINVAL);
    CHECK(strstr(err.message, "fruit.cherry: size is missing") == err.message);
    CHECK(pn_table_size(&fruits, "pear", "weight", PN_SIZE_MAX, &err) == PN_OK);
    CHECK(pn_table_size(&fruits, "pear", "weight", PN_SIZE_MAX + 1, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "fruit.pear: weight must be at most 2^48") == err.message);
}

static void refuses(const char *name, const char *message)
{
    pn_status status = PN_OK;
    pn_err err;

    CHECK(!pn_table_open(&fruits, "pick", name, NULL, &status, &err) && status == PN_EUNSUPPORTED);
    CHECK(strcmp(err.message, message) == 0);
    CHECK(pn_table_refuse(&fruits, "pick", name, NULL) == PN_EUNSUPPORTED);
}

static void the_nearest_name_is_told_with_all(void)
{
    refuses("chery", "pick: there is no kind \"chery\", the nearest is cherry; known are cherry, pear, gooseberry");
    refuses("pera", "pick: there is no kind \"pera\", the nearest is pear; known are cherry, pear, gooseberry");
    refuses("Goseberri",
            "pick: there is no kind \"Goseberri\", the nearest is gooseberry; known are cherry, pear, gooseberry");
    refuses("apple", "pick: there is no kind \"apple\"; known are cherry, pear, gooseberry");
    refuses("", "pick: there is no kind \"\"; known are cherry, pear, gooseberry");
    refuses("gooseberries in a pie with cream, and gooseberries beside it, and more",
            "pick: there is no kind \"gooseberries in a pie with cream, and gooseberries beside it\"; known are "
            "cherry, pear, "
            "gooseberry");
}

int main(void)
{
    rows_are_found_by_their_whole_name();
    options_are_checked_in_the_name_of_the_row();
    the_nearest_name_is_told_with_all();
    return check_summary();
}
