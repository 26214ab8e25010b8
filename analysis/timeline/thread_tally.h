// SPDX-License-Identifier: Apache-2.0
//
// Counts what the events of one thread do beside changing its state: scopes that open and close, of
// the reporting thread and of lanes, and deeper layers that are entered. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_THREAD_TALLY_H_
#define GPUBOUND_ANALYSIS_TIMELINE_THREAD_TALLY_H_

#include <cstdint>
#include <vector>

#include "analysis/timeline/lane_scopes.h"
#include "analysis/timeline/scope_counts.h"
#include "analysis/trace/label_roles.h"
#include "proto/event_model.h"

namespace gpubound {

// A deeper layer was entered by a thread that adopts, and what the reporting thread did then says
// under which operation, or from which layer.
struct AdoptedTransition {
  int64_t time_ns;
  OperationIndex operation;  // kNotOne: the thread had none of its own
  Layer from;                // kUnset: nothing was known of the thread before
  Layer to;
};

class ThreadTally {
 public:
  struct Input {  // all of it outlives the object
    bool reports = false;
    bool adopts = false;
    ScopeCounts* counts = nullptr;
    LaneScopes* lane = nullptr;  // null: none
    std::vector<AdoptedTransition>* adopted = nullptr;
  };
  explicit ThreadTally(const Input& input) : in_(input) {}

  // What has no operation of its own works for |inherited| if it reports.
  void Inherit(OperationIndex inherited) {
    without_own_ = in_.reports ? inherited : kNoOperationIndex;
  }
  OperationIndex without_own() const { return without_own_; }
  // When the following happens.
  void SetNow(int64_t now_ns) { now_ns_ = now_ns; }

  // A scope; kNotOne: it is no operation.
  void Open(OperationIndex operation) {
    if (operation == kNotOne) return;
    if (in_.reports) return in_.counts->Open(operation, now_ns_);
    if (in_.lane != nullptr) in_.lane->Open(operation, now_ns_);
  }
  void Close(OperationIndex operation) {
    if (operation == kNotOne) return;
    if (in_.reports) return in_.counts->Close(operation, now_ns_);
    if (in_.lane != nullptr) in_.lane->Close(operation, now_ns_);
  }
  // A layer; it counts where it is a deeper one. See AdoptedTransition.
  void Enter(OperationIndex operation, Layer from, Layer to) {
    if (to <= from) return;
    const bool own = operation != kNotOne;
    const bool adopts = in_.adopts && (!own || from == Layer::kUnset);
    if (!own && !in_.adopts) operation = without_own_;
    if (adopts) return Defer({now_ns_, operation, from, to});
    in_.counts->AddTransition(operation, from, to, now_ns_);
  }

 private:
  [[gnu::noinline]] void Defer(const AdoptedTransition& transition) {
    in_.adopted->push_back(transition);
  }

  const Input in_;
  OperationIndex without_own_ = kNoOperationIndex;
  int64_t now_ns_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_THREAD_TALLY_H_
