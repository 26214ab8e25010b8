/* SPDX-License-Identifier: Apache-2.0
 *
 * What the C++ library and the unwinder of GCC 12 take from a C library newer than 2.28 (docs/wheels.md).
 * Linked, hidden, into everything that is built with GPUBOUND_GLIBC_DIR; tools/packaging/old_glibc.py compiles it.
 *
 * Thread rule: any thread, any time; nothing here keeps state but an address that is looked up once.
 * Failure: as in the C library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#define HIDDEN __attribute__((visibility("hidden")))

/* Since 2.32. "There may be other threads" is always true enough: counts of shared_ptr are atomic. */
HIDDEN char __libc_single_threaded = 0;

/* Since 2.30. */
typedef int (*wait_function)(pthread_cond_t*, pthread_mutex_t*, clockid_t, const struct timespec*);

static wait_function SystemsWait(void) {
  enum { kNotAsked = 0, kMissing = 1 };
  static atomic_uintptr_t known = kNotAsked;
  uintptr_t found = atomic_load_explicit(&known, memory_order_relaxed);
  if (found == kNotAsked) {
    /* By its version: a library that is preloaded may have one that only passes on. */
    found = (uintptr_t)dlvsym(RTLD_DEFAULT, "pthread_cond_clockwait", "GLIBC_2.30");
    if (found == 0) found = kMissing;
    atomic_store_explicit(&known, found, memory_order_relaxed);
  }
  return found == kMissing ? NULL : (wait_function)found;
}

enum { kNsPerSecond = 1000000000 };

HIDDEN int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                  clockid_t clock, const struct timespec* until) {
  const wait_function system = SystemsWait();
  if (system != NULL) return system(condition, mutex, clock, until);
  struct timespec on_clock;
  struct timespec on_wall;
  if (until->tv_nsec < 0 || until->tv_nsec >= kNsPerSecond) return EINVAL;
  if (clock_gettime(clock, &on_clock) != 0 || clock_gettime(CLOCK_REALTIME, &on_wall) != 0)
    return EINVAL;
  struct timespec target = {.tv_sec = on_wall.tv_sec + (until->tv_sec - on_clock.tv_sec),
                            .tv_nsec = on_wall.tv_nsec + (until->tv_nsec - on_clock.tv_nsec)};
  if (target.tv_nsec < 0) {
    target.tv_nsec += kNsPerSecond;
    --target.tv_sec;
  } else if (target.tv_nsec >= kNsPerSecond) {
    target.tv_nsec -= kNsPerSecond;
    ++target.tv_sec;
  }
  return pthread_cond_timedwait(condition, mutex, &target);
}

/* Since 2.36. */
HIDDEN uint32_t arc4random(void) {
  uint32_t number = 0;
  while (getrandom(&number, sizeof number, 0) != sizeof number) {
    if (errno != EINTR) abort(); /* as there: no number would do in its place */
  }
  return number;
}

/* Since 2.35: the object that holds an address, and its table for unwinding. */
struct object_search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int LookIntoObject(struct dl_phdr_info* info, size_t size, void* argument) {
  (void)size;
  const struct object_search* search = argument;
  bool holds = false;
  const void* table = NULL;
  uintptr_t begin = UINTPTR_MAX;
  uintptr_t end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* header = &info->dlpi_phdr[i];
    const uintptr_t start = info->dlpi_addr + header->p_vaddr;
    if (header->p_type == PT_GNU_EH_FRAME) table = (const void*)start;
    if (header->p_type != PT_LOAD) continue;
    if (start < begin) begin = start;
    if (start + header->p_memsz > end) end = start + header->p_memsz;
    holds = holds || search->address - start < header->p_memsz;
  }
  if (!holds) return 0;
  if (table == NULL) return -1;
  search->found->dlfo_map_start = (void*)begin;
  search->found->dlfo_map_end = (void*)end;
  search->found->dlfo_eh_frame = (void*)table;
  return 1;
}

HIDDEN int _dl_find_object(void* address, struct dl_find_object* result) {
  memset(result, 0, sizeof *result);
  const struct object_search search = {(uintptr_t)address, result};
  return dl_iterate_phdr(LookIntoObject, (void*)&search) == 1 ? 0 : -1;
}
