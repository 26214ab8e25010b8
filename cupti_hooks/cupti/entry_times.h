// SPDX-License-Identifier: Apache-2.0
//
// How long CUPTI takes within calls of this very program: of one call in some sixteen, the time
// from the callback at the begin of a runtime function to that of the driver function which it
// calls. Hardly anything but CUPTI lies between the two, and its code and data are as near to the
// processor as the program leaves them: what a recorded call costs grows with it
// (docs/overhead_model.md).
//
// Data flow: the program's threads, inside CUPTI's callbacks, count lengths in a histogram for each
// function; whoever writes the trace asks for its text. No lock, and no allocation after
// construction.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_ENTRY_TIMES_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_ENTRY_TIMES_H_

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace gpubound {

class EntryTimes {
 public:
  // Of the clock that |ticks| reads, and ns at the same time. Tests have their own.
  struct Clocks {
    uint64_t (*ticks)() noexcept;
    uint64_t (*monotonic_ns)() noexcept;
  };
  EntryTimes();
  explicit EntryTimes(const Clocks& clocks);

  // In callbacks, on the thread of the call; |function| is CUPTI's id of the runtime's function.
  // Calls of the runtime do not nest.
  void OnRuntimeBegin(uint32_t function) noexcept;
  void OnDriverBegin() noexcept;
  void OnRuntimeEnd() noexcept;

  // Lengths that were counted. Any thread.
  uint64_t count() const noexcept { return count_.load(std::memory_order_relaxed); }

  // A line for each function: its name, then how many of its calls were timed and how long these
  // took, ns (mean of all but the longest 2 %), right behind the thread's call before and behind
  // other work (kOtherWorkBeforeCallNs). A function without a name is left out. Any thread.
  std::string Text(const std::function<std::string_view(uint32_t)>& name_of) const;

  static constexpr uint32_t kFunctions = 1024;

 private:
  // From 8 ticks on eight buckets for each power of two, below that one for each tick.
  static constexpr int kBuckets = 160;
  using Histogram = std::array<std::atomic<uint32_t>, kBuckets>;
  struct Free {
    void operator()(Histogram* histograms) const { std::free(histograms); }
  };
  struct OfThread;
  struct Figures {
    uint64_t timed = 0;
    double mean_ticks = 0;  // of all but the longest
  };

  static OfThread& ThisThread() noexcept;
  static int BucketOf(uint64_t ticks) noexcept;
  Histogram& HistogramOf(uint32_t function, bool late) const;
  Figures FiguresOf(uint32_t function, bool late) const;
  double TicksPerNs() const noexcept;

  const Clocks clocks_;
  const uint64_t made_ticks_;
  const uint64_t made_ns_;
  uint64_t other_work_ticks_ = 0;
  // Two of each function. Zeroed pages, which cost memory once they are used; null where there is
  // none.
  const std::unique_ptr<Histogram[], Free> histograms_;
  // Functions that have something there: a program calls twenty of them.
  std::array<std::atomic<bool>, kFunctions> is_used_{};
  std::atomic<uint64_t> count_{0};
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_ENTRY_TIMES_H_
