// SPDX-License-Identifier: Apache-2.0
//
// Matches begins and ends. One object, one thread.
#include "analysis/scope_builder.h"

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
      ranges_.push_back({event.payload,
                         {event.time_ns, 0, begins_++, event.label,
                          static_cast<uint32_t>(open_.size()), true, false, false}});
      break;
    case SlotKind::kRangeEnd: {
      const auto found =
          std::find_if(ranges_.rbegin(), ranges_.rend(),
                       [&event](const OpenRange& range) { return range.id == event.payload; });
      if (found == ranges_.rend()) break;
      found->scope.end_ns = event.time_ns;
      found->scope.end_cut = false;
      ending_.push_back(found->scope);
      ranges_.erase(std::next(found).base());
      break;
    }
    default:
      break;
  }
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
  for (OpenRange& range : ranges_) {
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
         std::any_of(ranges_.begin(), ranges_.end(), [begin_ns](const OpenRange& range) {
           return range.scope.begin_ns >= begin_ns;
         });
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
