/* ledger_record.c -- what happens to a ledger as lines of its file, and a ledger from the lines of a file.
 * Depends on: ledger_impl.h, event_text.h, ledger_file.h.  Used by: ledger_*.c, bindings.
 *
 *     0 open - epsilon=1,delta=1e-06,neighbours=replace_one
 *     1 spend - 1 gaussian(sigma=50,sensitivity=1) 4.4,8,14,26,47,86,157,223 "a mean"
 *     2 slice - epsilon=0.5,delta=1e-06,neighbours=replace_one "ann"
 *     3 spend 1 2 exponential(epsilon=0.1) 9.2,...;- "her choices"
 *     4 split 1 3
 *     5 retire -
 *     6 moved -
 *
 * number, what, to whom ("-" the ledger itself, 2.1 the first slice of its second one), and for a charge: how many
 * times, the event, the Renyi orders that this charge fixed (in the slice; in the ledger above it; ...), the label. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/alloc.h"
#include "core/process.h"
#include "privacy/accounting/accountant.h"
#include "privacy/text/event_text.h"
#include "privacy/ledger/ledger_impl.h"

/* ---- writing ---- */

static void add_path(pn_text *text, const pn_ledger *ledger)
{
    size_t path[PN_LEDGER_DEPTH + 1], depth = 0;

    for (; ledger->parent && depth <= PN_LEDGER_DEPTH; ledger = ledger->parent)
        path[depth++] = ledger->number;
    if (depth == 0)
        pn_text_add(text, "-");
    while (depth > 0) {
        depth--;
        pn_text_add(text, "%zu%s", path[depth], depth ? "." : "");
    }
}

static void add_number(pn_text *text, const char *before, double value)
{
    char number[32];

    pn_shortest(value, number, sizeof number);
    pn_text_add(text, "%s%s", before, number);
}

static void add_list(pn_text *text, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        add_number(text, i ? "/" : ",orders=", values[i]);
}

static void add_budget(pn_text *text, const pn_budget *budget)
{
    if (isnan(budget->rho)) {
        add_number(text, "epsilon=", budget->epsilon);
        add_number(text, ",delta=", budget->delta);
    } else {
        add_number(text, "rho=", budget->rho);
    }
    if (budget->alpha > 0.0)
        add_number(text, ",alpha=", budget->alpha);
    pn_text_add(text, ",neighbours=%s%s%s", pn_neighbours_names[budget->neighbours],
                budget->gaussian ? ",filter=gaussian" : "", budget->teaching ? ",teaching=true" : "");
    add_list(text, budget->orders, budget->order_count);
}

/* The orders that this charge fixes, or "-". */
static void add_choice(pn_text *text, const pn_ledger *node)
{
    const pn_filter *found = node->passage->found;

    if (node->fixed || node->count > 0 || found->count == 0) {
        pn_text_add(text, "-");
        return;
    }
    if (found->kind == PN_FILTER_GAUSSIAN)
        pn_text_add(text, "gaussian");
    for (size_t j = 0; j < found->count && found->kind != PN_FILTER_GAUSSIAN; j++)
        add_number(text, j ? "," : "", found->measure[j].order);
    if (found->share != PN_TAIL_SHARE)
        add_number(text, "@", found->share);
}

/* A record is begun with its number and kind, and ended by putting it into the file. */
static pn_status begin(pn_text *text, pn_plain_numbers *numbers, const pn_ledger *ledger, const char *kind, pn_err *err)
{
    pn_status status;

    *text = (pn_text){ 0 };
    if (ledger->root->process != (long)pn_process())
        return pn_fail(err, PN_EUNSUPPORTED,
                       "ledger: this is the copy of a child process, which does not write its file");
    if ((status = pn_plain_begin(numbers, err)) != PN_OK)
        return status;
    pn_text_add(text, "%zu %s ", pn_store_count(ledger->root->store), kind);
    add_path(text, ledger);
    return PN_OK;
}

