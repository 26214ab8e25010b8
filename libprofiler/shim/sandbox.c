/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether a sandbox (seccomp) lets this process make the system calls that recording makes. A
 * filter may end a process for a call that it does not know, and nobody can ask it beforehand: so a
 * child tries each of them, with arguments that do nothing, and where that child does not live
 * through it, the process is not recorded. What is asked of the process itself is prctl, clone and
 * wait4, and nothing at all but the first without a filter.
 *
 * Any thread; the answer of the first stands for the process. The child is a copy, made without
 * fork handlers, and does nothing but system calls.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libprofiler/shim/shim.h"

enum { kNotTried = 0, kAllowed = 1, kRefused = 2 };
static atomic_int answer = kNotTried;

/* With no file, no memory and no size they fail, or do nothing. */
static const short kCalls[] = {
#if defined(SYS_access)
    SYS_access,
#endif
#if defined(SYS_mkdir)
    SYS_mkdir,
#endif
#if defined(SYS_unlink)
    SYS_unlink,
#endif
#if defined(SYS_newfstatat)
    SYS_newfstatat,
#endif
    SYS_clock_gettime,
    SYS_clone3,
    SYS_close,
    SYS_fallocate,
    SYS_fchown,
    SYS_fcntl,
    SYS_fdatasync,
    SYS_fstat,
    SYS_fsync,
    SYS_ftruncate,
    SYS_getdents64,
    SYS_geteuid,
    SYS_getppid,
    SYS_getrandom,
    SYS_lseek,
    SYS_madvise,
    SYS_mmap,
    SYS_mprotect,
    SYS_munmap,
    SYS_nanosleep,
    SYS_openat,
    SYS_pread64,
    SYS_prlimit64,
    SYS_process_vm_readv,
    SYS_pwrite64,
    SYS_read,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigpending,
    SYS_rt_sigprocmask,
    SYS_rt_sigtimedwait,
    SYS_sched_getaffinity,
    SYS_set_robust_list,
    SYS_statfs,
    SYS_sysinfo,
    SYS_uname,
    SYS_write,
};

/* Whether the C library has registered its threads for rseq (2.35 and later, where the kernel has
 * it), and ends the process where it cannot do so for the next one. */
static bool RegistersRseq(void) {
  const unsigned int* size = dlsym(RTLD_DEFAULT, "__rseq_size");
  return size != NULL && *size != 0;
}
static bool registers_rseq = false;

/* Without these the C library ends the process, or it is not known who is recorded. */
static bool HasWhatMayNotFail(void) {
  int word = 0;
  /* A kernel that has it finds the size wrong. */
  if (registers_rseq && syscall(SYS_rseq, -1L, 0L, 0L, 0L) != 0 && errno != EINVAL) return false;
  /* The allocator takes an error of brk for the end of its memory, and writes there. */
  return syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 0, NULL, NULL, 0) == 0 &&
         syscall(SYS_brk, 0L) != -1 && syscall(SYS_getpid) > 0 && syscall(SYS_gettid) > 0;
}

static bool TryCalls(void) {
  if (!HasWhatMayNotFail()) return false;
  for (size_t i = 0; i < sizeof(kCalls) / sizeof(kCalls[0]); ++i) {
    syscall(kCalls[i], -1L, 0L, 0L, 0L, 0L, 0L);
  }
  return true;
}

static bool Say(void) {
  ShimSayNotRecorded("a sandbox refuses system calls that recording makes (seccomp)", "");
  return true;
}

/* Whether a child lives through `work`, and it returns true. */
static bool SucceedsInChild(bool (*work)(void)) {
  const long child = syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L);
  if (child == 0) {
    /* Neither a handler of the program's may run here, nor a core be dumped. */
    const uint64_t all = ~UINT64_C(0);
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, NULL, sizeof(all));
    syscall(SYS_prctl, PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
    const int status = work() ? 0 : 1;
    syscall(SYS_exit, status);
    __builtin_trap();
  }
  if (child < 0) return false;
  int status = -1;
  long waited = 0;
  do {
    waited = syscall(SYS_wait4, child, &status, __WCLONE, NULL);
  } while (waited < 0 && errno == EINTR);
  return waited == child && status == 0;
}

bool ShimSandboxRefuses(void) {
  int known = atomic_load(&answer);
  if (known == kNotTried) {
    const int saved_errno = errno;
    const bool has_filter = syscall(SYS_prctl, PR_GET_SECCOMP, 0L, 0L, 0L, 0L) != 0;
    registers_rseq = has_filter && RegistersRseq();
    known = !has_filter || SucceedsInChild(TryCalls) ? kAllowed : kRefused;
    atomic_store(&answer, known);
    if (known == kRefused) SucceedsInChild(Say); /* as far as it may */
    errno = saved_errno;
  }
  return known != kAllowed;
}

void ShimForgetSandboxInForkChild(void) { atomic_store(&answer, kNotTried); }
