// SPDX-License-Identifier: Apache-2.0
//
// Matches begins and ends. One object, one thread.
#include "analysis/trace/scope_builder.h"

#include <algorithm>

namespace gpubound {

const char* CutOf(const Scope& scope) {
  if (scope.begin_cut) return scope.end_cut ? "both" : "begin";
  return scope.end_cut ? "end" : nullptr;
}

void ScopeBuilder::Add(const ThreadEvent& event) {
  if (!ending_.empty() && event.time_ns > ending_.back().end_ns) Settle();
  switch (event.kind) {
    case SlotKind::kBegin:
      open_.push_back({event.time_ns, 0, begins_++, event.label,
                       static_cast<uint32_t>(open_.size()), false, false, false});
      break;
    case SlotKind::kEnd:
      // The innermost with this label, wherever it lies.
      for (size_t i = open_.size(); i-- > 0;) {
        if (open_[i].label != event.label) continue;
        Close(i, event.time_ns, false);
        break;
      }
      break;
    case SlotKind::kRangeStart:
      places_[event.payload].push_back(begins_);
      ranges_[begins_] = {event.payload,
                          {event.time_ns, 0, begins_, event.label,
                           static_cast<uint32_t>(open_.size()), true, false, false}};
      ++begins_;
      break;
    case SlotKind::kRangeEnd:
      EndRange(event);
      break;
    default:
      break;
  }
}

// The latest of that id.
void ScopeBuilder::EndRange(const ThreadEvent& event) {
  const auto found = places_.find(event.payload);
  if (found == places_.end()) return;
  const auto range = ranges_.find(found->second.back());
  Scope scope = range->second.scope;
  scope.end_ns = event.time_ns;
  scope.end_cut = false;
  ending_.push_back(scope);
  ranges_.erase(range);
  found->second.pop_back();
  if (found->second.empty()) places_.erase(found);
}

std::vector<OpenRange> ScopeBuilder::TakeOpenRanges() {
  std::vector<OpenRange> taken;
  for (const auto& [place, range] : ranges_) taken.push_back(range);
  ranges_.clear();
  places_.clear();
  return taken;
}

void ScopeBuilder::Resync(int64_t known_until_ns, int64_t now_ns, std::span<const LabelId> open) {
  if (!ending_.empty() && known_until_ns > ending_.back().end_ns) Settle();
  while (!open_.empty()) Close(open_.size() - 1, known_until_ns, true);
  CutRanges(known_until_ns);
  for (const LabelId label : open) {
    const auto depth = static_cast<uint32_t>(open_.size());
    open_.push_back({now_ns, 0, begins_++, label, depth, false, true, false});
  }
}

void ScopeBuilder::CutRanges(int64_t known_until_ns) {
  for (auto& [place, range] : ranges_) {
    if (range.scope.end_cut) continue;
    range.scope.end_ns = known_until_ns;
    range.scope.end_cut = true;
  }
}

void ScopeBuilder::Finish(int64_t end_ns) {
  while (!open_.empty()) {
    Close(open_.size() - 1, std::max(end_ns, open_.back().begin_ns), true);
  }
  Settle();
}

void ScopeBuilder::Drop() {
  open_.clear();
  ranges_.clear();
  places_.clear();
  Settle();
}

bool ScopeBuilder::Pop(Scope* scope) {
  if (ended_.empty()) return false;
  *scope = ended_.front();
  ended_.pop_front();
  return true;
}

bool ScopeBuilder::HasOpenSince(int64_t begin_ns) const {
  return std::any_of(open_.begin(), open_.end(),
                     [begin_ns](const Scope& scope) { return scope.begin_ns >= begin_ns; }) ||
         (!ranges_.empty() && ranges_.rbegin()->second.scope.begin_ns >= begin_ns);
}

void ScopeBuilder::Close(size_t index, int64_t now_ns, bool cut) {
  Scope scope = open_[index];
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
  scope.end_ns = now_ns;
  scope.end_cut = cut;
  ending_.push_back(scope);
}

void ScopeBuilder::Settle() {
  std::sort(ending_.begin(), ending_.end(),
            [](const Scope& a, const Scope& b) { return a.place < b.place; });
  ended_.insert(ended_.end(), ending_.begin(), ending_.end());
  ending_.clear();
}

}  // namespace gpubound
