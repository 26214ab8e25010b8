// SPDX-License-Identifier: Apache-2.0
//
// Reads the collective kernels of one process, in order of begin, and skips its other work. One
// object, one caller.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_COLLECTIVE_CURSOR_H_
#define GPUBOUND_ANALYSIS_PROCESSES_COLLECTIVE_CURSOR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/clock_bounds.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/run.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

// Times are those of the reference host: the process's and |offset_ns|, or what |track|, where it is
// not null, has for each.
class CollectiveCursor {
 public:
  CollectiveCursor(const ProcessTrace& process, int64_t offset_ns, const OffsetTrack* track)
      : process_(process), offset_ns_(offset_ns), track_(track), is_comm_(process.works.size()) {
    bool any = false;
    for (size_t id = 1; id < process.works.size(); ++id) {
      is_comm_[id] = ClassOf(process.works[id]) == kComm;
      any |= is_comm_[id];
    }
    if (!any) return;  // nothing to read
    work_.emplace(SourceOf(process)->Work());
    SkipOthers();
  }
  const DeviceWork* Peek() const { return work_ ? work_->Peek() : nullptr; }
  int64_t begin_ns() const { return Peek() == nullptr ? kOpenEnded : Time().begin_ns; }
  Interval Time() const { return {Aligned(Peek()->start_ns), Aligned(Peek()->end_ns)}; }
  StreamId stream() const { return Peek()->stream; }
  DeviceId device() const { return process_.StreamOf(Peek()->stream).device; }
  const std::string& name() const { return process_.WorkOf(Peek()->work).name; }
  void Pop() {
    work_->Pop();
    SkipOthers();
  }

 private:
  int64_t Aligned(int64_t time_ns) const {
    return time_ns + (track_ == nullptr ? offset_ns_ : track_->At(time_ns));
  }
  void SkipOthers() {
    while (Peek() != nullptr &&
           (Raw(Peek()->work) >= is_comm_.size() || !is_comm_[Raw(Peek()->work)])) {
      work_->Pop();
    }
  }
  const ProcessTrace& process_;
  const int64_t offset_ns_;
  const OffsetTrack* const track_;
  std::vector<bool> is_comm_;  // by work row
  std::optional<RecordStream<DeviceWork>> work_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_COLLECTIVE_CURSOR_H_
