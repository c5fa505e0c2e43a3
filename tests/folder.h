/* folder.h -- take the files out of a test's own folder.  A shell that does it is two processes each time, and tests of
 * files do it by the thousand.
 * Depends on: check.h, POSIX.  Used by: tests that write files. */
#ifndef PN_TESTS_FOLDER_H
#define PN_TESTS_FOLDER_H

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

/** Remove every file in the folder, which has no folders in it. */
static inline void folder_empty(const char *path)
{
    DIR *folder = opendir(path);

    if (!CHECK(folder != NULL))
        return;
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            CHECK(unlinkat(dirfd(folder), entry->d_name, 0) == 0);
    (void)closedir(folder);
}

#endif
