// SPDX-License-Identifier: Apache-2.0
//
// What one thread does at each instant: the operation that owns its time and the layer in which it
// executes. A pull stream over the thread's events in time order whose state is a stack of open
// scopes and a few open API calls, so that many threads can be merged without holding their
// results. One object, one caller.
//
// The rules (SPEC section 1):
//   * of the open operations the one begun last owns the time, whatever was closed in between;
//   * the layer is that of an open API call, else of the layer scope begun last, else the base; of
//     calls that are stored as scopes too (LabelRole::call_is_scope) the scope counts;
//   * at one instant, calls end first, then scopes open and close, then calls begin.
#ifndef GPUBOUND_ANALYSIS_THREAD_TIMELINE_H_
#define GPUBOUND_ANALYSIS_THREAD_TIMELINE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/correlator.h"
#include "analysis/interval.h"
#include "analysis/label_roles.h"
#include "analysis/run.h"

namespace gpubound {

// The end of a start/end range by another thread than the one that started it.
struct ForeignRangeEnd {
  int64_t time_ns;
  uint64_t range;
};

struct ThreadTimelineInput {
  const ThreadTrace* thread = nullptr;
  const LabelRoles* roles = nullptr;
  const std::vector<Interval>* sync_windows = nullptr;
  std::vector<ForeignRangeEnd> foreign_ends;  // by time
  Layer base_layer = Layer::kUnset;  // kUnset: between its events nothing is known of the thread
};

// What happened in one step, beside the new state.
struct ThreadStep {
  struct Transition {
    OperationIndex operation;  // kNotOne: the thread had none of its own
    Layer from;                // kUnset: nothing was known of the thread before
    Layer to;
  };
  std::vector<uint32_t> calls_begun;   // indices into ThreadTrace::calls
  std::vector<OperationIndex> opened;  // operations, one per scope
  std::vector<OperationIndex> closed;
  std::vector<PhaseIndex> phases;
  std::vector<Transition> transitions;
  void Clear();
};

class ThreadTimeline {
 public:
  explicit ThreadTimeline(ThreadTimelineInput input);

  // Time of the next event; kOpenEnded when there is none.
  int64_t NextTime() const;

  // Processes everything that happens at NextTime() and describes it in |step|, which it clears.
  void Advance(ThreadStep* step);

  // From the last Advance up to NextTime().
  OperationIndex operation() const { return operation_; }  // kNotOne: none is open here
  Layer layer() const { return layer_; }

  // Meaningful once NextTime() is kOpenEnded.
  uint64_t scopes_open() const { return open_.size(); }
  uint64_t unbalanced() const { return unbalanced_; }

 private:
  struct Open {
    LabelId label{};
    uint64_t range = 0;
    bool is_range = false;
    OperationIndex operation = kNotOne;
    Layer layer = Layer::kUnset;
    bool is_call = false;
  };
  struct OpenCall {
    int64_t end_ns;
    bool sync;
  };

  void EndCalls(int64_t now_ns);
  void MoveWindow(int64_t now_ns);
  void ApplyEvents(int64_t now_ns, ThreadStep* step);
  void ApplyEvent(const ThreadEvent& event, ThreadStep* step);
  void ApplyReset(const std::vector<LabelId>& open, ThreadStep* step);
  void BeginCalls(int64_t now_ns, ThreadStep* step);
  void Push(LabelId label, uint64_t range, bool is_range, ThreadStep* step);
  bool CloseScope(LabelId label, ThreadStep* step);
  bool CloseRange(uint64_t range, ThreadStep* step);
  void Erase(size_t index, ThreadStep* step);
  void Refresh();

  ThreadTimelineInput in_;
  size_t next_event_ = 0;
  size_t next_reset_ = 0;
  size_t next_foreign_ = 0;
  size_t next_call_ = 0;
  size_t next_window_ = 0;
  bool in_window_ = false;
  int64_t calls_end_ns_ = kOpenEnded;  // the first end of an open call
  std::vector<Open> open_;
  std::vector<OpenCall> open_calls_;
  uint64_t unbalanced_ = 0;
  OperationIndex operation_ = kNotOne;
  Layer layer_ = Layer::kUnset;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_THREAD_TIMELINE_H_