static pn_status end(pn_text *text, pn_plain_numbers *numbers, pn_ledger *ledger, pn_status status, pn_err *err)
{
    pn_plain_end(numbers);
    if (status == PN_OK && text->failed)
        status = pn_fail(err, PN_ENOMEM, "ledger: out of memory for a record");
    if (status == PN_OK)
        status = pn_store_append(ledger->root->store, text->data, err);
    pn_text_clear(text);
    return status;
}

pn_status pn_record_open(pn_ledger *root, pn_err *err)
{
    pn_plain_numbers numbers;
    pn_text text;
    pn_status status = begin(&text, &numbers, root, "open", err);

    if (status != PN_OK)
        return status;
    pn_text_add(&text, " ");
    add_budget(&text, &root->budget);
    return end(&text, &numbers, root, status, err);
}

pn_status pn_record_spend(pn_ledger *ledger, const pn_event *event, size_t count, const char *label, pn_err *err)
{
    pn_plain_numbers numbers;
    pn_text text;
    pn_status status;

    if (!ledger->root->store)
        return PN_OK;
    if ((status = begin(&text, &numbers, ledger, "spend", err)) != PN_OK)
        return status;
    pn_text_add(&text, " %zu ", count);
    status = pn_event_write(&text, event, ledger->budget.neighbours, err);
    if (status != PN_OK)
        status = pn_fail_in(err, status, "ledger");
    for (const pn_ledger *node = ledger; node; node = node->parent) {
        pn_text_add(&text, "%s", node == ledger ? " " : ";");
        add_choice(&text, node);
    }
    pn_text_add(&text, " ");
    pn_text_quote(&text, label);
    return end(&text, &numbers, ledger, status, err);
}

pn_status pn_record_slice(pn_ledger *parent, const pn_ledger *child, pn_err *err)
{
    pn_plain_numbers numbers;
    pn_text text;
    pn_status status;

    if (!parent->root->store)
        return PN_OK;
    if ((status = begin(&text, &numbers, parent, "slice", err)) != PN_OK)
        return status;
    pn_text_add(&text, " ");
    add_budget(&text, &child->budget);
    pn_text_add(&text, " ");
    pn_text_quote(&text, child->name);
    return end(&text, &numbers, parent, status, err);
}

pn_status pn_record_split(pn_ledger *ledger, size_t k, pn_err *err)
{
    pn_plain_numbers numbers;
    pn_text text;
    pn_status status;

    if (!ledger->root->store)
        return PN_OK;
    if ((status = begin(&text, &numbers, ledger, "split", err)) != PN_OK)
        return status;
    pn_text_add(&text, " %zu", k);
    return end(&text, &numbers, ledger, status, err);
}

pn_status pn_record_retire(pn_ledger *ledger, pn_err *err)
{
    pn_plain_numbers numbers;
    pn_text text;
    pn_status status;

    if (!ledger->root->store)
        return PN_OK;
    if ((status = begin(&text, &numbers, ledger, "retire", err)) != PN_OK)
        return status;
    return end(&text, &numbers, ledger, status, err);
}

/* The owner said that the files were copied to another place. */
static pn_status record_moved(pn_ledger *root, pn_err *err)
{
    pn_plain_numbers numbers;
    pn_text text;
    pn_status status = begin(&text, &numbers, root, "moved", err);

    return status == PN_OK ? end(&text, &numbers, root, status, err) : status;
}

/* ---- reading ---- */

typedef struct reader {
    pn_ledger *root; /* made by the first record */
} reader;

static bool skip(const char **cursor, const char *text)
{
    size_t length = strlen(text);

    if (strncmp(*cursor, text, length) != 0)
        return false;
    *cursor += length;
    return true;
}

static pn_status read_path(pn_ledger **node, const char **cursor, pn_err *err)
{
    if (skip(cursor, "-"))
        return PN_OK;
    do {
        size_t number = 0;

        PN_TRY(pn_text_size(&number, cursor, err));
        if (!*node || number < 1 || number > (*node)->child_count) /* the first record makes what may have slices */
            return pn_text_malformed(err, "an existing slice", *cursor);
        *node = (*node)->children[number - 1];
    } while (skip(cursor, "."));
    return PN_OK;
}

