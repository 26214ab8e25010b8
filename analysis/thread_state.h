// SPDX-License-Identifier: Apache-2.0
//
// What one thread does at each instant: the operation that owns its time, the layer in which it
// executes, and what an idle device would be blamed on. A state machine that is told of events in
// time order; its state is a stack of open scopes and a few open API calls. One object, one caller.
//
// The rules (SPEC section 1):
//   * of the open operations the one begun last owns the time, whatever was closed in between;
//   * the layer is that of an open API call, else of the layer scope begun last, else the base; of
//     calls that are stored as scopes too (LabelRole::call_is_scope) the scope counts;
//   * at one instant, calls end first, then scopes open and close, then calls begin. The caller
//     keeps to that order.
#ifndef GPUBOUND_ANALYSIS_THREAD_STATE_H_
#define GPUBOUND_ANALYSIS_THREAD_STATE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/event_source.h"
#include "analysis/label_roles.h"

namespace gpubound {

// What events did, beside changing the state.
struct ThreadStep {
  struct Transition {
    OperationIndex operation;  // kNotOne: the thread had none of its own
    Layer from;                // kUnset: nothing was known of the thread before
    Layer to;
  };
  std::vector<OperationIndex> opened;  // operations, one per scope
  std::vector<OperationIndex> closed;
  std::vector<Transition> transitions;
  void Clear() {
    opened.clear();
    closed.clear();
    transitions.clear();
  }
};

class ThreadState {
 public:
  // |base|: the layer outside all scopes and calls; kUnset: nothing is known of the thread there.
  ThreadState(const LabelRoles* roles, Layer base);

  // Begins and ends of scopes and ranges; other kinds mean nothing here. False for an end of a
  // range that is not open in this thread.
  bool Apply(const ThreadEvent& event, ThreadStep* step);
  // Events were lost; |open| is what is open now.
  void Resync(std::span<const LabelId> open, ThreadStep* step);
  bool CloseRange(uint64_t range, ThreadStep* step);

  void BeginCall(const ApiCall& call, ThreadStep* step);
  void EndCalls(int64_t now_ns);

  // While a window is open, time inside any API call is cuda_sync. Windows may overlap.
  void EnterWait() { ++wait_windows_, Refresh(); }
  void LeaveWait() { --wait_windows_, Refresh(); }
  void EnterCompile() { ++compile_windows_, Refresh(); }
  void LeaveCompile() { --compile_windows_, Refresh(); }

  OperationIndex operation() const { return operation_; }  // kNotOne: none is open here
  Layer layer() const { return layer_; }
  IdleCause cause() const { return cause_; }
  // The process for which the wait scope on top waits; kNotOne outside one.
  PeerIndex peer() const { return layer_ == Layer::kWait ? Top().peer : kNotOne; }

  uint64_t scopes_open() const { return open_.size() - 1; }
  uint64_t unbalanced() const { return unbalanced_; }

 private:
  // One open scope, and what holds while it is the topmost: its own part, or that of the nearest
  // one beneath which has any.
  struct Open {
    LabelId label{};
    bool is_range = false;
    uint64_t range = 0;
    OperationIndex operation = kNotOne;
    Layer layer = Layer::kUnset;
    bool layer_is_call = false;  // it is an API call that set the layer
    PeerIndex peer = kNotOne;
    IdleCause named_cause = IdleCause::kUnknown;
  };
  struct OpenCall {
    int64_t end_ns;
    bool sync;
    IdleCause cause;
  };

  const Open& Top() const { return open_.back(); }
  void Push(LabelId label, bool is_range, uint64_t range, ThreadStep* step);
  void Derive(size_t index);
  bool CloseScope(LabelId label, ThreadStep* step);
  void Erase(size_t index, ThreadStep* step);
  void Refresh();
  IdleCause CauseNow() const;

  const LabelRoles* roles_;
  std::vector<Open> open_;  // the first one stands for what is beneath all scopes
  std::vector<OpenCall> open_calls_;
  uint32_t sync_calls_ = 0;
  uint32_t wait_windows_ = 0;
  uint32_t compile_windows_ = 0;
  bool capturing_ = false;
  uint64_t unbalanced_ = 0;
  OperationIndex operation_ = kNotOne;
  Layer layer_ = Layer::kUnset;
  IdleCause cause_ = IdleCause::kUnknown;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_THREAD_STATE_H_
