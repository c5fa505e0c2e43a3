/* event_words.c -- see event_words.h: a row for each kind of event, with its parameters in the order of its table.
 * Depends on: event_words.h, event_leaf.h.  Used by: bindings/privacy. */
#include <stdio.h>
#include <string.h>

#include "core/text.h"
#include "privacy/event/event_leaf.h"
#include "privacy/text/event_words.h"

#define MOST_ARGS 8

/* "%1" is the first argument, "%e" the event inside. */
typedef struct phrase {
    const char *name, *words;
} phrase;

static const phrase phrases[] = {
    { "exponential", "exponential mechanism, epsilon %1" },
    { "report_noisy_max", "report noisy max, scale %1 for sensitivity %2" },
    { "pure", "pure epsilon %1" },
    { "approximate", "epsilon %1 at delta %2" },
    { "laplace", "Laplace noise, scale %1 for sensitivity %2" },
    { "gaussian", "Gaussian noise, sigma %1 for sensitivity %2" },
    { "zcdp", "zCDP, rho %1" },
    { "rdp", "Renyi divergence of order %1, epsilon %2" },
    { "curve", "a declared Renyi curve" },
    { "loss_distribution", "a declared distribution of privacy losses" },
    { "sparse_vector", "sparse vector, epsilon %1" },
    { "objective_perturbation", "objective perturbation, sigma %1 for sensitivity %2" },
    { "poisson_sampled", "%e, each record sampled at rate %1" },
    { "fixed_sampled", "%e, on %1 of %2 records" },
    { "fixed_sampled_and_whole", "Gaussian noise, sigma %3, on %1 of %2 records and on all of them" },
};

static size_t add(char *text, size_t size, size_t used, const char *more)
{
    int n = used < size ? snprintf(text + used, size - used, "%s", more) : 0;

    return used + (n > 0 ? (size_t)n : 0);
}

static double number_of(const pn_param *param, const pn_arg *arg)
{
    return param->kind == PN_COUNT ? (double)arg->count : arg->real;
}

static const pn_event *inside(const pn_event *event, const pn_arg *args)
{
    for (size_t i = 0; event->ops->params[i].name; i++) {
        if (event->ops->params[i].kind == PN_OBJECT)
            return args[i].object;
    }
    return NULL;
}

static void fill(const pn_event *event, const char *words, char *text, size_t size)
{
    pn_arg args[MOST_ARGS] = { 0 };
    size_t used = 0;

    event->ops->args(event, args);
    for (const char *c = words; *c && used + 1 < size; c++) {
        char piece[320] = { *c, 0 };
        size_t i;

        if (*c == '%') {
            i = (size_t)(*++c - '1');
            if (*c == 'e')
                pn_event_words(inside(event, args), piece, sizeof piece);
            else
                (void)snprintf(piece, sizeof piece, "%.6g", number_of(&event->ops->params[i], &args[i]));
        }
        used = add(text, size, used, piece);
    }
}

static void one(const pn_event *event, char *text, size_t size)
{
    for (size_t i = 0; i < sizeof phrases / sizeof *phrases; i++) {
        if (strcmp(phrases[i].name, event->ops->name) == 0) {
            fill(event, phrases[i].words, text, size);
            return;
        }
    }
    pn_event_describe(event, text, size);
}

void pn_event_words(const pn_event *event, char *text, size_t size)
{
    size_t count, used = 0;
    const pn_term *terms = pn_event_terms(event, &count);

    if (count == 0)
        one(event, text, size);
    for (size_t i = 0; i < count && used < size; i++) {
        char piece[400], times[40] = "";

        one(terms[i].event, piece, sizeof piece);
        if (terms[i].count > 1)
            (void)snprintf(times, sizeof times, "%zu times ", terms[i].count);
        used = add(text, size, used, i ? "; " : "");
        used = add(text, size, used, times);
        used = add(text, size, used, piece);
    }
    pn_text_say_cut(text, size);
}
