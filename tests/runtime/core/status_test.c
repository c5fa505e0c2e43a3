/* status_test.c -- messages of failures, and the small questions about views.  Depends on: check.h. */
#include <stdint.h>
#include <string.h>

#include "core/status.h"
#include "core/view.h"

#include "check.h"

static void messages_are_kept_and_cut(void)
{
    pn_err err;
    char text[2 * PN_ERR_MAX];

    CHECK(pn_fail(&err, PN_EDIM, "dot: %zu against %zu", (size_t)3, (size_t)4) == PN_EDIM);
    CHECK(err.status == PN_EDIM);
    CHECK(strcmp(err.message, "dot: 3 against 4") == 0);
    CHECK(pn_fail(NULL, PN_EIO, "nobody listens") == PN_EIO);

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    CHECK(pn_fail(&err, PN_EPARSE, "%s", text) == PN_EPARSE);
    CHECK(strlen(err.message) == PN_ERR_MAX - 1);
}

static void context_goes_in_front(void)
{
    pn_err err;
    char text[2 * PN_ERR_MAX];

    (void)pn_fail(&err, PN_EINVAL, "radius must be positive");
    CHECK(pn_fail_in(&err, PN_EIO, "set.l1_ball") == PN_EINVAL); /* the failure's own code wins */
    CHECK(strcmp(err.message, "set.l1_ball: radius must be positive") == 0);
    CHECK(pn_fail_in(NULL, PN_EIO, "set.l1_ball") == PN_EIO);

    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    (void)pn_fail(&err, PN_EINVAL, "%s", text);
    CHECK(pn_fail_in(&err, PN_EINVAL, text) == PN_EINVAL);
    CHECK(strlen(err.message) < PN_ERR_MAX);
    CHECK(strncmp(err.message, "xxxx", 4) == 0);
}

static void every_status_has_a_name(void)
{
    CHECK(strcmp(pn_status_name(PN_OK), "PN_OK") == 0);
    CHECK(strcmp(pn_status_name(PN_ENUMERIC), "PN_ENUMERIC") == 0);
    for (int status = PN_OK; status <= PN_ELIMIT; status++)
        CHECK(strncmp(pn_status_name((pn_status)status), "PN_", 3) == 0);
    CHECK(strcmp(pn_status_name((pn_status)(PN_ELIMIT + 1)), "PN_UNKNOWN") == 0);
}

static void every_status_has_a_text_of_its_own(void)
{
    for (int status = PN_OK; status <= PN_ELIMIT + 1; status++) {
        CHECK(strlen(pn_status_text((pn_status)status)) > 5);
        for (int other = PN_OK; other < status; other++)
            CHECK(strcmp(pn_status_text((pn_status)status), pn_status_text((pn_status)other)) != 0);
    }
    CHECK(strcmp(pn_status_text(PN_EDIM), "sizes do not fit together") == 0);
}

static void the_version_has_three_numbers(void)
{
    int major, minor, patch, end = 0;

    CHECK(sscanf(pn_version(), "%d.%d.%d%n", &major, &minor, &patch, &end) == 3 && pn_version()[end] == '\0');
    CHECK(major == PN_VERSION_MAJOR && minor == PN_VERSION_MINOR && patch == PN_VERSION_PATCH);
    CHECK(strcmp(pn_version(), PN_VERSION_STRING) == 0);
}

static void views_find_what_is_not_finite(void)
{
    double x[] = { 0.0, -1e308, NAN, INFINITY };

    CHECK(pn_first_nonfinite(x, 4) == 2);
    CHECK(pn_first_nonfinite(x, 2) == 2); /* all finite: n */
    CHECK(pn_first_nonfinite(x + 3, 1) == 0);
    CHECK(pn_first_nonfinite(NULL, 0) == 0);
}

static void norms_have_names_and_duals(void)
{
    CHECK(pn_lp_dual(PN_L1) == PN_LINF);
    CHECK(pn_lp_dual(PN_LINF) == PN_L1);
    CHECK(pn_lp_dual(PN_L2) == PN_L2);
    CHECK(strcmp(pn_lp_name(PN_L1), "l1") == 0);
    CHECK(strcmp(pn_lp_name(PN_L2), "l2") == 0);
    CHECK(strcmp(pn_lp_name(PN_LINF), "linf") == 0);
}

int main(void)
{
    messages_are_kept_and_cut();
    context_goes_in_front();
    every_status_has_a_name();
    every_status_has_a_text_of_its_own();
    the_version_has_three_numbers();
    views_find_what_is_not_finite();
    norms_have_names_and_duals();
    return check_summary();
}
