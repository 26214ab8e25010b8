// SPDX-License-Identifier: Apache-2.0
//
// Keeps waits and hands heritage out.
#include "analysis/processes/known_waits.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "analysis/processes/wait_merge.h"
#include "analysis/trace/row_names.h"

namespace gpubound {

Heritage InheritedBy(const std::vector<WaitList>& lists, const Interval& span) {
  WaitMerge merge;
  for (const WaitList& list : lists) merge.Add(list.waits->times);
  Bequest bequest;
  // (minus begin, process, list): the first one owns.
  std::set<std::tuple<int64_t, size_t, size_t>> open;
  std::vector<const TimeUnder*> waits(lists.size());  // those that are open, by list
  const TimeUnder* owner = nullptr;
  const std::string* operation = nullptr;  // of |owner|
  int64_t since_ns = 0;
  while (!merge.done()) {
    const int64_t now_ns = merge.next_ns();
    while (!merge.done() && merge.next_ns() == now_ns) {
      const auto [list, wait, ends] = merge.Next();
      if (!IsLeft(lists[list].OperationOf(*wait))) continue;
      const std::tuple key{-wait->time.begin_ns, lists[list].waiter, list};
      if (ends) {
        open.erase(key);
      } else {
        open.insert(key);
        waits[list] = wait;
      }
    }
    const TimeUnder* next = open.empty() ? nullptr : waits[std::get<2>(*open.begin())];
    if (next == owner) continue;
    if (owner != nullptr) bequest.Add(Interval{since_ns, now_ns}.ClippedTo(span), *operation);
    owner = next;
    since_ns = now_ns;
    if (next != nullptr) operation = &lists[std::get<2>(*open.begin())].OperationOf(*next);
  }
  return bequest.Take();
}

KnownWaits::KnownWaits(const Run& run, size_t root, const std::vector<ProcessNature>& natures,
                       bool explained)
    : run_(run),
      root_(root),
      explained_(explained),
      waits_(run.processes.size()),
      inherits_(run.processes.size()) {
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessIdentity& identity = run.processes[p].identity;
    if (!natures[p].opens_operations) heirs_[{identity.host, identity.pid}];
  }
}

std::vector<WaitList> KnownWaits::ListsFor(size_t process) const {
  const ProcessIdentity& identity = run_.processes[process].identity;
  std::vector<WaitList> lists;
  const auto heir = heirs_.find({identity.host, identity.pid});
  if (heir == heirs_.end()) return lists;
  for (const Place& place : heir->second) {
    const ProcessWaits& waits = waits_[place.process];
    lists.push_back({place.process, &waits.operations, &waits.groups[place.group]});
  }
  return lists;
}

Heritage KnownWaits::LeftTo(size_t process) const {
  if (const auto left = left_.find(process); left != left_.end()) return left->second;
  const ProcessTrace& heir = run_.processes[process];
  return InheritedBy(ListsFor(process), {heir.span_begin_ns, heir.span_end_ns});
}

bool KnownWaits::MayLeave(const std::string& host, const GroupWaits& group) const {
  return std::any_of(group.pids.begin(), group.pids.end(), [&](int64_t pid) {
    return heirs_.contains({host, pid});
  });
}

void KnownWaits::Tell(size_t process, bool inherits, ProcessWaits waits) {
  const std::string& host = run_.processes[process].identity.host;
  inherits_[process] = inherits;
  std::erase_if(waits.groups, [&](GroupWaits& group) {
    if (MayLeave(host, group)) return false;
    if (!explained_ || inherits) return true;
    if (process == root_) return false;
    std::erase_if(group.times, [&waits](const TimeUnder& wait) {
      return waits.operations[wait.operation] == kNoOperation;
    });
    group.times.shrink_to_fit();
    return group.times.empty();
  });
  for (size_t g = 0; g < waits.groups.size(); ++g) {
    for (const int64_t pid : waits.groups[g].pids) {
      const auto heir = heirs_.find({host, pid});
      if (heir != heirs_.end()) heir->second.push_back({process, g});
    }
  }
  waits_[process] = std::move(waits);
}

}  // namespace gpubound
