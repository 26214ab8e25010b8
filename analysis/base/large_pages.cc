// SPDX-License-Identifier: Apache-2.0
//
// Has the C library grow each of its heaps at once, by all of a region, and advises the kernel
// there. A page stays small that was written to before, as the beginning of a heap is, so what
// counts begins at the next. State: that of the C library, and a block that is never used.
#include "analysis/base/large_pages.h"

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
constexpr uintptr_t kFirst = uintptr_t{256} << 10;  // more than what is left of a heap
constexpr uintptr_t kSlack = uintptr_t{64} << 10;   // for what malloc writes before a large page
constexpr uintptr_t kRegion = uintptr_t{64} << 20;
constexpr int kMostForHeap = 32 << 20;  // the most there can be; larger blocks are always mapped

void* first_block = nullptr;  // null as long as nobody asked

uintptr_t HeapEnd() { return reinterpret_cast<uintptr_t>(sbrk(0)); }

void Advise(uintptr_t begin, uintptr_t end) {
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

}  // namespace

void AllocateFromLargePages() {
  if (first_block != nullptr) return;
  mallopt(M_MMAP_THRESHOLD, kMostForHeap);
  mallopt(M_TRIM_THRESHOLD, static_cast<int>(2 * kRegion));
  mallopt(M_TOP_PAD, static_cast<int>(kRegion));
  // The heap goes on behind a gap, so that its first block ends shortly before a large page. It is
  // never given back: what lies there would be in small pages.
  const uintptr_t before = kFirst + kSlack;
  const uintptr_t gap = (2 * kLargePage - before - HeapEnd() % kLargePage) % kLargePage;
  if (sbrk(static_cast<intptr_t>(gap)) == reinterpret_cast<void*>(-1)) return;
  const uintptr_t begin = HeapEnd() + before;
  first_block = std::malloc(kFirst);
  Advise(begin, HeapEnd());
}

// The heap of another thread than the main one is a region at an address that is a multiple of its
// size (glibc, malloc/arena.c), and begins with what malloc keeps of it.
LargePagesOfThread::LargePagesOfThread() {
  if (first_block == nullptr) return;
  before_.reset(std::malloc(kLargePage - kSlack));
  const auto block = reinterpret_cast<uintptr_t>(before_.get());
  const uintptr_t heap = block - block % kRegion;
  if (block - heap < kSlack) Advise(heap + kLargePage, heap + kRegion);
}
#else
void AllocateFromLargePages() {}
LargePagesOfThread::LargePagesOfThread() = default;
#endif

}  // namespace gpubound
