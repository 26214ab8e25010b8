/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocator to preload, as jemalloc is: one arena, nothing is used again, and whoever gives back
 * what did not come from it, or asks for it at an alignment that it does not have, ends the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { kUnit = 16 };
static const size_t kArenaBytes = (size_t)2 << 30; /* of addresses: pages come when touched */

static _Atomic(char*) arena;
static atomic_size_t used;

static char* Arena(void) {
  char* memory = atomic_load(&arena);
  if (memory != NULL) return memory;
  memory = mmap(NULL, kArenaBytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) abort();
  char* expected = NULL;
  if (!atomic_compare_exchange_strong(&arena, &expected, memory)) {
    munmap(memory, kArenaBytes);
    memory = expected;
  }
  return memory;
}

/* The size lies in the unit before what is given out. */
static void* Take(size_t alignment, size_t size) {
  if (size > kArenaBytes) return NULL;
  char* const begin = Arena();
  const size_t bytes = (size + kUnit - 1) / kUnit * kUnit + kUnit + alignment;
  const size_t offset = atomic_fetch_add(&used, bytes);
  if (offset + bytes > kArenaBytes) return NULL;
  uintptr_t address = (uintptr_t)(begin + offset + kUnit);
  address = (address + alignment - 1) / alignment * alignment;
  memcpy((char*)address - sizeof(size), &size, sizeof(size));
  return (void*)address;
}

static size_t SizeOf(const void* memory) {
  const char* const begin = Arena();
  size_t size = 0;
  if ((const char*)memory < begin || (const char*)memory >= begin + kArenaBytes) abort();
  memcpy(&size, (const char*)memory - sizeof(size), sizeof(size));
  return size;
}

void* malloc(size_t size) { return Take(kUnit, size); }

void free(void* memory) {
  if (memory != NULL) memset(memory, 0xA5, SizeOf(memory));
}

void* calloc(size_t count, size_t size) {
  size_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? NULL : Take(kUnit, bytes);
}

void* realloc(void* memory, size_t size) {
  void* larger = Take(kUnit, size);
  if (memory == NULL || larger == NULL) return larger;
  const size_t before = SizeOf(memory);
  memcpy(larger, memory, before < size ? before : size);
  free(memory);
  return larger;
}

int posix_memalign(void** memory, size_t alignment, size_t size) {
  *memory = Take(alignment < kUnit ? kUnit : alignment, size);
  return *memory == NULL ? ENOMEM : 0;
}

void* aligned_alloc(size_t alignment, size_t size) {
  return Take(alignment < kUnit ? kUnit : alignment, size);
}
void* memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }
void* valloc(size_t size) { return aligned_alloc(4096, size); }
void* pvalloc(size_t size) { return aligned_alloc(4096, (size + 4095) / 4096 * 4096); }
size_t malloc_usable_size(void* memory) { return memory == NULL ? 0 : SizeOf(memory); }
