// SPDX-License-Identifier: Apache-2.0
//
// Merges the threads of a process into one CPU side. One object, one caller.
#include "analysis/process_timeline.h"

#include <algorithm>
#include <functional>

namespace gpubound {
namespace {

constexpr size_t At(Layer layer) { return static_cast<size_t>(layer); }

// Layers that a working thread can refine the reporting thread's to.
constexpr bool Refines(Layer layer) { return layer >= Layer::kWait; }

Layer Deepest(const std::array<uint32_t, kLayerCount>& counts, Layer at_least) {
  for (size_t layer = kLayerCount; layer-- > At(at_least) + 1;) {
    if (counts[layer] != 0 && Refines(static_cast<Layer>(layer))) return static_cast<Layer>(layer);
  }
  return at_least;
}

}  // namespace

ProcessTimeline::ProcessTimeline(const ProcessTrace& process, const LabelRoles& roles,
                                 const Correlation& correlation, const ThreadScan& scan)
    : process_(process),
      scan_(scan),
      base_layer_(process.python ? Layer::kPython : Layer::kNative),
      contributions_(process.threads.size()),
      others_(roles.operations().size()),
      counts_(roles.operations().size()),
      open_count_(roles.operations().size()),
      open_since_ns_(roles.operations().size()) {
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    operation_of_call_.emplace_back(process.threads[t].calls.size(), kNoOperationIndex);
    ThreadTimelineInput input;
    input.thread = &process.threads[t];
    input.roles = &roles;
    input.sync_windows = &correlation.sync_windows[t];
    input.foreign_ends = scan.foreign_ends[t];
    // Of a thread that only makes calls nothing is known in between; it may well be asleep.
    input.base_layer = Adopts(t) ? Layer::kUnset : base_layer_;
    threads_.emplace_back(std::move(input));
    Contribute(t, +1);
    if (threads_[t].NextTime() != kOpenEnded) queue_.emplace_back(threads_[t].NextTime(), t);
  }
  std::make_heap(queue_.begin(), queue_.end(), std::greater<>());
}

bool ProcessTimeline::Next(CpuSegment* segment) {
  if (!started_) {
    started_ = true;
    while (NextTime() <= process_.span_begin_ns) AdvanceBatch(NextTime());
    last_ = StateAt(process_.span_begin_ns);
    *segment = last_;
    return true;
  }
  while (NextTime() != kOpenEnded) {
    const int64_t now_ns = NextTime();
    AdvanceBatch(now_ns);
    const CpuSegment state = StateAt(now_ns);
    if (now_ns >= process_.span_end_ns || state.SameState(last_)) continue;
    last_ = state;
    *segment = state;
    return true;
  }
  if (!finished_) Finish();
  return false;
}

int64_t ProcessTimeline::NextTime() const {
  return queue_.empty() ? kOpenEnded : queue_.front().first;
}

void ProcessTimeline::AdvanceBatch(int64_t now_ns) {
  begun_.clear();
  pending_.clear();
  while (NextTime() == now_ns) {
    std::pop_heap(queue_.begin(), queue_.end(), std::greater<>());
    const uint32_t thread = queue_.back().second;
    queue_.pop_back();
    AdvanceThread(thread, now_ns);
    const int64_t next_ns = threads_[thread].NextTime();
    if (next_ns == kOpenEnded) continue;
    queue_.emplace_back(next_ns, thread);
    std::push_heap(queue_.begin(), queue_.end(), std::greater<>());
  }
  ResolveBatch();
}

void ProcessTimeline::AdvanceThread(uint32_t thread, int64_t now_ns) {
  Contribute(thread, -1);
  threads_[thread].Advance(&step_);
  Contribute(thread, +1);
  if (!step_.phases.empty()) phase_ = step_.phases.back();
  if (IsReporting(thread)) NoteReportingScopes(now_ns);
  for (const uint32_t call : step_.calls_begun) {
    begun_.push_back({{thread, call}, threads_[thread].operation()});
  }
  for (const ThreadStep::Transition& transition : step_.transitions) {
    pending_.push_back({thread, transition});
  }
}

