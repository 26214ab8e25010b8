// SPDX-License-Identifier: Apache-2.0
//
// Keeps, by name, the collectives that run now.
#include "analysis/processes/collective_match.h"

#include <algorithm>
#include <utility>

namespace gpubound {

bool MayBeSeveral(const Collective& collective) {
  const auto free = std::count_if(
      collective.begin(), collective.end(),
      [](const CollectiveMember& member) { return member.group == Communicators::kAny; });
  return collective.size() >= 4 && free >= 2;
}

void CollectiveMatch::Add(const std::string& name, const CollectiveMember& member) {
  std::vector<Open>& running = open_[name];
  std::erase_if(running, [&](Open& open) {
    const bool over = open.first_end_ns <= member.time.begin_ns;
    if (over) Close(&open);
    return over;
  });
  for (Open& open : running) {
    constexpr size_t kAny = Communicators::kAny;
    if (open.group != member.group && open.group != kAny && member.group != kAny) continue;
    if (!open.ranks.Add(member.rank)) continue;
    open.members.push_back(member);
    if (open.group == kAny) open.group = member.group;
    open.first_end_ns = std::min(open.first_end_ns, member.time.end_ns);
    return;
  }
  Open& begun = running.emplace_back();
  begun.members.push_back(member);
  begun.ranks.Add(member.rank);
  begun.first_end_ns = member.time.end_ns;
  begun.group = member.group;
}

std::vector<Collective> CollectiveMatch::Take() { return std::exchange(closed_, {}); }

void CollectiveMatch::Finish() {
  for (auto& [name, running] : open_) {
    for (Open& open : running) Close(&open);
  }
  open_.clear();
}

void CollectiveMatch::Close(Open* open) { closed_.push_back(std::move(open->members)); }

}  // namespace gpubound
