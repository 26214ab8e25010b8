// SPDX-License-Identifier: Apache-2.0
//
// Reads what was said, else sums up operations. No state.
#include "analysis/attribution/process_roles.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/trace/counter_records.h"
#include "analysis/trace/name_lists.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

// As programs, hooks and rules call them (docs/report.md lists them).
constexpr std::array<std::string_view, 4> kOfRollout = {"simulation", "inference", "rollout",
                                                        "generation"};
constexpr std::array<std::string_view, 3> kOfTrain = {"backpropagation", "optimizer", "update"};

template <size_t kCount>
bool IsOneOf(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string_view RoleIn(std::string_view counter) {
  return counter.starts_with(kRoleCounterPrefix) ? counter.substr(kRoleCounterPrefix.size())
                                                 : std::string_view();
}

std::vector<ProcessRoles::Since> SaidBy(const ProcessTrace& process,
                                        const std::vector<CounterRecord>& records) {
  std::vector<ProcessRoles::Since> said;
  if (const auto role = RoleCalled(process.role)) said.push_back({process.span_begin_ns, *role});
  for (const CounterRecord& record : records) {
    const auto role = RoleCalled(RoleIn(process.LabelOf(record.label).text));
    if (!role) continue;
    if (!said.empty() && said.back().time_ns == record.time_ns) said.pop_back();
    said.push_back({record.time_ns, *role});
  }
  return said;
}

// Time in operations of some role. Weights are sent by one role and received by another: how long
// that takes says nothing of either.
struct TimeByRole {
  int64_t rollout_ns = 0;
  int64_t train_ns = 0;
  int64_t all_ns = 0;  // in any operation but weight sync
  ProcessRole Most() const {
    if (2 * rollout_ns > all_ns) return ProcessRole::kRollout;
    if (2 * train_ns > all_ns) return ProcessRole::kTrain;
    return ProcessRole::kNone;
  }
};

// A phase without operations has the role of the others, if these have one between them.
std::map<std::string, ProcessRole> InferredFrom(const ReportProcess& process) {
  std::set<std::string_view> inherited;
  for (const ReportOperation& row : process.operations) {
    if (row.inherited) inherited.insert(row.operation);
  }
  std::map<std::string, TimeByRole> times;
  for (const ReportCell& cell : process.cells) {
    TimeByRole& time = times[cell.phase];
    if (cell.operation == kNoOperation || inherited.contains(cell.operation)) continue;
    if (WeightSyncNames().Matches(cell.operation)) continue;
    time.all_ns += cell.ns;
    if (IsOneOf(kOfRollout, cell.operation)) time.rollout_ns += cell.ns;
    if (IsOneOf(kOfTrain, cell.operation)) time.train_ns += cell.ns;
  }
  std::set<ProcessRole> found;
  for (const auto& [phase, time] : times) {
    if (time.all_ns > 0) found.insert(time.Most());
  }
  const ProcessRole of_rest = found.size() == 1 ? *found.begin() : ProcessRole::kNone;
  std::map<std::string, ProcessRole> roles;
  for (const auto& [phase, time] : times) roles[phase] = time.all_ns > 0 ? time.Most() : of_rest;
  return roles;
}

}  // namespace

std::vector<ProcessRoles> RolesOf(const Run& run, const Report& report) {
  const std::vector<std::vector<CounterRecord>> records =
      ReadCountersOfAll(run, [](std::string_view name) { return !RoleIn(name).empty(); });
  std::vector<ProcessRoles> roles(run.processes.size());
  for (size_t p = 0; p < roles.size(); ++p) {
    roles[p].said = SaidBy(run.processes[p], records[p]);
    if (roles[p].inferred()) roles[p].of_phase = InferredFrom(report.processes[p]);
  }
  return roles;
}

size_t CountRoles(const std::vector<ProcessRoles>& processes) {
  std::set<ProcessRole> roles;
  for (const ProcessRoles& process : processes) {
    for (const ProcessRoles::Since& since : process.said) roles.insert(since.role);
    for (const auto& [phase, role] : process.of_phase) roles.insert(role);
  }
  roles.erase(ProcessRole::kNone);
  return roles.size();
}

std::vector<std::string> NotesOnRoles(const ProcessTrace& process) {
  std::set<std::string> wrong;
  if (!process.role.empty() && !RoleCalled(process.role)) wrong.insert(process.role);
  for (const std::string& name : CounterNames(process)) {
    const std::string_view role = RoleIn(name);
    if (!role.empty() && !RoleCalled(role)) wrong.insert(std::string(role));
  }
  std::vector<std::string> notes;
  for (const std::string& word : wrong) {
    notes.push_back("pid " + std::to_string(process.identity.pid) + ": '" + word +
                    "' is no role: use environment, rollout, reward, data or train.");
  }
  return notes;
}

}  // namespace gpubound
