// SPDX-License-Identifier: Apache-2.0
//
// The state machine. One object, one caller.
#include "analysis/timeline/thread_state.h"

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

// So many scopes are looked at one by one.
constexpr size_t kFewScopes = 32;

}  // namespace

ThreadState::ThreadState(const StateRules* rules, Layer base) : rules_(rules) {
  Open beneath;
  beneath.says.doing = Doing(kNotOne, base, IdleCause::kUnknown, kNotOne);
  beneath.says.origin = CauseOrigin(IdleCause::kUnknown, true, false);
  open_.push_back(beneath);
  Refresh();
}

void ThreadState::Resync(std::span<const LabelId> open, ThreadTally* tally) {
  // What is open on both sides of the gap is taken to have stayed open: closing and reopening it
  // would count scopes that nobody opened.
  Compact();
  size_t common = 0;
  while (common < open.size() && common + 1 < open_.size() &&
         open_[common + 1].label == open[common]) {
    ++common;
  }
  while (open_.size() > common + 1) Erase(open_.size() - 1, tally);
  for (size_t i = common; i < open.size(); ++i) Push(open[i], false, 0, tally);
}

// What scopes mean follows from their labels and those beneath them.
void ThreadState::Visit(StateArchive& archive) {
  Compact();
  uint64_t scopes = scopes_open();
  archive.All(scopes);
  for (uint64_t i = 0; i < scopes && !archive.failed(); ++i) {
    Open scope;
    if (!archive.reads()) scope = open_[i + 1];
    archive.All(scope.label, scope.is_scope, scope.range);
    if (!archive.reads()) continue;
    // Counted when it was opened.
    Place(scope.label, rules_->Of(scope.label), !scope.is_scope, scope.range);
  }
  archive.All(open_calls_, wait_windows_, compile_windows_, capturing_, unbalanced_);
  if (!archive.reads()) return;
  sync_calls_ = 0;
  next_call_end_ns_ = kOpenEnded;
  for (const OpenCall& call : open_calls_) {
    sync_calls_ += call.sync ? 1 : 0;
    next_call_end_ns_ = std::min(next_call_end_ns_, call.end_ns);
  }
  SpecialTimeMayChange();
}

void ThreadState::BeginCallSlowPath(const StateRule& rule, int64_t end_ns, ThreadTally* tally) {
  const Layer from = doing_.layer();
  if (rule.capture() != CaptureEdge::kNone) {
    capturing_ = rule.capture() == CaptureEdge::kBegins;
    SpecialTimeMayChange();
  }
  if (rule.call_is_scope()) return;
  AddCall(rule, end_ns);
  RefreshSlowPath();
  tally->Enter(operation(), from, doing_.layer());
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

// Of all that are open.
void ThreadState::FindSources() {
  size_t place = open_.size();
  while (!open_[place - 1].knows_sources) --place;
  for (; place < open_.size(); ++place) {
    const Open& beneath = open_[place - 1];
    Open& open = open_[place];
    const StateRule& rule = rules_->Of(open.label);
    const auto own = static_cast<uint32_t>(place);
    open.layer_from = rule.has_layer() ? own : beneath.layer_from;
    open.operation_from = rule.has_operation() ? own : beneath.operation_from;
    open.cause_from = rule.has_cause() ? own : beneath.cause_from;
    open.knows_sources = true;
  }
}

void ThreadState::DeriveTop() {
  const size_t top = open_.size() - 1;
  if (top == 0) return;
  FindSources();
  const ScopesSay& layer = open_[SourceOf(top, &Open::layer_from)].says;
  const ScopesSay& operation = open_[SourceOf(top, &Open::operation_from)].says;
  const ScopesSay& cause = open_[SourceOf(top, &Open::cause_from)].says;
  Open& open = open_.back();
  const bool named_inside = open.cause_from >= open.operation_from;
  const CauseOrigin origin(cause.origin.named(), named_inside, layer.origin.layer_is_call());
  open.says = {Doing(operation.doing.operation(), layer.doing.layer(),
                     CauseUnderScopes(origin, layer.doing.layer()), layer.doing.peer()),
               origin};
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
    open.says = rules_->Of(open.label).Above(open_[place - 1].says);
    open.knows_sources = false;
    if (!open.is_scope) ranges_.emplace(open.range, place);
  }
  if (scopes_mapped_) MapScopes();
}

void ThreadState::NoteRange(uint64_t range) { ranges_.emplace(range, open_.size() - 1); }

void ThreadState::EndSlowPath(LabelId label, ThreadTally* tally) {
  const size_t far = open_.size() > kFewScopes ? open_.size() - kFewScopes : 1;
  for (size_t i = open_.size(); i-- > far;) {
    if (open_[i].is_scope && open_[i].label == label && !open_[i].ended) return Erase(i, tally);
  }
  if (far > 1) {
    if (!scopes_mapped_) MapScopes();
    const auto deep = innermost_.find(label);
    if (deep != innermost_.end()) return Erase(deep->second, tally);
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
  if (2 * open_.size() <= kFewScopes) MapScopes();
}

// All that are open, or none where a look at each is as fast.
void ThreadState::MapScopes() {
  innermost_ = {};
  scopes_mapped_ = open_.size() > kFewScopes;
  for (uint32_t place = 1; scopes_mapped_ && place < open_.size(); ++place) {
    if (open_[place].is_scope && !open_[place].ended) MapScope(place);
  }
}

bool ThreadState::CloseRange(uint64_t range, ThreadTally* tally) {
  const auto [first, last] = ranges_.equal_range(range);
  if (first == last) return false;
  // Of several by one number the innermost.
  const auto innermost = std::max_element(
      first, last, [](const auto& a, const auto& b) { return a.second < b.second; });
  Erase(innermost->second, tally);
  return true;
}

void ThreadState::ForgetRange(size_t index) {
  const auto [first, last] = ranges_.equal_range(open_[index].range);
  ranges_.erase(
      std::find_if(first, last, [index](const auto& range) { return range.second == index; }));
}

void ThreadState::Erase(size_t index, ThreadTally* tally) {
  Open& erased = open_[index];
  tally->Close(erased.own_operation());
  if (!erased.is_scope) ForgetRange(index);
  if (erased.is_scope && scopes_mapped_) UnmapScope(erased);
  erased.ended = true;
  ++ended_;
  DropEnded();
  if (2 * ended_ > open_.size()) Compact();
  Refresh();
}

void ThreadState::RefreshSlowPath() {
  const ScopesSay& scopes = Top().says;
  Layer layer = scopes.doing.layer();
  if (scopes.origin.layer_is_call() && wait_windows_ != 0) layer = Layer::kCudaSync;
  if (!open_calls_.empty()) {
    layer = sync_calls_ != 0 || wait_windows_ != 0 ? Layer::kCudaSync : Layer::kCudaApi;
  }
  doing_ = Doing(scopes.doing.operation(), layer, CauseIn(layer),
                 layer == Layer::kWait ? scopes.doing.peer() : kNotOne);
}

IdleCause ThreadState::CauseIn(Layer layer) const {
  const CauseOrigin origin = Top().says.origin;
  const IdleCause named = origin.NamedCause();
  if (SaysAll(named)) return named;
  if (compile_windows_ != 0 || capturing_) return IdleCause::kCompile;
  if (!open_calls_.empty()) return CauseInCall(open_calls_.back().cause, layer);
  return open_.size() > 1 ? origin.CauseIn(layer) : IdleCause::kUnknown;
}

}  // namespace gpubound
