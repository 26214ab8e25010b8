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
//
// What nearly every event does is inline: a scope opens, the innermost one closes, a call begins
// while none is open, the only one ends.
#ifndef GPUBOUND_ANALYSIS_THREAD_STATE_H_
#define GPUBOUND_ANALYSIS_THREAD_STATE_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/doing.h"
#include "analysis/event_source.h"
#include "analysis/label_roles.h"
#include "analysis/plain_list.h"
#include "analysis/state_archive.h"

namespace gpubound {

// What events did, beside changing the state.
struct ThreadStep {
  struct Transition {
    OperationIndex operation;  // kNotOne: the thread had none of its own
    Layer from;                // kUnset: nothing was known of the thread before
    Layer to;
  };
  bool counts = true;                // else the two lists stay empty
  bool any = false;                  // some list is not empty
  PlainList<OperationIndex> opened;  // operations, one per scope
  PlainList<OperationIndex> closed;
  PlainList<Transition> transitions;
  void Open(OperationIndex operation) {
    if (operation == kNotOne || !counts) return;
    opened.push_back(operation);
    any = true;
  }
  void Close(OperationIndex operation) {
    if (operation == kNotOne || !counts) return;
    closed.push_back(operation);
    any = true;
  }
  void Enter(OperationIndex operation, Layer from, Layer to) {
    if (to <= from) return;
    transitions.push_back({operation, from, to});
    any = true;
  }
};

class ThreadState {
 public:
  // |base|: the layer outside all scopes and calls; kUnset: nothing is known of the thread there.
  ThreadState(const LabelRoles* roles, Layer base);

  void Begin(LabelId label, ThreadStep* step) { Push(label, false, 0, step); }
  void End(LabelId label, ThreadStep* step) {
    if (Top().label == label && Top().is_scope) return Pop(step);
    EndSlowPath(label, step);
  }
  // A range: may be closed by another thread.
  void StartRange(LabelId label, uint64_t range, ThreadStep* step) {
    Push(label, true, range, step);
  }
  // False for a range that is not open in this thread.
  bool CloseRange(uint64_t range, ThreadStep* step);
  // Events were lost; |open| is what is open now.
  void Resync(std::span<const LabelId> open, ThreadStep* step);

  void BeginCall(LabelId label, int64_t end_ns, ThreadStep* step) {
    const LabelRole& role = roles_->Of(label);
    if (HasSpecialTime() || role.capture != CaptureEdge::kNone || role.call_is_scope) {
      return BeginCallSlowPath(role, end_ns, step);
    }
    AddCall(role, end_ns);
    const Layer from = doing_.layer();
    const Layer layer = sync_calls_ != 0 ? Layer::kCudaSync : Layer::kCudaApi;
    const IdleCause named = NamedCause(Top());
    const IdleCause cause = SaysAll(named) ? named : CauseInCall(role.cause, layer);
    doing_ = Doing(Top().operation, layer, cause, kNotOne);
    step->Enter(Top().operation, from, layer);
  }
  // When the next of the open calls ends; kOpenEnded where none is open.
  int64_t next_call_end_ns() const { return next_call_end_ns_; }
  void EndCalls(int64_t now_ns) {
    if (open_calls_.size() != 1) return EndCallsSlowPath(now_ns);
    open_calls_.clear();
    sync_calls_ = 0;
    next_call_end_ns_ = kOpenEnded;
    Refresh();
  }

  // While a window is open, time inside any API call is cuda_sync. Windows may overlap.
  void EnterWait() { ++wait_windows_, Refresh(); }
  void LeaveWait() { --wait_windows_, Refresh(); }
  void EnterCompile() { ++compile_windows_, Refresh(); }
  void LeaveCompile() { --compile_windows_, Refresh(); }

  // Scopes, calls and windows that are open. The object that reads is new.
  void Visit(StateArchive& archive);

  const Doing& doing() const { return doing_; }
  OperationIndex operation() const { return doing_.operation(); }  // kNotOne: none is open here

  uint64_t scopes_open() const { return open_.size() - 1 - ended_; }
  uint64_t ranges_open() const { return ranges_.size(); }
  uint64_t unbalanced() const { return unbalanced_; }

 private:
  // One open scope, and what holds while it is the topmost: its own part, or that of the nearest
  // one beneath which has any. One that ended while others were open above it stays where it is
  // until it would be topmost, or half of all have ended; what those above it say may be out of
  // date until then, but for the topmost one. A scope that lies deep is found by a map, which is
  // there while many are open. So any order of ends costs about as much as the usual one.
  struct Open {
    LabelId label{};
    bool is_scope = false;  // else a range, or what is beneath all scopes
    bool ended = false;
    Layer layer = Layer::kUnset;
    bool layer_is_call = false;  // it is an API call that set the layer
    IdleCause named_cause = IdleCause::kUnknown;
    OperationIndex opens = kNotOne;  // the scope's own
    OperationIndex operation = kNotOne;
    PeerIndex peer = kNotOne;
    Doing doing;  // while no call and no window is open
    uint64_t range = 0;
    uint32_t same_beneath = 0;  // place of the next one with this label; while they are mapped
    // Whose parts these are: places in |open_|, of which some may have ended since.
    uint32_t layer_from = 0;
    uint32_t operation_from = 0;
    uint32_t cause_from = 0;
  };
  struct OpenCall {
    int64_t end_ns;
    bool sync;
    IdleCause cause;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(end_ns, sync);
      archive.IndexBelow(kIdleCauses, cause);
    }
  };

