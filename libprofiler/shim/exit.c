/* SPDX-License-Identifier: Apache-2.0
 *
 * _exit and _Exit run no handler of any kind, and Python's multiprocessing ends each of its workers
 * that way. Interposing them lets such a process close its trace; one that never recorded, or that
 * borrows its parent's memory after vfork, leaves at once.
 *
 * Called from any thread and from signal handlers, so: no lock, no allocation, no loader here.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "libprofiler/shim/shim.h"

#define PATIENCE_NS INT64_C(5000000000) /* five seconds, beyond the core's deadline */

_Atomic(ShimFinishFunction) shim_finish;

/* Thread that is closing the trace, 0 before. */
static atomic_long closing_thread = 0;

void ShimForgetExitInForkChild(void) { atomic_store(&closing_thread, 0); }

static void CloseTrace(void) {
  const ShimFinishFunction finish = atomic_load(&shim_finish);
  if (finish == NULL || !ShimOwnsProcess()) return;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* what waits below would end the thread */
  const long self = syscall(SYS_gettid);
  long closing = 0;
  if (atomic_compare_exchange_strong(&closing_thread, &closing, self)) {
    finish("_exit");
    return;
  }
  if (closing == self) return; /* a signal handler interrupted the closing and wants out */
  const struct timespec pause = {0, 1000000};
  const int64_t deadline_ns = ShimReadClockNs(CLOCK_MONOTONIC) + PATIENCE_NS;
  while (ShimReadClockNs(CLOCK_MONOTONIC) < deadline_ns) nanosleep(&pause, NULL);
}

GPUBOUND_EXPORT __attribute__((noreturn)) void _exit(int status) {
  CloseTrace();
  for (;;) syscall(SYS_exit_group, status);
}

GPUBOUND_EXPORT __attribute__((noreturn)) void _Exit(int status) { _exit(status); }
