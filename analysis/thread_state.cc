// SPDX-License-Identifier: Apache-2.0
//
// The state machine. One object, one caller.
#include "analysis/thread_state.h"

#include <algorithm>

namespace gpubound {
namespace {

IdleCause CauseInCall(IdleCause call, Layer layer) {
  return call == IdleCause::kLaunch && layer == Layer::kCudaSync ? IdleCause::kSync : call;
}

// Under an open scope and outside calls.
IdleCause CauseInScope(IdleCause named, Layer layer) {
  if (SaysAll(named)) return named;
  if (named == IdleCause::kSimulation || layer == Layer::kSimulator) return IdleCause::kSimulation;
  if (layer == Layer::kCudaSync) return IdleCause::kSync;
  return layer == Layer::kWait ? IdleCause::kWaiting : IdleCause::kLaunch;
}

}  // namespace

ThreadState::ThreadState(const LabelRoles* roles, Layer base) : roles_(roles), open_(1) {
  open_.front().layer = base;
  open_.front().doing = Doing(kNotOne, base, IdleCause::kUnknown, kNotOne);
  Refresh();
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

// What scopes mean follows from their labels and those beneath them.
void ThreadState::Visit(StateArchive& archive) {
  uint64_t scopes = scopes_open();
  archive.All(scopes);
  ThreadStep counted;  // when they were opened
  for (uint64_t i = 0; i < scopes && !archive.failed(); ++i) {
    Open scope;
    if (!archive.reads()) scope = open_[i + 1];
    archive.All(scope.label, scope.is_scope, scope.range);
    if (archive.reads()) Push(scope.label, !scope.is_scope, scope.range, &counted);
  }
  archive.All(open_calls_, wait_windows_, compile_windows_, capturing_, unbalanced_);
  if (!archive.reads()) return;
  sync_calls_ = 0;
  next_call_end_ns_ = kOpenEnded;
  for (const OpenCall& call : open_calls_) {
    sync_calls_ += call.sync ? 1 : 0;
    next_call_end_ns_ = std::min(next_call_end_ns_, call.end_ns);
  }
  Refresh();
}

void ThreadState::BeginCall(LabelId label, int64_t end_ns, ThreadStep* step) {
  const LabelRole& role = roles_->Of(label);
  const Layer from = doing_.layer();
  if (role.capture != CaptureEdge::kNone) capturing_ = role.capture == CaptureEdge::kBegins;
  if (role.call_is_scope) return Refresh();
  const bool sync = role.api_class == ApiClass::kSync;
  open_calls_.push_back({end_ns, sync, role.cause});
  next_call_end_ns_ = std::min(next_call_end_ns_, end_ns);
  sync_calls_ += sync ? 1 : 0;
  RefreshSlowPath();
  if (doing_.layer() > from) step->transitions.push_back({operation(), from, doing_.layer()});
}

void ThreadState::EndCalls(int64_t now_ns) {
  int64_t next_ns = kOpenEnded;
  std::erase_if(open_calls_, [this, now_ns, &next_ns](const OpenCall& call) {
    const bool ends = call.end_ns <= now_ns;
    if (ends && call.sync) --sync_calls_;
    if (!ends) next_ns = std::min(next_ns, call.end_ns);
    return ends;
  });
  next_call_end_ns_ = next_ns;
  Refresh();
}

void ThreadState::Derive(const LabelRole& role, const Open& beneath, Open* open) {
  const bool is_operation = role.operation != kNotOne;
  open->opens = role.operation;
  open->operation = is_operation ? role.operation : beneath.operation;
  const bool is_layer = role.layer != Layer::kUnset;
  open->layer = is_layer ? role.layer : beneath.layer;
  open->layer_is_call = is_layer ? role.call_is_scope : beneath.layer_is_call;
  open->peer = is_layer ? role.peer : beneath.peer;
  // An operation speaks for itself: what encloses it does not explain its time.
  open->named_cause =
      role.cause != IdleCause::kUnknown || is_operation ? role.cause : beneath.named_cause;
  const IdleCause cause = open->layer_is_call ? CauseInCall(open->named_cause, open->layer)
                                              : CauseInScope(open->named_cause, open->layer);
  open->doing = Doing(open->operation, open->layer, cause,
                      open->layer == Layer::kWait ? open->peer : kNotOne);
}

void ThreadState::EndSlowPath(LabelId label, ThreadStep* step) {
  for (size_t i = open_.size(); i-- > 1;) {
    if (open_[i].is_scope && open_[i].label == label) return Erase(i, step);
  }
  ++unbalanced_;
}

bool ThreadState::CloseRange(uint64_t range, ThreadStep* step) {
  for (size_t i = open_.size(); i-- > 1;) {
    if (open_[i].is_scope || open_[i].range != range) continue;
    Erase(i, step);
    return true;
  }
  return false;
}

void ThreadState::Erase(size_t index, ThreadStep* step) {
  if (open_[index].opens != kNotOne) step->closed.push_back(open_[index].opens);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
  for (; index < open_.size(); ++index) {
    Derive(roles_->Of(open_[index].label), open_[index - 1], &open_[index]);
  }
  Refresh();
}

void ThreadState::RefreshSlowPath() {
  Layer layer = Top().layer;
  if (Top().layer_is_call && wait_windows_ != 0) layer = Layer::kCudaSync;
  if (!open_calls_.empty()) {
    layer = sync_calls_ != 0 || wait_windows_ != 0 ? Layer::kCudaSync : Layer::kCudaApi;
  }
  doing_ =
      Doing(Top().operation, layer, CauseIn(layer), layer == Layer::kWait ? Top().peer : kNotOne);
}

IdleCause ThreadState::CauseIn(Layer layer) const {
  const IdleCause named = Top().named_cause;
  if (SaysAll(named)) return named;
  if (compile_windows_ != 0 || capturing_) return IdleCause::kCompile;
  if (!open_calls_.empty()) return CauseInCall(open_calls_.back().cause, layer);
  if (Top().layer_is_call) return CauseInCall(named, layer);
  return open_.size() > 1 ? CauseInScope(named, layer) : IdleCause::kUnknown;
}

}  // namespace gpubound
