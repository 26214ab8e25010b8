// SPDX-License-Identifier: Apache-2.0
//
// The state machine. One object, one caller.
#include "analysis/thread_state.h"

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

// So many scopes are looked at one by one.
constexpr size_t kNear = 32;

}  // namespace

ThreadState::ThreadState(const LabelRoles* roles, Layer base) : roles_(roles) {
  Open beneath;
  beneath.layer = base;
  beneath.doing = Doing(kNotOne, base, IdleCause::kUnknown, kNotOne);
  open_.push_back(beneath);
  Refresh();
}

void ThreadState::Resync(std::span<const LabelId> open, ThreadStep* step) {
  // What is open on both sides of the gap is taken to have stayed open: closing and reopening it
  // would count scopes that nobody opened.
  Compact();
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
  Compact();
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

void ThreadState::BeginCallSlowPath(const LabelRole& role, int64_t end_ns, ThreadStep* step) {
  const Layer from = doing_.layer();
  if (role.capture != CaptureEdge::kNone) capturing_ = role.capture == CaptureEdge::kBegins;
  if (role.call_is_scope) return Refresh();
  AddCall(role, end_ns);
  RefreshSlowPath();
  step->Enter(operation(), from, doing_.layer());
}

void ThreadState::EndCallsSlowPath(int64_t now_ns) {
  int64_t next_ns = kOpenEnded;
  open_calls_.EraseIf([this, now_ns, &next_ns](const OpenCall& call) {
    const bool ends = call.end_ns <= now_ns;
    if (ends && call.sync) --sync_calls_;
    if (!ends) next_ns = std::min(next_ns, call.end_ns);
    return ends;
  });
  next_call_end_ns_ = next_ns;
  Refresh();
}

// The nearest one at |index| or beneath that has the part and has not ended. Shortens the way there
// for the next time.
uint32_t ThreadState::SourceOf(size_t index, uint32_t Open::*source) {
  uint32_t found = open_[index].*source;
  while (open_[found].ended) found = open_[found - 1].*source;
  while (open_[index].*source != found) index = std::exchange(open_[index].*source, found) - 1;
  return found;
}

void ThreadState::DeriveTop() {
  const size_t top = open_.size() - 1;
  if (top == 0) return;
  Open& open = open_.back();
  const Open& layer = open_[SourceOf(top, &Open::layer_from)];
  open.operation = open_[SourceOf(top, &Open::operation_from)].operation;
  open.layer = layer.layer;
  open.layer_is_call = layer.layer_is_call;
  open.peer = layer.peer;
  open.named_cause = open_[SourceOf(top, &Open::cause_from)].named_cause;
  DeriveDoing(&open);
}

void ThreadState::DropEnded() {
  for (; open_.back().ended; open_.pop_back()) --ended_;
  DeriveTop();
}

void ThreadState::Compact() {
  if (ended_ == 0) return;
  open_.EraseIf([](const Open& open) { return open.ended; });
  ended_ = 0;
  ranges_.clear();
  for (uint32_t place = 1; place < open_.size(); ++place) {
    Open& open = open_[place];
    Derive(roles_->Of(open.label), open_[place - 1], place, &open);
    if (!open.is_scope) ranges_.emplace(open.range, place);
  }
  if (scopes_mapped_) MapScopes();
}

void ThreadState::NoteRange(uint64_t range) { ranges_.emplace(range, open_.size() - 1); }

void ThreadState::EndSlowPath(LabelId label, ThreadStep* step) {
  const size_t far = open_.size() > kNear ? open_.size() - kNear : 1;
  for (size_t i = open_.size(); i-- > far;) {
    if (open_[i].is_scope && open_[i].label == label && !open_[i].ended) return Erase(i, step);
  }
  if (far > 1) {
    if (!scopes_mapped_) MapScopes();
    const auto deep = innermost_.find(label);
    if (deep != innermost_.end()) return Erase(deep->second, step);
  }
  ++unbalanced_;
}

void ThreadState::MapScope(uint32_t place) {
  uint32_t& innermost = innermost_[open_[place].label];
  open_[place].same_beneath = innermost;
  innermost = place;
}

// It is the innermost with its label.
void ThreadState::UnmapScope(const Open& scope) {
  if (scope.same_beneath == 0) {
    innermost_.erase(scope.label);
  } else {
    innermost_[scope.label] = scope.same_beneath;
  }
  if (2 * open_.size() <= kNear) MapScopes();
}

// All that are open, or none where a look at each is as fast.
void ThreadState::MapScopes() {
  innermost_ = {};
  scopes_mapped_ = open_.size() > kNear;
  for (uint32_t place = 1; scopes_mapped_ && place < open_.size(); ++place) {
    if (open_[place].is_scope && !open_[place].ended) MapScope(place);
  }
}

bool ThreadState::CloseRange(uint64_t range, ThreadStep* step) {
  const auto [first, last] = ranges_.equal_range(range);
  if (first == last) return false;
  // Of several by one number the innermost.
  const auto innermost = std::max_element(
      first, last, [](const auto& a, const auto& b) { return a.second < b.second; });
  Erase(innermost->second, step);
  return true;
}

void ThreadState::ForgetRange(size_t index) {
  const auto [first, last] = ranges_.equal_range(open_[index].range);
  ranges_.erase(
      std::find_if(first, last, [index](const auto& range) { return range.second == index; }));
}

void ThreadState::Erase(size_t index, ThreadStep* step) {
  Open& erased = open_[index];
  step->Close(erased.opens);
  if (!erased.is_scope) ForgetRange(index);
  if (erased.is_scope && scopes_mapped_) UnmapScope(erased);
  erased.ended = true;
  ++ended_;
  DropEnded();
  if (2 * ended_ > open_.size()) Compact();
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
  const IdleCause named = NamedCause(Top());
  if (SaysAll(named)) return named;
  if (compile_windows_ != 0 || capturing_) return IdleCause::kCompile;
  if (!open_calls_.empty()) return CauseInCall(open_calls_.back().cause, layer);
  if (Top().layer_is_call) return CauseInCall(named, layer);
  return open_.size() > 1 ? CauseInScope(named, layer) : IdleCause::kUnknown;
}

}  // namespace gpubound
