/* fuzz.c -- files for fuzz targets.  Depends on: fuzz.h, core/file.h, POSIX.  Used by: tests/fuzz/. */
#define _POSIX_C_SOURCE 200809L
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include "core/file.h"

static char folder[128];

void fuzz_sweep(void)
{
    DIR *all = *folder ? opendir(folder) : NULL;
    struct dirent *entry;

    while (all && (entry = readdir(all)) != NULL)
        (void)unlinkat(dirfd(all), entry->d_name, 0); /* . and .. are refused */
    if (all)
        (void)closedir(all);
}

static void remove_folder(void)
{
    fuzz_sweep();
    (void)rmdir(folder);
}

static void make_folder(void)
{
    const char *place = getenv("TMPDIR");

    if (access("/dev/shm", W_OK | X_OK) == 0)
        place = "/dev/shm";
    (void)snprintf(folder, sizeof folder, "%.100s/penumbra-fuzz-XXXXXX", place ? place : "/tmp");
    FUZZ_HOLDS(mkdtemp(folder) != NULL);
    (void)atexit(remove_folder);
}

const char *fuzz_path(const char *name)
{
    static char paths[4][256];
    static unsigned turn;
    char *path = paths[turn++ % 4];

    if (!*folder)
        make_folder();
    (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

const char *fuzz_file(const char *name, const void *data, size_t size)
{
    const char *path = fuzz_path(name);
    int fd;

    (void)unlink(path); /* a ledger's marks go with the file */
    fd = pn_file_open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    FUZZ_HOLDS(fd >= 0 && (size == 0 || pn_file_write(fd, data, size, 0) == 0));
    (void)close(fd);
    return path;
}
