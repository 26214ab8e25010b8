/* SPDX-License-Identifier: Apache-2.0
 *
 * Between the shim, which stands in front of the functions that block (waits.c), and the core, which
 * records the waits (libprofiler/native_waits.h). Any thread, signal handlers too; no function here
 * takes a lock or allocates. The shim keeps errno.
 */
#ifndef GPUBOUND_LIBPROFILER_SHIM_WAIT_HOOKS_H_
#define GPUBOUND_LIBPROFILER_SHIM_WAIT_HOOKS_H_

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call waits in; native_waits.cc has their names. */
enum gpubound_wait_kind {
  GPUBOUND_WAIT_CONDITION,
  GPUBOUND_WAIT_MUTEX,
  GPUBOUND_WAIT_JOIN,
  GPUBOUND_WAIT_BARRIER,
  GPUBOUND_WAIT_SEMAPHORE,
  GPUBOUND_WAIT_SLEEP,
  GPUBOUND_WAIT_POLL,
  GPUBOUND_WAIT_SELECT,
  GPUBOUND_WAIT_EPOLL,
  GPUBOUND_WAIT_READ,
  GPUBOUND_WAIT_RECEIVE,
  GPUBOUND_WAIT_ACCEPT,
  GPUBOUND_WAIT_CHILD,
  GPUBOUND_WAIT_FUTEX,
  GPUBOUND_WAIT_KINDS
};

/* A call that may block, on its caller's stack. */
struct gpubound_wait {
  uint64_t begun;  /* ticks */
  uint64_t object; /* that the thread waits at, as its address; 0: nothing that others wake it by */
  const void* place; /* where the thread was in its buffer */
};

struct gpubound_wait_hooks {
  /* The calling thread may block now, called from the code at `caller`. False: it is not one whose
   * waits are recorded, and leave() must not be called. */
  bool (*enter)(struct gpubound_wait* wait, uint64_t object, const void* caller);
  /* The call has returned. `woken`: not since its time ran out, or by an error. `descriptor`: that
   * was read from, else -1. A call that is left by cancellation or longjmp may go without. */
  void (*leave)(const struct gpubound_wait* wait, enum gpubound_wait_kind kind, bool woken,
                int descriptor);
  /* The calling thread is about to let those go on that wait at `object`. */
  void (*wake)(uint64_t object);
};

#ifdef __cplusplus
}
#endif

#endif /* GPUBOUND_LIBPROFILER_SHIM_WAIT_HOOKS_H_ */
