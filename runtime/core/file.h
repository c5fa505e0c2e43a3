/* file.h -- the one door to the disk: descriptors that are never those of the standard files, writes that are whole or
 * said not to be, and files that appear whole under their name or not at all.  Private to the library.  Depends on:
 * POSIX.  Used by: whatever opens files. */
#ifndef PN_CORE_FILE_H
#define PN_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* A host may run with descriptors 0, 1 or 2 closed, and what it prints would go into a file that got one of these
 * numbers. */

/** As open(2), closed on exec and above 2; -1 with errno set.  `mode` is that of a file that is made. */
int pn_file_open(const char *path, int flags, unsigned mode);
int pn_file_open_at(int folder, const char *path, int flags, unsigned mode);
/** The folder that `path` is in, open for reading; -1 with errno set. */
int pn_file_open_folder(const char *path);
/** As pipe2(2) with O_CLOEXEC, both ends above 2; false with errno set and nothing open. */
bool pn_file_pipe(int ends[2]);
/** As socketpair(2) of streams on this machine, likewise. */
bool pn_file_socket_pair(int ends[2]);
/** Standard input, output or error (0, 1, 2) becomes what `fd` is, which stays open, also in processes that are begun
 *  from then on; *before (may be NULL): what it was, closed on exec and above 2.  False with errno set and nothing
 *  changed. */
bool pn_file_stand_in(int standard, int fd, int *before);
/** Memory as a file that has no name, which can be sealed; -1 with errno set, ENOSYS where the system has none. */
int pn_file_memory(const char *name);
/** Those of 0, 1 and 2 that are closed become /dev/null, the wrong way round: what reads or writes them fails.  They
 *  stay so.  For what opens descriptors that are not ours to move; false when one stays closed. */
bool pn_file_fill_standard(void);

/** Write all of data[size] at `offset`; 0, or errno (EFBIG instead of the signal SIGXFSZ, which a limit on file sizes
 *  raises). */
int pn_file_write(int fd, const void *data, size_t size, size_t offset);
/** The disk gives room for `size` bytes of fd now, or says why not: 0 or errno, as pn_file_write. */
int pn_file_reserve(int fd, size_t size);
/** Add all of data[size] to the end of the file `path`, or nothing; the file is made with mode `mode` where there is
 *  none.  Writers wait for one another.  One that is killed in the middle leaves a part.  `durable`: as pn_file_sync.
 *  0 or errno. */
int pn_file_append(const char *path, const void *data, size_t size, unsigned mode, bool durable);
/** Make what was written to fd durable; 0 or errno. */
int pn_file_sync(int fd);
/** Make the entry of `path` in its directory durable; 0 or errno. */
int pn_file_sync_entry(const char *path);
/** Whether the path still names the file that is open: not removed, not replaced. */
bool pn_file_in_place(int fd, const char *path);

#define PN_FILE_SUFFIX 21 /* ".tmp-" and 16 digits of chance */

/* A file in the making, beside the one that it becomes.  What a process that was killed left behind goes when the next
 * one begins. */
typedef struct pn_file_draft {
    const char *path; /* kept */
    char *name;       /* owned: path and a suffix */
    int fd;           /* open for reading and writing, and locked: that tells what is alive */
} pn_file_draft;

/** Begin: a new and empty file beside `path`, with mode `mode` less the mask.  0 or errno;
 *  then nothing needs an end. */
int pn_file_begin(pn_file_draft *out, const char *path, unsigned mode);
/** As pn_file_begin, for who has begun this very file before and begins it again and again: looks for nothing that was
 *  left behind. */
int pn_file_begin_next(pn_file_draft *out, const char *path, unsigned mode);
/** Give what was begun its name, which nobody may have (EEXIST), or with `replace` in place of what has it; durably.  0
 *  or errno, and the file beside is gone.  *named (may be NULL): whether the name was given, which a failure to make it
 *  durable does not take back.  fd stays open. */
int pn_file_name(pn_file_draft *self, bool replace, bool *named);
/** Close the file, and take away what was not named. */
void pn_file_end(pn_file_draft *self);
/** All of data[size] as the file `path`: whole and durable, or not at all.  With `replace` a device or a pipe
 *  (/dev/null, /dev/stdout) is written to as it stands.  0 or errno. */
int pn_file_put(const char *path, const void *data, size_t size, unsigned mode, bool replace);

#endif
