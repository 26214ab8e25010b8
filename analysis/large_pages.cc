// SPDX-License-Identifier: Apache-2.0
//
// Has the C library grow each of its heaps at once, by all of a region, and advises the kernel
// there. A page stays small that was written to before, as the beginning of a heap is, so what
// counts begins at the next. State: whether it was asked for, beside the C library's.
#include "analysis/large_pages.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace gpubound {

#ifdef __GLIBC__
namespace {

constexpr uintptr_t kLargePage = uintptr_t{2} << 20;
constexpr uintptr_t kBefore = kLargePage / 4;  // in small pages
constexpr uintptr_t kRegion = uintptr_t{64} << 20;
constexpr int kMostForHeap = 32 << 20;  // the most there can be; larger blocks are always mapped

bool asked_for = false;

uintptr_t HeapEnd() { return reinterpret_cast<uintptr_t>(sbrk(0)); }

void Advise(uintptr_t begin, uintptr_t end) {
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

void AllocateFromLargePages() {
  asked_for = true;
  mallopt(M_MMAP_THRESHOLD, kMostForHeap);
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(2 * kRegion));
  mallopt(M_TOP_PAD, static_cast<int>(kRegion));
  // The heap goes on behind a gap, shortly before a large page.
  const uintptr_t gap = (2 * kLargePage - kBefore - HeapEnd() % kLargePage) % kLargePage;
  if (sbrk(static_cast<intptr_t>(gap)) == reinterpret_cast<void*>(-1)) return;
  const uintptr_t begin = HeapEnd() + kBefore;
  void* volatile const block = std::malloc(kBefore / 2);  // or the compiler leaves both calls out
  std::free(block);
  Advise(begin, HeapEnd());
}

// The heap of another thread than the main one is a region at an address that is a multiple of its
// size (glibc, malloc/arena.c), and begins with what malloc keeps of it.
LargePagesOfThread::LargePagesOfThread() {
  if (!asked_for) return;
  before_.reset(std::malloc(kLargePage - kBefore));
  const auto block = reinterpret_cast<uintptr_t>(before_.get());
  const uintptr_t heap = block - block % kRegion;
  if (block - heap < kBefore / 2) Advise(heap + kLargePage, heap + kRegion);
}
#else
void AllocateFromLargePages() {}
LargePagesOfThread::LargePagesOfThread() = default;
#endif

}  // namespace gpubound
