/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads libgpubound_core.so when the first annotation asks for the table.
 *
 * Threads that ask at the same time all load: dlopen is idempotent and serialises them, and the
 * first answer stands. A lock or a once-flag of our own would deadlock with the dynamic loader's,
 * which a thread holds whose dlopen runs a constructor with a scope in it.
 *
 * Any thread may call, also inside malloc; not from a signal handler that interrupted dlopen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "annotate/include/gpubound/api.h"
#include "libprofiler/shim/shim.h"

typedef const struct gpubound_api* (*CoreApiFunction)(void);

enum { kNotAsked = 0, kNoTable = 1 }; /* else the address of the table */
enum { kForkPollNs = 100 * 1000, kForkPatienceNs = 200 * 1000 * 1000 }; /* a load takes ms */
static _Atomic uintptr_t table_word = kNotAsked;

/* Threads inside LoadCore, and whether this one is: what runs there may ask for the table again. */
static atomic_int loads_in_progress = 0;
static __thread bool is_loading __attribute__((tls_model("initial-exec"))) = false;

/* Whether the fork that this thread makes found a load under way: libc does not run the handlers
 * that the core registers during a fork, so the core knows nothing of the child. */
static __thread bool fork_met_loading __attribute__((tls_model("initial-exec"))) = false;

/* A fork child that is not to be recorded: said once it has something to record, which one that
 * calls exec has not. */
static atomic_bool refused_child = false;

static const struct gpubound_api* TableOf(uintptr_t word) {
  return word == kNotAsked || word == kNoTable ? NULL : (const struct gpubound_api*)word;
}

static ShimFinishFunction FindFinish(void* library) {
  ShimFinishFunction finish = NULL;
  void* symbol = dlsym(library, "gpubound_core_finish_v1");
  memcpy(&finish, &symbol, sizeof(finish));
  return finish;
}

/* As sandboxes do (PR_SET_TSC): there the C library's clocks end the program as well. */
static bool MayNotReadClocks(void) {
  int mode = PR_TSC_ENABLE;
  return prctl(PR_GET_TSC, &mode) == 0 && mode == PR_TSC_SIGSEGV;
}

static const struct gpubound_api* LoadCore(void) {
  if (MayNotReadClocks()) {
    ShimSayNotRecorded("it has forbidden itself to read the time stamp counter", "");
    return NULL;
  }
  if (shim_core_path[0] == '\0') {
    ShimSayNotRecorded("the path of libgpubound.so cannot be found", "");
    return NULL;
  }
  void* library = dlopen(shim_core_path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char* why = dlerror(); /* NOLINT(concurrency-mt-unsafe): per thread in glibc */
    ShimSayNotRecorded("cannot load the collector", why == NULL ? shim_core_path : why);
    return NULL;
  }
  CoreApiFunction get_api = NULL;
  void* symbol = dlsym(library, "gpubound_core_api_v1");
  memcpy(&get_api, &symbol, sizeof(get_api));
  const ShimFinishFunction finish = FindFinish(library);
  if (get_api == NULL || finish == NULL) {
    ShimSayNotRecorded(shim_core_path,
                       "expected gpubound_core_api_v1 and gpubound_core_finish_v1 in it; install "
                       "both libraries from one build");
    return NULL;
  }
  const struct gpubound_api* api = get_api(); /* NULL: the core has said why */
  if (api != NULL) atomic_store(&shim_finish, finish);
  return api;
}

static const struct gpubound_api* LoadAndPublish(void) {
  const int saved_errno = errno;
  uintptr_t word = kNotAsked;
  sigset_t all;
  sigset_t before;
  int cancel_before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_before); /* loading opens files */
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* a handler with a scope would find us loading */
  is_loading = true;
  atomic_fetch_add(&loads_in_progress, 1);
  const struct gpubound_api* table = LoadCore();
  atomic_fetch_sub(&loads_in_progress, 1);
  is_loading = false;
  atomic_compare_exchange_strong(&table_word, &word,
                                 table == NULL ? (uintptr_t)kNoTable : (uintptr_t)table);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_setcancelstate(cancel_before, NULL);
  errno = saved_errno;
  return TableOf(atomic_load(&table_word));
}

void ShimAwaitLoading(void) {
  const struct timespec pause = {0, kForkPollNs};
  fork_met_loading = atomic_load(&loads_in_progress) != 0;
  if (!fork_met_loading) return;
  const int64_t deadline_ns = ShimReadClockNs(CLOCK_MONOTONIC) + kForkPatienceNs;
  int cancel_before = PTHREAD_CANCEL_ENABLE;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_before); /* nothing in fork() cancels */
  while (atomic_load(&loads_in_progress) != 0 && ShimReadClockNs(CLOCK_MONOTONIC) < deadline_ns) {
    nanosleep(&pause, NULL);
  }
  pthread_setcancelstate(cancel_before, NULL);
}

void ShimGiveUpLoadingInForkChild(void) {
  /* Also one that began after the fork had looked for it. */
  const bool loading = atomic_exchange(&loads_in_progress, 0) != 0;
  if (!fork_met_loading && !loading) return;
  fork_met_loading = false;
  if (atomic_exchange(&table_word, kNoTable) != kNoTable) atomic_store(&refused_child, true);
}

GPUBOUND_EXPORT const struct gpubound_api* gpubound_api_v1(void) {
  const uintptr_t word = atomic_load(&table_word);
  if (shim_libc_is_foreign) {
    ShimSayNotRecorded("its C library is not the GNU C library", "");
    return NULL;
  }
  if (word == kNoTable && atomic_exchange(&refused_child, false)) {
    ShimSayNotRecorded("its parent forked while it was loading the collector", "");
  }
  if (word != kNotAsked || is_loading || shim_inert) return TableOf(word);
  if (ShimSandboxRefuses()) { /* before anything else is asked of the kernel */
    atomic_store(&table_word, kNoTable);
    return NULL;
  }
  if (!ShimOwnsProcess()) return TableOf(word);
  return LoadAndPublish();
}

/* The CUDA driver and NVTX load the core by its path, without asking us. */
static void NoticeCore(void) {
  const int saved_errno = errno;
  void* library =
      shim_core_path[0] == '\0' ? NULL : dlopen(shim_core_path, RTLD_LAZY | RTLD_NOLOAD);
  if (library != NULL) {
    const ShimFinishFunction finish = FindFinish(library);
    if (finish != NULL) atomic_store(&shim_finish, finish);
    dlclose(library); /* gives back the reference; whoever loaded it keeps it */
  }
  errno = saved_errno;
}

GPUBOUND_EXPORT const struct gpubound_shim_info* gpubound_shim_v1(void) {
  if (atomic_load(&shim_finish) == NULL && ShimOwnsProcess()) NoticeCore();
  return &shim_info;
}