static double read_number(const char **cursor)
{
    char *after;
    double value = strtod(*cursor, &after);

    if (after == *cursor)
        return NAN;
    *cursor = after;
    return value;
}

static pn_status read_orders(pn_budget *budget, double **orders, const char **cursor, pn_err *err)
{
    size_t room = strcspn(*cursor, " ") + 1;

    PN_TRY(pn_new(orders, room, err, "ledger: out of memory for orders"));
    do
        (*orders)[budget->order_count++] = read_number(cursor);
    while (budget->order_count < room && skip(cursor, "/"));
    budget->orders = *orders;
    return PN_OK;
}

static bool read_relation(pn_budget *budget, const char **cursor)
{
    for (int i = 0; pn_neighbours_names[i]; i++) {
        if (skip(cursor, pn_neighbours_names[i])) {
            budget->neighbours = (pn_neighbours)i;
            return true;
        }
    }
    return false;
}

/* *orders is allocated where there are some, and freed by the caller in any case. */
static pn_status read_budget(pn_budget *budget, double **orders, const char **cursor, pn_err *err)
{
    *budget = (pn_budget){ .epsilon = NAN, .rho = NAN };
    *orders = NULL;
    do {
        if (skip(cursor, "epsilon="))
            budget->epsilon = read_number(cursor);
        else if (skip(cursor, "delta="))
            budget->delta = read_number(cursor);
        else if (skip(cursor, "rho="))
            budget->rho = read_number(cursor);
        else if (skip(cursor, "alpha="))
            budget->alpha = read_number(cursor);
        else if (skip(cursor, "filter=gaussian"))
            budget->gaussian = true;
        else if (skip(cursor, "teaching=true"))
            budget->teaching = true;
        else if (skip(cursor, "orders=") && !*orders)
            return read_orders(budget, orders, cursor, err);
        else if (!skip(cursor, "neighbours=") || !read_relation(budget, cursor))
            return pn_text_malformed(err, "part of a budget", *cursor);
    } while (skip(cursor, ","));
    return PN_OK;
}

static pn_status take_open(reader *self, const char *cursor, pn_err *err)
{
    pn_budget budget;
    double *orders;
    pn_status status = read_budget(&budget, &orders, &cursor, err);

    if (status == PN_OK)
        status = pn_ledger_make(&self->root, &budget, NULL, err);
    pn_free(orders);
    return status;
}

static pn_status take_spend(pn_ledger *node, const char *cursor, pn_err *err)
{
    pn_event *event = NULL;
    char *label = NULL;
    const char *lists;
    size_t count = 0;
    pn_status status = pn_text_size(&count, &cursor, err);

    if (status == PN_OK && !skip(&cursor, " "))
        status = pn_text_malformed(err, "an event", cursor);
    if (status == PN_OK)
        status = pn_event_read(&event, &cursor, node->budget.neighbours, err);
    if (status == PN_OK && (!skip(&cursor, " ") || count == 0))
        status = pn_text_malformed(err, "orders", cursor);
    lists = cursor;
    cursor += strcspn(cursor, " ");
    if (status == PN_OK && !skip(&cursor, " "))
        status = pn_text_malformed(err, "a label", cursor);
    if (status == PN_OK)
        status = pn_text_unquote(&label, &cursor, err);
    if (status == PN_OK)
        status = pn_ledger_replay_spend(node, event, count, label, lists, err);
    pn_free(label);
    pn_event_free(event);
    return status;
}

static pn_status take_slice(pn_ledger *node, const char *cursor, pn_err *err)
{
    pn_budget budget;
    double *orders;
    char *name = NULL;
    pn_ledger *child = NULL;
    pn_status status = read_budget(&budget, &orders, &cursor, err);

    if (status == PN_OK && !skip(&cursor, " "))
        status = pn_text_malformed(err, "a name", cursor);
    if (status == PN_OK)
        status = pn_text_unquote(&name, &cursor, err);
    if (status == PN_OK)
        status = pn_ledger_make_room(node, 1, err);
    if (status == PN_OK)
        status = pn_ledger_make(&child, &budget, name, err);
    if (status == PN_OK)
        pn_ledger_adopt(node, child, false);
    pn_free(name);
    pn_free(orders);
    return status;
}

