// SPDX-License-Identifier: Apache-2.0
//
// Follows, sweeps, and puts into rows. No state.
#include "analysis/attribution/roles.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/process_roles.h"
#include "analysis/attribution/role_states.h"
#include "analysis/attribution/role_sweep.h"

namespace gpubound {
namespace {

std::vector<Interval> Shifted(std::vector<Interval> times, int64_t offset_ns) {
  for (Interval& time : times) {
    time.begin_ns += offset_ns;
    time.end_ns += offset_ns;
  }
  return times;
}

RunUnknown OnOneClock(RunUnknown unknown, const ClockAlignment& clocks) {
  for (size_t p = 0; p < unknown.size(); ++p) {
    unknown[p].times = Shifted(std::move(unknown[p].times), clocks.offset_ns[p]);
    unknown[p].outside = Shifted(std::move(unknown[p].outside), clocks.offset_ns[p]);
  }
  return unknown;
}

// Of one role, the operations that a process was in while it had it: of one that it was in with
// several, the one with which it was most.
std::vector<std::string> OperationsOf(const RoleTimeline& timeline, ProcessRole role) {
  std::vector<std::string> names;
  for (const auto& [name, by_role] : timeline.operations) {
    const auto most =
        std::max_element(by_role.begin(), by_role.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most->first == role) names.push_back(name);
  }
  return names;
}

ReportRole RowOf(const Run& run, ProcessRole role, const std::vector<ProcessRoles>& roles,
                 const std::vector<RoleTimeline>& timelines, const RoleSweepResult& swept) {
  const auto index = static_cast<size_t>(role);
  ReportRole row;
  row.role = RoleName(role);
  for (const auto& [mask, ns] : swept.active_ns) {
    if ((mask >> index & 1) != 0) row.active_ns += ns;
  }
  const HeldTime& held = swept.held[index];
  row.held_ns = held.Held();
  row.busy_ns = held.busy_ns;
  row.idle_ns = held.Idle();
  row.unknown_ns = held.unknown_ns;
  for (size_t bubble = 0; bubble < kBubbles; ++bubble) {
    const int64_t ns = held.idle_ns[bubble];
    if (ns > 0) row.bubbles.push_back({BubbleName(static_cast<Bubble>(bubble)), ns});
  }
  std::stable_sort(row.bubbles.begin(), row.bubbles.end(),
                   [](const auto& a, const auto& b) { return a.ns > b.ns; });
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const RoleTime& time = swept.process[p][index];
    if (time.ns == 0) continue;
    const ProcessIdentity& identity = run.processes[p].identity;
    row.processes.push_back({identity.host, identity.pid, roles[p].inferred(), time.ns,
                             time.active_ns, p, OperationsOf(timelines[p], role)});
  }
  return row;
}

std::vector<ReportRoleOverlap> OverlapOf(const RoleSweepResult& swept) {
  std::vector<ReportRoleOverlap> rows;
  for (const auto& [mask, ns] : swept.active_ns) {
    ReportRoleOverlap& row = rows.emplace_back();
    row.ns = ns;
    for (size_t role = 1; role < kProcessRoles; ++role) {
      if ((mask >> role & 1) != 0) row.roles.emplace_back(kProcessRoleNames[role]);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return rows;
}

// The smallest of |sorted| that |percent| of them do not exceed.
int64_t Quantile(const std::vector<int64_t>& sorted, size_t percent) {
  constexpr size_t kAll = 100;
  const size_t place = (sorted.size() * percent + kAll - 1) / kAll;
  return sorted[std::max<size_t>(place, 1) - 1];
}

void AddTail(const RoleSweepResult& swept, ReportRoles* roles) {
  if (swept.rollouts.empty()) {
    roles->why_no_tail = "no rollout of two workers or more begins and ends in that time";
    return;
  }
  constexpr size_t kMedian = 50;
  constexpr size_t kP95 = 95;
  ReportTail& tail = roles->tail.emplace();
  std::vector<int64_t> lengths_ns;
  for (const RolloutTime& rollout : swept.rollouts) {
    lengths_ns.insert(lengths_ns.end(), rollout.lengths_ns.begin(), rollout.lengths_ns.end());
    tail.rollout_ns += rollout.time.length();
    tail.tail_ns += rollout.tail.length();
  }
  std::sort(lengths_ns.begin(), lengths_ns.end());
  tail.rollouts = swept.rollouts.size();
  tail.parts = lengths_ns.size();
  tail.median_ns = Quantile(lengths_ns, kMedian);
  tail.p95_ns = Quantile(lengths_ns, kP95);
  tail.max_ns = lengths_ns.back();
  tail.held_ns = swept.held_in_tails.Held();
  tail.busy_ns = swept.held_in_tails.busy_ns;
}

}  // namespace

std::optional<ReportRoles> RolesAtWork(const Run& run, const KnownWaits& waits,
                                       const RunActivity& activity, const RunUnknown& unknown,
                                       const ClockAlignment& clocks, const Interval& window,
                                       const BreakdownOptions& options, const Report& report) {
  const std::vector<ProcessRoles> of_process = RolesOf(run, report);
  if (window.empty() || CountRoles(of_process) < 2) return std::nullopt;
  const std::vector<RoleTimeline> timelines =
      FollowRoles(run, of_process, waits, clocks, window, options);
  const RoleSweepResult swept =
      SweepRoles(run, timelines, activity, clocks.offset_ns, OnOneClock(unknown, clocks), window);
  ReportRoles roles;
  roles.ns = window.length();
  roles.perfect_overlap_ns = swept.most_busy_ns;
  for (size_t role = 1; role < kProcessRoles; ++role) {
    ReportRole row = RowOf(run, static_cast<ProcessRole>(role), of_process, timelines, swept);
    for (const ReportRoleProcess& process : row.processes) {
      roles.perfect_overlap_ns = std::max(roles.perfect_overlap_ns, process.active_ns);
    }
    if (!row.processes.empty()) roles.roles.push_back(std::move(row));
  }
  if (roles.roles.size() < 2) return std::nullopt;
  roles.overlap = OverlapOf(swept);
  AddTail(swept, &roles);
  return roles;
}

}  // namespace gpubound
