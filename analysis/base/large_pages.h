// SPDX-License-Identifier: Apache-2.0
//
// Where the memory of a program that analyses runs comes from: pages of 2 MiB, where the kernel has
// them and the C library is glibc. To touch a small page for the first time costs 2.3 us on a
// virtual machine, as much as to analyse 50 events. Elsewhere memory is what it was.
#ifndef GPUBOUND_ANALYSIS_BASE_LARGE_PAGES_H_
#define GPUBOUND_ANALYSIS_BASE_LARGE_PAGES_H_

#include <cstdlib>
#include <memory>

namespace gpubound {

// From now on the main thread's malloc takes its first 64 MiB from large pages. Call before other
// threads are started; again, it does nothing.
void AllocateFromLargePages();

// While it lives, so does the malloc of the thread that made it, if that has been asked for.
class LargePagesOfThread {
 public:
  LargePagesOfThread();

 private:
  struct Free {
    void operator()(void* block) const { std::free(block); }
  };
  std::unique_ptr<void, Free> before_;  // fills the thread's region up to the first large page
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_LARGE_PAGES_H_