static pn_status take_split(pn_ledger *node, const char *cursor, pn_err *err)
{
    size_t k = 0;
    pn_status status = pn_text_size(&k, &cursor, err);

    if (status == PN_OK)
        status = pn_ledger_make_parts(node, k, err);
    if (status == PN_OK)
        node->parts = k;
    return status;
}

enum { OPEN, SPEND, SLICE, SPLIT, RETIRE, MOVED, KINDS };

static pn_status take_record(reader *self, size_t number, const char *record, pn_err *err)
{
    static const char *const kinds[] = { "open ", "spend ", "slice ", "split ", "retire ", "moved " };
    const char *cursor = record;
    pn_ledger *node = self->root;
    size_t said = 0, kind = 0;
    pn_status status = pn_text_size(&said, &cursor, err);

    if (status == PN_OK && (said != number || !skip(&cursor, " ")))
        status = pn_text_malformed(err, "its number", record);
    while (kind < KINDS && !skip(&cursor, kinds[kind]))
        kind++;
    if (status == PN_OK && (kind == KINDS || (kind == OPEN) != (number == 0)))
        status = pn_text_malformed(err, "a record that can stand here", cursor);
    if (status == PN_OK)
        status = read_path(&node, &cursor, err);
    if (status != PN_OK)
        return status;
    if (kind >= RETIRE) {
        node->retired = node->retired || kind == RETIRE;
        return PN_OK;
    }
    if (!skip(&cursor, " "))
        return pn_text_malformed(err, "more of the record", cursor);
    return kind == OPEN    ? take_open(self, cursor, err)
           : kind == SPEND ? take_spend(node, cursor, err)
           : kind == SLICE ? take_slice(node, cursor, err)
                           : take_split(node, cursor, err);
}

/* pn_store_take */
static pn_status take(void *self, size_t number, const char *record, pn_err *err)
{
    pn_plain_numbers numbers;
    pn_status status;

    PN_TRY(pn_plain_begin(&numbers, err));
    status = take_record(self, number, record, err);
    pn_plain_end(&numbers);
    return status;
}

/* ---- opening ---- */

static pn_status open_as(pn_ledger **out, const char *path, const char *key, const pn_budget *budget, unsigned how,
                         pn_err *err)
{
    reader self = { NULL };
    pn_store *store = NULL;
    bool is_new = false;
    pn_status status = budget ? pn_ledger_make(&self.root, budget, NULL, err) : PN_OK;

    *out = NULL;
    if (status == PN_OK)
        status = pn_store_open(&store, path, key, how | (budget ? PN_STORE_CREATE : 0), &is_new, err);
    if (status == PN_OK && !is_new) {
        pn_ledger_unmake(self.root); /* it only showed that the budget makes sense */
        self.root = NULL;
        status = pn_store_replay(store, take, &self, err);
        if (status == PN_OK && budget)
            status = pn_budget_compare(path, &self.root->budget, budget, err);
    }
    if (status == PN_OK) {
        self.root->store = store;
        status = is_new ? pn_record_open(self.root, err) : pn_store_moved(store) ? record_moved(self.root, err) : PN_OK;
        store = NULL;
    }
    pn_store_close(store);
    if (status == PN_OK)
        *out = self.root;
    else
        pn_ledger_free(self.root);
    return status;
}

pn_status pn_ledger_open(pn_ledger **out, const char *path, const char *key, const pn_budget *budget, pn_err *err)
{
    return open_as(out, path, key, budget, 0, err);
}

pn_status pn_ledger_open_moved(pn_ledger **out, const char *path, const char *key, const pn_budget *budget, pn_err *err)
{
    return open_as(out, path, key, budget, PN_STORE_MOVED, err);
}

bool pn_ledger_chain(const pn_ledger *ledger, char chain[PN_LEDGER_CHAIN])
{
    bool kept;

    pn_ledger_lock(ledger);
    kept = ledger->root->store != NULL;
    if (kept)
        pn_store_head_mac(ledger->root->store, chain);
    pn_ledger_unlock(ledger);
    return kept;
}
