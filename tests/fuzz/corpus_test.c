/* corpus_test.c -- every input that is kept in tests/fuzz/corpus, handed to its target without a fuzzer: what once
 * broke a reader stays mended.  A target that finds something ends the process.
 * Depends on: check.h, targets.h, all targets. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <stdint.h>
#include <string.h>

#include "check.h"
#include "fuzz/targets.h"

#define DECLARE(name) int fuzz_##name(const uint8_t *data, size_t size);
FUZZ_TARGETS(DECLARE)

typedef struct target {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} target;

#define ROW(name) { #name, fuzz_##name },
static const target targets[] = { FUZZ_TARGETS(ROW) };

/* The file's bytes in a block of just that size, so that a sanitizer sees what reads beyond it. */
static uint8_t *read_input(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    uint8_t *data = NULL;
    long end;

    if (!file)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 && fseek(file, 0, SEEK_SET) == 0) {
        *size = (size_t)end;
        data = malloc(*size > 0 ? *size : 1);
        if (data && fread(data, 1, *size, file) != *size) {
            free(data);
            data = NULL;
        }
    }
    (void)fclose(file);
    return data;
}

static size_t run_all(const target *t)
{
    char folder[128], path[512];
    struct dirent *entry;
    size_t inputs = 0;
    DIR *all;

    (void)snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", t->name);
    all = opendir(folder);
    while (all && (entry = readdir(all)) != NULL) {
        uint8_t *data;
        size_t size = 0;

        if (entry->d_name[0] == '.')
            continue;
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        (void)fprintf(stderr, "    %s\n", path); /* seen when the process ends on it */
        data = read_input(path, &size);
        inputs += CHECK(data != NULL) && CHECK(t->run(data, size) == 0);
        free(data);
    }
    if (all)
        (void)closedir(all);
    return inputs;
}

int main(void)
{
    for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
        if (!CHECK(run_all(&targets[i]) > 0))
            (void)fprintf(stderr, "    tests/fuzz/corpus/%s has no input\n", targets[i].name);
    }
    return check_summary();
}