  const Open& Top() const { return open_.back(); }
  void Push(LabelId label, bool is_range, uint64_t range, ThreadStep* step) {
    const LabelRole& role = roles_->Of(label);
    const Layer from = doing_.layer();
    Open& open = *open_.Add();  // made where it stays
    open.label = label;
    open.is_scope = !is_range;
    open.ended = false;
    open.range = range;
    open.same_beneath = 0;
    const auto place = static_cast<uint32_t>(open_.size() - 1);
    Derive(role, (&open)[-1], place, &open);
    if (is_range) {
      NoteRange(range);
    } else if (scopes_mapped_) {
      MapScope(place);
    }
    step->Open(role.operation);
    Refresh();
    if (role.layer != Layer::kUnset) step->Enter(operation(), from, doing_.layer());
  }
  void Pop(ThreadStep* step) {
    step->Close(Top().opens);
    if (scopes_mapped_) UnmapScope(Top());
    open_.pop_back();
    if (ended_ != 0) DropEnded();
    Refresh();
  }
  void Refresh() {
    if (!open_calls_.empty() || HasSpecialTime()) return RefreshSlowPath();
    doing_ = Top().doing;
  }
  // That a scope or call is in says more than the scope or call.
  bool HasSpecialTime() const {
    return (wait_windows_ | compile_windows_ | static_cast<uint32_t>(capturing_)) != 0;
  }
  void AddCall(const LabelRole& role, int64_t end_ns) {
    const bool sync = role.api_class == ApiClass::kSync;
    open_calls_.push_back({end_ns, sync, role.cause});
    next_call_end_ns_ = std::min(next_call_end_ns_, end_ns);
    sync_calls_ += sync ? 1 : 0;
  }
  void BeginCallSlowPath(const LabelRole& role, int64_t end_ns, ThreadStep* step);
  void EndCallsSlowPath(int64_t now_ns);
  void RefreshSlowPath();
  static IdleCause CauseInCall(IdleCause call, Layer layer) {
    return call == IdleCause::kLaunch && layer == Layer::kCudaSync ? IdleCause::kSync : call;
  }
  // Under an open scope and outside calls.
  static IdleCause CauseInScope(IdleCause named, Layer layer) {
    if (SaysAll(named)) return named;
    if (named == IdleCause::kSimulation || layer == Layer::kSimulator) {
      return IdleCause::kSimulation;
    }
    if (layer == Layer::kCudaSync) return IdleCause::kSync;
    return layer == Layer::kWait ? IdleCause::kWaiting : IdleCause::kLaunch;
  }
  // |place|: of |open|.
  static void Derive(const LabelRole& role, const Open& beneath, uint32_t place, Open* open) {
    const bool is_operation = role.operation != kNotOne;
    open->opens = role.operation;
    open->operation = is_operation ? role.operation : beneath.operation;
    open->operation_from = is_operation ? place : beneath.operation_from;
    const bool is_layer = role.layer != Layer::kUnset;
    open->layer = is_layer ? role.layer : beneath.layer;
    open->layer_is_call = is_layer ? role.call_is_scope : beneath.layer_is_call;
    open->peer = is_layer ? role.peer : beneath.peer;
    open->layer_from = is_layer ? place : beneath.layer_from;
    const bool is_cause = role.cause != IdleCause::kUnknown;
    open->named_cause = is_cause ? role.cause : beneath.named_cause;
    open->cause_from = is_cause ? place : beneath.cause_from;
    DeriveDoing(open);
  }
  // An operation speaks for itself: what encloses it does not explain its time, unless all of that
  // is one thing.
  static IdleCause NamedCause(const Open& open) {
    const bool is_own = open.cause_from >= open.operation_from;
    return is_own || SaysAll(open.named_cause) ? open.named_cause : IdleCause::kUnknown;
  }
  static void DeriveDoing(Open* open) {
    const IdleCause named = NamedCause(*open);
    const IdleCause cause =
        open->layer_is_call ? CauseInCall(named, open->layer) : CauseInScope(named, open->layer);
    open->doing = Doing(open->operation, open->layer, cause,
                        open->layer == Layer::kWait ? open->peer : kNotOne);
  }
  void NoteRange(uint64_t range);
  void ForgetRange(size_t index);
  void MapScope(uint32_t place);
  void UnmapScope(const Open& scope);
  void MapScopes();
  uint32_t SourceOf(size_t index, uint32_t Open::*source);
  void DeriveTop();
  void DropEnded();
  void Compact();
  void EndSlowPath(LabelId label, ThreadStep* step);
  void Erase(size_t index, ThreadStep* step);
  IdleCause CauseIn(Layer layer) const;

  const LabelRoles* roles_;
  PlainList<Open> open_;  // the first one stands for what is beneath all scopes
  size_t ended_ = 0;      // of them
  std::unordered_multimap<uint64_t, size_t> ranges_;  // places of those that have not ended
  bool scopes_mapped_ = false;
  std::unordered_map<LabelId, uint32_t> innermost_;  // place of the one begun last, by label
  PlainList<OpenCall> open_calls_;
  int64_t next_call_end_ns_ = kOpenEnded;
  uint32_t sync_calls_ = 0;
  uint32_t wait_windows_ = 0;
  uint32_t compile_windows_ = 0;
  bool capturing_ = false;
  uint64_t unbalanced_ = 0;
  Doing doing_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_THREAD_STATE_H_
