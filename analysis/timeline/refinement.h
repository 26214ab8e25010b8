// SPDX-License-Identifier: Apache-2.0
//
// Brings the threads of a process together over one window of time (SPEC section 2, CPU side): the
// reporting thread says what the process does, and threads that work under the same operation
// refine it to the deepest layer among them. A thread helps where it lies deeper than the reporting
// thread, which is outside Python; most of what other threads do is no help and is passed over
// before anything is put in order:
//
//   reporting   |--A native------|--A python--|-----B native------|
//   another     |---|==A api==|--|---|==A api==|---|==B api==|----|
//   its help        |===api===|                    |===api===|
//
// A reporting thread that waits for nobody who is known waits for simulation where another thread
// of the process, under whichever operation, simulates.
//
// One object, one caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_REFINEMENT_H_
#define GPUBOUND_ANALYSIS_TIMELINE_REFINEMENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/base/plain_list.h"
#include "analysis/timeline/doing.h"
#include "analysis/timeline/thread_change.h"

namespace gpubound {

class Refinement {
 public:
  // A window. |own|: what the process does by the reporting thread alone, at the window's begin and
  // from each change on, ascending; valid until Resolve(). |starting|: nothing has begun yet.
  void Open(std::span<const ThreadChange> own, bool starting);

  // Another thread, one that |adopts| the reporting thread's operation or works under its own: what
  // it is at the window's begin, then its |changes|, ascending.
  void Add(bool adopts, const Doing& at_begin, std::span<const ThreadChange> changes);

  // What the process does at the window's begin; every change after that goes to |changes|.
  Doing Resolve(PlainList<ThreadChange>* changes);

 private:
  // How deep a thread lies: its layer, then whether it adopts, then its cause; zero: it is no help.
  // Without a layer: it explains a wait, and is no other help.
  using Depth = uint8_t;
  static constexpr size_t kDepths = 256;

  // From |time_ns| on a thread gives other help than before.
  struct Help {
    int64_t time_ns;
    Depth before;
    Depth now;
  };
  static constexpr int kPlaceBits = 28;  // of a Help's index; above it, time since the begin
  static constexpr uint64_t kPlaceMask = (uint64_t{1} << kPlaceBits) - 1;

  const ThreadChange* StretchAt(int64_t time_ns, const ThreadChange* from) const;
  void OrderHelp();
  void Apply(const Help& help);
  Doing Refined(const Doing& own) const { return helping_ == 0 ? own : RefinedSlowPath(own); }
  Doing RefinedSlowPath(const Doing& own) const;

  std::span<const ThreadChange> own_;  // stretches, each until the next begins
  bool starting_ = false;
  Layer least_ = Layer::kUnset;   // in which a thread helps some of them
  bool waits_ = false;            // some are waits for nobody who is known
  PlainList<Help> help_;          // thread by thread
  std::vector<size_t> run_ends_;  // behind the help of each
  std::vector<uint64_t> order_;
  std::vector<uint64_t> merge_scratch_;
  size_t helping_ = 0;                            // threads
  std::array<uint32_t, kDepths> helpers_{};       // the same by depth
  std::array<uint64_t, kDepths / 64> present_{};  // a bit per depth
};

// A window is no longer than fits into the order of help.
inline constexpr int64_t kLongestWindowNs = int64_t{1} << 35;

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_REFINEMENT_H_
