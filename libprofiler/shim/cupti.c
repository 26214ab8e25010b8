/* SPDX-License-Identifier: Apache-2.0
 *
 * CUPTI serves one tool at a time, and a profiler inside the program (torch.profiler) that finds it
 * taken records nothing for the rest of the process, silently. So when a library of the program
 * subscribes, the core is asked to give CUPTI up first; then the call goes on to where it would
 * have gone without us.
 *
 * Only calls that the dynamic linker binds come here. What a library looks up in its own handle of
 * libcupti, as the core does, passes by.
 *
 * Any thread; not from signal handlers.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "libprofiler/shim/shim.h"

enum { kCuptiNotInitialized = 15, kCuptiHeld = 39 };

typedef void (*YieldFunction)(const char* to);
typedef int (*SubscribeFunction)(void** subscriber, void* callback, void* user_data);
typedef int (*SubscribeV2Function)(void** subscriber, void* callback, void* user_data,
                                   void* parameters);

static void* SymbolOf(const char* file, const char* name) {
  void* library = file == NULL ? NULL : dlopen(file, RTLD_LAZY | RTLD_NOLOAD);
  if (library == NULL) return NULL;
  void* symbol = dlsym(library, name);
  dlclose(library); /* gives back the reference; whoever loaded it keeps it */
  return symbol;
}

/* Asks the core, if there is one that may hold CUPTI, to give it to the library `file`. */
static void AskForCupti(const char* file) {
  YieldFunction yield = NULL;
  const int saved_errno = errno;
  if (ShimOwnsProcess() && shim_core_path[0] != '\0') {
    void* symbol = SymbolOf(shim_core_path, "gpubound_core_yield_v1");
    memcpy(&yield, &symbol, sizeof(yield));
  }
  const char* slash = file == NULL ? NULL : strrchr(file, '/');
  if (yield != NULL) yield(slash == NULL ? file : slash + 1);
  errno = saved_errno;
}

/* The function that the library `file` would have called without us: that of the libcupti it was
 * linked with, which need not be visible to anybody else. NULL: there is none. */
static void* Next(const char* file, const char* name) {
  void* symbol = SymbolOf(file, name);
  if (symbol == NULL || ShimAreOfOneLibrary(symbol, &shim_info)) symbol = dlsym(RTLD_NEXT, name);
  return symbol;
}

static const char* FileOf(const void* code) {
  Dl_info place;
  return dladdr(code, &place) == 0 ? NULL : place.dli_fname;
}

GPUBOUND_EXPORT int cuptiSubscribe(void** subscriber, void* callback, void* user_data) {
  const char* file = FileOf(__builtin_return_address(0));
  SubscribeFunction next = NULL;
  AskForCupti(file);
  void* symbol = Next(file, "cuptiSubscribe");
  memcpy(&next, &symbol, sizeof(next));
  return next == NULL ? kCuptiNotInitialized : next(subscriber, callback, user_data);
}

/* Tools of this interface may share CUPTI: only one that is refused needs it given up. */
GPUBOUND_EXPORT int cuptiSubscribe_v2(void** subscriber, void* callback, void* user_data,
                                      void* parameters) {
  const char* file = FileOf(__builtin_return_address(0));
  SubscribeV2Function next = NULL;
  void* symbol = Next(file, "cuptiSubscribe_v2");
  memcpy(&next, &symbol, sizeof(next));
  if (next == NULL) return kCuptiNotInitialized;
  const int result = next(subscriber, callback, user_data, parameters);
  if (result != kCuptiHeld) return result;
  AskForCupti(file);
  return next(subscriber, callback, user_data, parameters);
}
