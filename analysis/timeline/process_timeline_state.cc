// SPDX-License-Identifier: Apache-2.0
//
// What a process timeline hands on to the one that goes on where it stopped. One object, one
// caller.
#include "analysis/timeline/process_timeline.h"

namespace gpubound {

void ProcessTimeline::Visit(StateArchive& archive) {
  uint64_t threads = threads_.size();
  archive.All(threads);
  if (threads > threads_.size()) return archive.Fail();
  for (size_t t = 0; t < threads; ++t) threads_[t]->Visit(archive);
  VisitLaneScopes(archive);
  call_index_.Visit(archive, threads_.size());
  archive.All(counts_, doubtful_.adopted, paused_, state_);
  archive.Grown(first_call_ns_);
  archive.All(blocked_, total_cpu_time_);
  archive.IndexBelow(archive.phases(), phase_);
  archive.IndexBelow(archive.operations(), inherited_now_);
  if (archive.reads()) JoinThreads();
}

// Threads that had no lane have opened nothing that would be counted.
void ProcessTimeline::VisitLaneScopes(StateArchive& archive) {
  uint64_t count = lanes_.size();
  archive.All(count);
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    uint32_t thread = archive.reads() ? 0 : lanes_[i].thread;
    archive.All(thread);
    const uint32_t lane = LaneOf(thread);
    if (lane == kNotOne) return archive.Fail();
    lane_scopes_[lane].Visit(archive);
  }
}

// What the process is follows from what each thread does.
void ProcessTimeline::JoinThreads() {
  roster_ = {};
  for (uint32_t t = 0; t < threads_.size(); ++t) {
    const Doing& doing = threads_[t]->doing();
    if (lane_of_[t] != kNotOne) lanes_[lane_of_[t]] = {t, InOwnLane(t)};
    if (t == scan_.reporting) reporting_ = doing;
    EnterRoster(t);
  }
  // The operation that is inherited began before; its end is still to come.
  if (inherited_.empty() || inherited_.front().operation != inherited_now_) {
    inherited_now_ = kNoOperationIndex;
  }
  state_.peer = reporting_.peer();
  doing_at_begin_ = {state_.operation, state_.layer, state_.cause, state_.peer};
}

}  // namespace gpubound
