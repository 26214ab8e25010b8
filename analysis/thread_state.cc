// SPDX-License-Identifier: Apache-2.0
//
// The state machine. One object, one caller.
#include "analysis/thread_state.h"

namespace gpubound {

ThreadState::ThreadState(const LabelRoles* roles, Layer base) : roles_(roles), open_(1) {
  open_.front().layer = base;
  Refresh();
}

bool ThreadState::Apply(const ThreadEvent& event, ThreadStep* step) {
  switch (event.kind) {
    case SlotKind::kBegin:
      Push(event.label, false, 0, step);
      return true;
    case SlotKind::kEnd:
      if (!CloseScope(event.label, step)) ++unbalanced_;
      return true;
    case SlotKind::kRangeStart:
      Push(event.label, true, event.payload, step);
      return true;
    case SlotKind::kRangeEnd:
      return CloseRange(event.payload, step);
    case SlotKind::kPhase:
    case SlotKind::kStep:
    case SlotKind::kCounter:
    case SlotKind::kMark:
    case SlotKind::kAdopt:  // a begin follows
    case SlotKind::kHandOver:
    case SlotKind::kPause:
    case SlotKind::kResume:
    case SlotKind::kUnbalanced:
      break;
  }
  return true;
}

void ThreadState::Resync(std::span<const LabelId> open, ThreadStep* step) {
  // What is open on both sides of the gap is taken to have stayed open: closing and reopening it
  // would count scopes that nobody opened.
  size_t common = 0;
  while (common < open.size() && common + 1 < open_.size() &&
         open_[common + 1].label == open[common]) {
    ++common;
  }
  while (open_.size() > common + 1) Erase(open_.size() - 1, step);
  for (size_t i = common; i < open.size(); ++i) Push(open[i], false, 0, step);
}

void ThreadState::BeginCall(const ApiCall& call, ThreadStep* step) {
  const LabelRole& role = roles_->Of(call.label);
  const Layer from = layer_;
  if (role.capture != CaptureEdge::kNone) capturing_ = role.capture == CaptureEdge::kBegins;
  if (role.call_is_scope) return Refresh();
  const bool sync = role.api_class == ApiClass::kSync;
  open_calls_.push_back({call.end_ns, sync, role.cause});
  sync_calls_ += sync ? 1 : 0;
  Refresh();
  if (layer_ > from) step->transitions.push_back({operation_, from, layer_});
}

void ThreadState::EndCalls(int64_t now_ns) {
  const size_t before = open_calls_.size();
  std::erase_if(open_calls_, [this, now_ns](const OpenCall& call) {
    const bool ends = call.end_ns <= now_ns;
    if (ends && call.sync) --sync_calls_;
    return ends;
  });
  if (open_calls_.size() != before) Refresh();
}

void ThreadState::Push(LabelId label, bool is_range, uint64_t range, ThreadStep* step) {
  const LabelRole& role = roles_->Of(label);
  const Layer from = layer_;
  Open& open = open_.emplace_back();
  open.label = label;
  open.is_range = is_range;
  open.range = range;
  Derive(open_.size() - 1);
  if (role.operation != kNotOne) step->opened.push_back(role.operation);
  Refresh();
  if (role.layer != Layer::kUnset && layer_ > from) {
    step->transitions.push_back({operation_, from, layer_});
  }
}

void ThreadState::Derive(size_t index) {
  const Open& beneath = open_[index - 1];
  Open& open = open_[index];
  const LabelRole& role = roles_->Of(open.label);
  const bool is_operation = role.operation != kNotOne;
  open.operation = is_operation ? role.operation : beneath.operation;
  const bool is_layer = role.layer != Layer::kUnset;
  open.layer = is_layer ? role.layer : beneath.layer;
  open.layer_is_call = is_layer ? role.call_is_scope : beneath.layer_is_call;
  open.peer = is_layer ? role.peer : beneath.peer;
  // An operation speaks for itself: what encloses it does not explain its time.
  open.named_cause =
      role.cause != IdleCause::kUnknown || is_operation ? role.cause : beneath.named_cause;
}

bool ThreadState::CloseScope(LabelId label, ThreadStep* step) {
  for (size_t i = open_.size(); i-- > 1;) {
    if (open_[i].is_range || open_[i].label != label) continue;
    Erase(i, step);
    return true;
  }
  return false;
}

bool ThreadState::CloseRange(uint64_t range, ThreadStep* step) {
  for (size_t i = open_.size(); i-- > 1;) {
    if (!open_[i].is_range || open_[i].range != range) continue;
    Erase(i, step);
    return true;
  }
  return false;
}

void ThreadState::Erase(size_t index, ThreadStep* step) {
  const OperationIndex operation = roles_->Of(open_[index].label).operation;
  if (operation != kNotOne) step->closed.push_back(operation);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
  for (; index < open_.size(); ++index) Derive(index);
  Refresh();
}

void ThreadState::Refresh() {
  operation_ = Top().operation;
  layer_ = Top().layer;
  if (Top().layer_is_call && wait_windows_ != 0) layer_ = Layer::kCudaSync;
  if (!open_calls_.empty()) {
    layer_ = sync_calls_ != 0 || wait_windows_ != 0 ? Layer::kCudaSync : Layer::kCudaApi;
  }
  cause_ = CauseNow();
}

IdleCause ThreadState::CauseNow() const {
  const IdleCause named = Top().named_cause;
  if (named == IdleCause::kCheckpoint || named == IdleCause::kCompile) return named;
  if (compile_windows_ != 0 || capturing_) return IdleCause::kCompile;
  if (!open_calls_.empty() || Top().layer_is_call) {
    const IdleCause call = open_calls_.empty() ? named : open_calls_.back().cause;
    return call == IdleCause::kLaunch && layer_ == Layer::kCudaSync ? IdleCause::kSync : call;
  }
  if (named == IdleCause::kSimulation || layer_ == Layer::kSimulator) return IdleCause::kSimulation;
  if (layer_ == Layer::kWait) return IdleCause::kWaiting;
  return open_.size() > 1 ? IdleCause::kLaunch : IdleCause::kUnknown;
}

}  // namespace gpubound
