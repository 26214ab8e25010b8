/* SPDX-License-Identifier: Apache-2.0
 *
 * A program in C that annotates and keeps its account, as lifecycle_victim does, for C libraries
 * for which there is no C++: plain_victim. Ends with 7.
 */
#include <fcntl.h>
#include <gpubound/annotate.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { kScopes = 1000 };

/* The begin of ProgressFile in tests/programs/progress.h. */
struct Account {
  uint32_t used;
  uint32_t padding;
  int32_t pid;
  int32_t tid;
  uint64_t completed;
  uint64_t required;
};

static struct Account* MapAccount(void) {
  const char* path = getenv("VICTIM_PROGRESS");
  const int file = path == NULL ? -1 : open(path, O_RDWR);
  if (file < 0) return NULL;
  void* memory = mmap(NULL, sizeof(struct Account), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return memory == MAP_FAILED ? NULL : memory;
}

int main(void) {
  struct Account* account = MapAccount();
  if (account == NULL) return 1;
  account->pid = getpid();
  account->tid = account->pid;
  account->used = 1;
  for (int i = 0; i < kScopes; ++i) {
    const uint32_t scope = gpubound_begin_operation("work");
    gpubound_counter("index", i);
    gpubound_end(scope);
    account->completed = (uint64_t)i + 1;
  }
  account->required = account->completed;
  puts("annotated");
  return 7;
}
