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
#ifndef GPUBOUND_ANALYSIS_TIMELINE_THREAD_STATE_H_
#define GPUBOUND_ANALYSIS_TIMELINE_THREAD_STATE_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/base/plain_list.h"
#include "analysis/base/state_archive.h"
#include "analysis/timeline/doing.h"
#include "analysis/timeline/state_rules.h"
#include "analysis/timeline/thread_tally.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/label_roles.h"

namespace gpubound {

class ThreadState {
 public:
  // |base|: the layer outside all scopes and calls; kUnset: nothing is known of the thread there.
  ThreadState(const StateRules* rules, Layer base);

  void Begin(LabelId label, ThreadTally* tally) { Push(label, false, 0, tally); }
  void End(LabelId label, ThreadTally* tally) {
    if (Top().label == label && Top().is_scope) return Pop(tally);
    EndSlowPath(label, tally);
  }
  // A range: may be closed by another thread.
  void StartRange(LabelId label, uint64_t range, ThreadTally* tally) {
    Push(label, true, range, tally);
  }
  // False for a range that is not open in this thread.
  bool CloseRange(uint64_t range, ThreadTally* tally);
  // Events were lost; |open| is what is open now.
  void Resync(std::span<const LabelId> open, ThreadTally* tally);

  void BeginCall(LabelId label, int64_t end_ns, ThreadTally* tally) {
    const StateRule& rule = rules_->Of(label);
    if (special_time_ || sync_calls_ != 0 || !rule.is_plain_call()) {
      return BeginCallSlowPath(rule, end_ns, tally);
    }
    AddCall(rule, end_ns);
    const Layer from = doing_.layer();
    doing_ = rule.InCall(Top().says.doing);
    tally->Enter(doing_.operation(), from, doing_.layer());
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
  void EnterWait() { ++wait_windows_, SpecialTimeMayChange(); }
  void LeaveWait() { --wait_windows_, SpecialTimeMayChange(); }
  void EnterCompile() { ++compile_windows_, SpecialTimeMayChange(); }
  void LeaveCompile() { --compile_windows_, SpecialTimeMayChange(); }

  // Scopes, calls and windows that are open. The object that reads is new.
  void Visit(StateArchive& archive);

  const Doing& doing() const { return doing_; }
  OperationIndex operation() const { return doing_.operation(); }  // kNotOne: none is open here

  uint64_t scopes_open() const { return open_.size() - 1 - ended_; }
  LabelId innermost() const { return Top().label; }  // of the open scopes
  uint64_t ranges_open() const { return ranges_.size(); }
  uint64_t unbalanced() const { return unbalanced_; }

 private:
  // One open scope, and what holds while it is the topmost: its own part, or that of the nearest
  // one beneath which has any. One that ended while others were open above it stays where it is
  // until it would be topmost, or half of all have ended; what those above it say may be out of
  // date until then, but for the topmost one. A scope that lies deep is found by a map, which is
  // there while many are open. So any order of ends costs about as much as the usual one.
  struct Open {
    ScopesSay says;
    bool is_scope = false;  // else a range, or what is beneath all scopes
    bool ended = false;
    bool has_operation = false;  // of its own
    bool knows_sources = true;
    LabelId label{};
    uint64_t range = 0;
    uint32_t same_beneath = 0;  // place of the next one with this label; while they are mapped
    // Whose parts these are: places in |open_|, of which some may have ended since. Once asked for.
    uint32_t layer_from = 0;
    uint32_t operation_from = 0;
    uint32_t cause_from = 0;
    OperationIndex own_operation() const {
      return has_operation ? says.doing.operation() : kNotOne;
    }
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
  void Push(LabelId label, bool is_range, uint64_t range, ThreadTally* tally) {
    const Layer from = doing_.layer();
    const StateRule& rule = rules_->Of(label);
    Place(label, rule, is_range, range);
    tally->Open(rule.operation());
    if (rule.enters_layer()) tally->Enter(operation(), from, doing_.layer());
  }
  void Place(LabelId label, const StateRule& rule, bool is_range, uint64_t range) {
    Open& open = *open_.Add();  // made where it stays
    open.says = rule.Above((&open)[-1].says);
    open.is_scope = !is_range;
    open.ended = false;
    open.has_operation = rule.has_operation();
    open.knows_sources = false;
    open.label = label;
    open.range = range;
    if (is_range) {
      NoteRange(range);
    } else if (scopes_mapped_) {
      MapScope(static_cast<uint32_t>(open_.size() - 1));
    }
    Refresh();
  }
  void Pop(ThreadTally* tally) {
    tally->Close(Top().own_operation());
    if (scopes_mapped_) UnmapScope(Top());
    open_.pop_back();
    if (ended_ != 0) DropEnded();
    Refresh();
  }
  void Refresh() {
    if (!open_calls_.empty() || special_time_) return RefreshSlowPath();
    doing_ = Top().says.doing;
  }
  // That a scope or call is in says more than the scope or call.
  void SpecialTimeMayChange() {
    special_time_ = wait_windows_ != 0 || compile_windows_ != 0 || capturing_;
    Refresh();
  }
  void AddCall(const StateRule& rule, int64_t end_ns) {
    open_calls_.push_back({end_ns, rule.is_sync(), rule.cause()});
    next_call_end_ns_ = std::min(next_call_end_ns_, end_ns);
    sync_calls_ += rule.is_sync() ? 1 : 0;
  }
  void BeginCallSlowPath(const StateRule& rule, int64_t end_ns, ThreadTally* tally);
  void EndCallsSlowPath(int64_t now_ns);
  void RefreshSlowPath();
  void NoteRange(uint64_t range);
  void ForgetRange(size_t index);
  void MapScope(uint32_t place);
  void UnmapScope(const Open& scope);
  void MapScopes();
  uint32_t SourceOf(size_t index, uint32_t Open::*source);
  void FindSources();
  void DeriveTop();
  void DropEnded();
  void Compact();
  void EndSlowPath(LabelId label, ThreadTally* tally);
  void Erase(size_t index, ThreadTally* tally);
  IdleCause CauseIn(Layer layer) const;

  const StateRules* rules_;
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
  bool special_time_ = false;  // one of these
  uint64_t unbalanced_ = 0;
  Doing doing_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_THREAD_STATE_H_