void ProcessTimeline::Contribute(uint32_t thread, int sign) {
  if (IsReporting(thread)) return;
  Contribution& share = contributions_[thread];
  if (sign > 0) {
    const OperationIndex own = threads_[thread].operation();
    share = {own == kNotOne ? kNoOperationIndex : own, threads_[thread].layer()};
  }
  LayerCounts& counts = Adopts(thread) ? adopters_ : others_[share.operation];
  counts[At(share.layer)] += static_cast<uint32_t>(sign);
}

void ProcessTimeline::NoteReportingScopes(int64_t now_ns) {
  // A scope that closed and reopened at one instant was never away, and one that opened and closed
  // at one instant took no time; so all of an instant's openings come before its closings.
  for (const OperationIndex operation : step_.opened) {
    ++counts_[operation].opened;
    if (open_count_[operation]++ == 0) open_since_ns_[operation] = now_ns;
  }
  for (const OperationIndex operation : step_.closed) {
    if (--open_count_[operation] != 0) continue;
    counts_[operation].inclusive_wall_ns +=
        ClippedToSpan(now_ns) - ClippedToSpan(open_since_ns_[operation]);
  }
}

void ProcessTimeline::ResolveBatch() {
  const bool adoption = ReportingOutsidePython();
  for (const BegunCall& begun : begun_) {
    OperationIndex operation = begun.own_operation;
    if (operation == kNotOne) {
      const bool adopted = adoption && Adopts(begun.call.thread);
      operation = adopted ? ReportingOperation() : kNoOperationIndex;
    }
    operation_of_call_[begun.call.thread][begun.call.call] = operation;
  }
  for (const PendingTransition& pending : pending_) {
    const bool adopted = adoption && Adopts(pending.thread);
    OperationIndex operation = pending.transition.operation;
    Layer from = pending.transition.from;
    if (operation == kNotOne) operation = adopted ? ReportingOperation() : kNoOperationIndex;
    if (from == Layer::kUnset) from = adopted ? ReportingLayer() : base_layer_;
    if (pending.transition.to <= from) continue;
    ++counts_[operation].transitions[At(from)][At(pending.transition.to)];
  }
}

CpuSegment ProcessTimeline::StateAt(int64_t begin_ns) const {
  CpuSegment state{begin_ns, phase_, ReportingOperation(), ReportingLayer()};
  if (!ReportingOutsidePython()) return state;
  state.layer = Deepest(adopters_, state.layer);
  state.layer = Deepest(others_[state.operation], state.layer);
  return state;
}

bool ProcessTimeline::ReportingOutsidePython() const { return ReportingLayer() != Layer::kPython; }

OperationIndex ProcessTimeline::ReportingOperation() const {
  if (scan_.reporting == kNotOne) return kNoOperationIndex;
  const OperationIndex own = threads_[scan_.reporting].operation();
  return own == kNotOne ? kNoOperationIndex : own;
}

Layer ProcessTimeline::ReportingLayer() const {
  return scan_.reporting == kNotOne ? base_layer_ : threads_[scan_.reporting].layer();
}

int64_t ProcessTimeline::ClippedToSpan(int64_t time_ns) const {
  const int64_t end_ns = std::max(process_.span_begin_ns, process_.span_end_ns);
  return std::clamp(time_ns, process_.span_begin_ns, end_ns);
}

void ProcessTimeline::Finish() {
  finished_ = true;
  for (size_t operation = 0; operation < open_count_.size(); ++operation) {
    if (open_count_[operation] == 0) continue;
    counts_[operation].inclusive_wall_ns +=
        ClippedToSpan(process_.span_end_ns) - ClippedToSpan(open_since_ns_[operation]);
  }
  for (const ThreadTimeline& thread : threads_) {
    scopes_open_ += thread.scopes_open();
    unbalanced_ += thread.unbalanced();
  }
}

}  // namespace gpubound
