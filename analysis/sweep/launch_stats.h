// SPDX-License-Identifier: Apache-2.0
//
// How far launches run ahead of the device, for each operation that launched: the lead, from the
// end of the call until its work begins, and the depth, how many earlier calls' work still waits in
// the same stream when the call ends. Of a call that launches much into a stream, as that of a
// graph, the first work counts. One object, one caller.
//
//   CPU      | A | B | C |                 C: lead 1, depth 1 (B waits, A runs)
//   stream           |-- A --|-- B --|-- C --|
//                        |<--- 1 --->|
#ifndef GPUBOUND_ANALYSIS_SWEEP_LAUNCH_STATS_H_
#define GPUBOUND_ANALYSIS_SWEEP_LAUNCH_STATS_H_

#include <cstdint>
#include <vector>

#include "analysis/base/fifo.h"
#include "analysis/base/state_archive.h"
#include "analysis/sweep/length_counts.h"
#include "analysis/timeline/call_index.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct LaunchTime {
  LengthCounts lead_ns;  // 0 where the work began before the call had ended
  LengthCounts depth;
  uint64_t kernels = 0;          // launches of kernels
  uint64_t shorter_kernels = 0;  // that took less time than the call
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(lead_ns, depth, kernels, shorter_kernels);
  }
};

class LaunchStats {
 public:
  LaunchStats(const ProcessTrace& process, size_t operations);  // |process| outlives the object

  // Work comes in order of begin. |call| is what launched it; null: none known.
  void Add(const DeviceWork& work, CallNumber number, const IndexedCall* call);
  // What was added first of all that is not attributed belongs to |operation|.
  void Attribute(OperationIndex operation);

  // Operations that became known since are added.
  void Visit(StateArchive& archive);

  const std::vector<LaunchTime>& times() const { return times_; }  // by OperationIndex

 private:
  // A stream holds about a thousand launches that wait.
  static constexpr size_t kMostDepth = 4096;
  struct Place {
    CallNumber last = kNoCall;
    Fifo<int64_t> begins;  // the newest, one of each call
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(last, begins);
    }
  };
  struct Launch {
    bool counts;
    bool is_kernel;
    bool is_shorter;
    int64_t lead_ns;
    int64_t depth;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(counts, is_kernel, is_shorter, lead_ns, depth);
    }
  };
  Launch LaunchOf(const DeviceWork& work, CallNumber number, const IndexedCall& call);

  const ProcessTrace& process_;
  std::vector<Place> places_;  // by StreamId
  Fifo<Launch> waiting_;
  std::vector<LaunchTime> times_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_LAUNCH_STATS_H_
