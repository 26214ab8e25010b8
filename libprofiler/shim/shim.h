/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of libgpubound.so share. The library is loaded into every process of a run, most
 * of which never record anything, so its rule is: C, libc only, no work that is not needed yet.
 * Everything here preserves errno and is called from any thread unless it says otherwise.
 */
#ifndef GPUBOUND_LIBPROFILER_SHIM_SHIM_H_
#define GPUBOUND_LIBPROFILER_SHIM_SHIM_H_

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "libprofiler/shim/shim_info.h"
#include "libprofiler/shim/wait_hooks.h"

#define GPUBOUND_EXPORT __attribute__((visibility("default")))
#define GPUBOUND_CORE_FILE "libgpubound_core.so"

/* The stamp of this process. Written by the constructor and by the fork handler only, both while
 * the process has one thread. */
extern struct gpubound_shim_info shim_info;

/* Not 0: the process may have had children by vfork. */
extern char shim_has_vforked;

/* Whether this process shall be recorded at all. Set once, by the constructor. */
extern bool shim_inert;

/* The program has another C library than the GNU one, and nothing of it can be recorded. */
extern bool shim_libc_is_foreign;

/* The core's way to close the trace of this process, NULL while there is nothing to close. `how`
 * becomes meta.end_how. Runs at most once, on the thread that called _exit, which may be inside a
 * signal handler: it must bound every wait. */
typedef void (*ShimFinishFunction)(const char* how);
extern _Atomic(ShimFinishFunction) shim_finish;

/* True in the process that was stamped. False in a child whose making ran no fork handler (vfork,
 * _Fork, clone): its memory may be its parent's, so nothing may be recorded or closed there. */
bool ShimOwnsProcess(void);

int64_t ShimReadClockNs(clockid_t clock);

/* Absolute path of the core, which lies beside this library; empty where it cannot be found. No
 * buffer of a caller's: a program's thread may have 16 KiB of stack in all. Set once, by the
 * constructor. */
extern char shim_core_path[PATH_MAX];

/* Whether both addresses lie in libraries, or the program, and in the same. */
bool ShimAreOfOneLibrary(const void* one, const void* other);

/* Finds `shim_core_path`. */
void ShimFindCore(void);

/* Fills shim_info.variables. Only while the process has one thread. */
void ShimKeepVariables(void);

/* Sets GPUBOUND_RUN and the two injection variables where they are unset, and notes in shim_info
 * which of the latter belong to somebody else, and all variables of ours. `arguments` are main's,
 * null-terminated or null. Only while the process has one thread. */
void ShimSetEnvironment(char* const* arguments);

/* Says once on stderr, and in the run directory for who reads it, that this process had something
 * to record and could not: `what`, and `why` where that is not empty. */
void ShimSayNotRecorded(const char* what, const char* why);

/* Begins the log of GPUBOUND_LOG=debug (libprofiler/debug_log.h) in `run`, so that a process which
 * records nothing has one. */
void ShimLogStart(const char* run);

/* Finds the functions that those of waits.c stand in front of. */
void ShimFindWhatBlocks(void);

/* From here on the core hears of waits; null: no more. Any thread. */
void ShimSetWaitHooks(const struct gpubound_wait_hooks* hooks);

/* Whether the calling thread may be noticed to wait in code that `caller` called: something is
 * recorded of it, and it is in no wait yet. */
bool ShimMayWait(const void* caller);

/* Whether a sandbox forbids what recording takes; then that has been said, as far as it allows.
 * Asked once in a process, when there is something to record. */
bool ShimSandboxRefuses(void);
void ShimForgetSandboxInForkChild(void);

/* Before a fork: waits, for a bounded time, until no thread is loading the core, so that the child
 * gets a dynamic loader in good order. */
void ShimAwaitLoading(void);

/* In a fork child: forget that another thread of the parent was inside _exit, and record nothing if
 * one was loading the core when the fork began. */
void ShimForgetExitInForkChild(void);
void ShimGiveUpLoadingInForkChild(void);

#endif /* GPUBOUND_LIBPROFILER_SHIM_SHIM_H_ */
