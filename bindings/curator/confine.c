/* confine.c -- what a script's process gives up.  Depends on: serve.h, libseccomp.  Used by: serve.c.
 *
 * The filter names what is allowed; the rest fails with EPERM, so that a library that tries something new goes on
 * without it.  Memory that is made executable, new processes, files, sockets,
 * signals to others and looking into them are not on the list. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bindings/curator/serve.h"

static const int allowed[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(sendmsg),
    SCMP_SYS(recvmsg),
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(close),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(brk),
    SCMP_SYS(futex),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(nanosleep),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(getrandom),
    SCMP_SYS(getpid),
    SCMP_SYS(gettid),
    SCMP_SYS(sched_yield),
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

/* 0 when all rules are in: memory that is not executable, and threads where they are wanted. */
static int add_rules(scmp_filter_ctx filter, bool threads)
{
    const struct scmp_arg_cmp no_code = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                              a_thread = SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD | CLONE_VM, CLONE_THREAD | CLONE_VM);
    int failed = 0;

    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_code);
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_code);
    /* Its flags are where a filter does not see them; the C library then takes clone. */
    failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (threads)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, a_thread);
    return failed;
}

static pn_status take_calls(bool threads, pn_err *err)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    bool loaded = filter && add_rules(filter, threads) == 0 && seccomp_load(filter) == 0;

    seccomp_release(filter);
    return loaded ? PN_OK
                  : pn_fail(err, PN_EUNSUPPORTED,
                            "curator: the system does not support filters of system "
                            "calls (seccomp)");
}

pn_status pnl_confine(bool threads, pn_err *err)
{
    static const struct rlimit none = { 0, 0 };

    if (setrlimit(RLIMIT_CORE, &none) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0 ||
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return pn_fail(err, PN_EUNSUPPORTED, "curator: the system does not let a process drop its privileges");
    return take_calls(threads, err);
}
