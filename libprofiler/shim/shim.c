/* SPDX-License-Identifier: Apache-2.0
 *
 * Start of libgpubound.so in a process: stamps the begin of the span, before main and again in each
 * fork child, and prepares the environment. Runs in every shell and every compiler that a training
 * run starts, so it makes a handful of system calls and loads nothing.
 *
 * Thread rule: the constructor runs before main (or inside a dlopen); the fork handler runs in a
 * child that has one thread.
 */
#define _GNU_SOURCE
#include "libprofiler/shim/shim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Of the GNU C library alone, and weak: another one (musl) would not start a program into which a
 * library is preloaded that refers to what it does not have. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void),
                             void* library) __attribute__((weak));
extern const char* gnu_get_libc_version(void) __attribute__((weak));
extern char __libc_single_threaded __attribute__((weak)); /* since 2.32 */

struct gpubound_shim_info shim_info = {
    .size = sizeof(struct gpubound_shim_info),
    .version = GPUBOUND_SHIM_INFO_VERSION,
    .variables = "",
    .has_vforked = &shim_has_vforked,
    .sandbox_refuses = ShimSandboxRefuses,
    .set_wait_hooks = ShimSetWaitHooks,
};
bool shim_inert = true;
bool shim_libc_is_foreign = false;

/* The system call, because getpid() of an older libc remembers the parent's answer after vfork. */
static uint64_t ProcessId(void) { return (uint64_t)syscall(SYS_getpid); }

bool ShimOwnsProcess(void) { return !shim_inert && ProcessId() == shim_info.pid; }

int64_t ShimReadClockNs(clockid_t clock) {
  struct timespec now = {0, 0};
  clock_gettime(clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void Stamp(void) {
  shim_info.monotonic_ns = ShimReadClockNs(CLOCK_MONOTONIC);
  shim_info.realtime_ns = ShimReadClockNs(CLOCK_REALTIME);
  shim_info.pid = ProcessId();
}

/* Registered before any handler of the core can be, and child handlers run in the order of their
 * registration: the core's handler finds the child's stamp. */
static void AfterForkInChild(void) {
  Stamp();
  ShimForgetExitInForkChild();
  ShimGiveUpLoadingInForkChild();
  ShimForgetSandboxInForkChild();
}

/* The words for off of SwitchOf in libprofiler/env_vars.h; any other word is on. */
static bool IsOn(const char* variable) {
  static const char* const kOff[] = {"",      "0",     "off", "Off", "OFF", "false",
                                     "False", "FALSE", "no",  "No",  "NO"};
  const char* value = getenv(variable); /* NOLINT(concurrency-mt-unsafe): read only */
  if (value == NULL) return false;
  for (size_t i = 0; i < sizeof(kOff) / sizeof(kOff[0]); ++i) {
    if (strcmp(value, kOff[i]) == 0) return false;
  }
  return true;
}

/* Before 2.32 the kernel says it: a folder has two links and one for each folder in it. */
static bool IsSingleThreaded(void) {
  struct stat tasks;
  if (&__libc_single_threaded != NULL) return __libc_single_threaded;
  return stat("/proc/self/task", &tasks) == 0 && tasks.st_nlink == 3;
}

/* With the arguments of main, as the GNU C library calls constructors. */
__attribute__((constructor)) static void Start(int count, char** arguments) {
  (void)count;
  const int saved_errno = errno;
  ShimFindWhatBlocks();
  /* Neither its constructors have arguments, nor could the core be loaded there. */
  shim_libc_is_foreign = &__register_atfork == NULL || &gnu_get_libc_version == NULL;
  if (shim_libc_is_foreign) {
    Stamp();
    ShimKeepVariables();
    return;
  }
  /* A program that runs with another user's rights decides nothing by its caller's environment. */
  shim_inert = IsOn("GPUBOUND_DISABLE") || getauxval(AT_SECURE) != 0;
  if (!shim_inert) {
    Stamp();
    ShimFindCore();
    __register_atfork(ShimAwaitLoading, NULL, AfterForkInChild, NULL); /* never unloaded */
    /* Loaded late, through $GPUBOUND_LIBRARY: another thread may be reading the environment. */
    if (IsSingleThreaded()) ShimSetEnvironment(arguments);
    const char* log = getenv("GPUBOUND_LOG"); /* NOLINT(concurrency-mt-unsafe): read only */
    const char* run = getenv("GPUBOUND_RUN"); /* NOLINT(concurrency-mt-unsafe): read only */
    if (log != NULL && run != NULL && strcmp(log, "debug") == 0) ShimLogStart(run);
  }
  errno = saved_errno;
}
