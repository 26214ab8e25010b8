/* SPDX-License-Identifier: Apache-2.0
 *
 * What the preloaded shim (libgpubound.so) knows and the core (libgpubound_core.so) needs: when
 * this process began.
 *
 * The core finds it with dlsym(RTLD_DEFAULT, "gpubound_shim_v1"); without a shim (the CUDA driver
 * or NVTX may load the core by itself) it stamps its own start. Plain data, written before main and
 * in a fork child before any other fork handler of ours runs; read from any thread.
 */
#ifndef GPUBOUND_LIBPROFILER_SHIM_SHIM_INFO_H_
#define GPUBOUND_LIBPROFILER_SHIM_SHIM_INFO_H_

#include <stdbool.h>
#include <stdint.h>

#include "libprofiler/shim/wait_hooks.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GPUBOUND_SHIM_INFO_VERSION 1u

/* Bits of gpubound_shim_info.flags: the variable was already set to something that is not ours. */
#define GPUBOUND_SHIM_FOREIGN_CUDA_INJECTION 1u
#define GPUBOUND_SHIM_FOREIGN_NVTX_INJECTION 2u
/* An interpreter in this program would not run our start-up hook: GPUBOUND_PYTHON is not set, or names
 * one that it would leave alone. */
#define GPUBOUND_SHIM_NO_PYTHON_HOOK 4u

/* Fields are appended, never moved: read one only if `size` covers it. */
struct gpubound_shim_info {
  uint32_t size;           /* bytes of this structure as the shim built it */
  uint32_t version;        /* GPUBOUND_SHIM_INFO_VERSION */
  uint64_t reserved_ticks; /* 0: to read the TSC may cost a program its life (PR_SET_TSC) */
  int64_t realtime_ns;     /* CLOCK_REALTIME: with host and pid, the identity of the process */
  int64_t monotonic_ns;    /* CLOCK_MONOTONIC: begin of the span */
  uint64_t pid;   /* process that was stamped; differs from getpid() in vfork/_Fork children */
  uint32_t flags; /* GPUBOUND_SHIM_FOREIGN_..., GPUBOUND_SHIM_NO_PYTHON_HOOK */
  uint32_t reserved;
  /* The variables GPUBOUND_... as the program found them, whatever it does to its environment:
   * NAME=VALUE, each with its zero, and an empty one behind the last. Never NULL. */
  const char* variables;
  /* Never NULL; what it points to is not 0 once the process may have had children by vfork. */
  const volatile char* has_vforked;
  /* Never NULL: whether a sandbox forbids what recording takes, to be asked before a process starts
   * recording. Any thread. */
  bool (*sandbox_refuses)(void);
  /* Never NULL: from here on the shim tells `hooks`, which stay valid for ever, of calls that block
   * (wait_hooks.h); NULL ends that, but for calls under way. Any thread. */
  void (*set_wait_hooks)(const struct gpubound_wait_hooks* hooks);
};

/* Exported by libgpubound.so, for the core: the shim takes the call as notice that a core, however
 * it was loaded, is in this process and may have a trace to close at _exit. Not from a signal
 * handler. Never NULL; the pointer stays valid and, after a fork, describes the child. With
 * GPUBOUND_DISABLE=1 `pid` is 0. */
const struct gpubound_shim_info* gpubound_shim_v1(void);

#ifdef __cplusplus
}
#endif

#endif /* GPUBOUND_LIBPROFILER_SHIM_SHIM_INFO_H_ */
