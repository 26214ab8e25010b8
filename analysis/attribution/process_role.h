// SPDX-License-Identifier: Apache-2.0
//
// Jobs of processes in reinforcement learning, in the order in which data flows:
//
//   environment -> rollout -> reward -> data -> train
//
// Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_ROLE_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_ROLE_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpubound {

enum class ProcessRole : uint8_t { kNone, kEnvironment, kRollout, kReward, kData, kTrain };
inline constexpr size_t kProcessRoles = 6;

constexpr std::string_view kProcessRoleNames[kProcessRoles] = {"",       "environment", "rollout",
                                                               "reward", "data",        "train"};

constexpr std::string_view RoleName(ProcessRole role) {
  return kProcessRoleNames[static_cast<size_t>(role)];
}

// Absent for any other word.
constexpr std::optional<ProcessRole> RoleCalled(std::string_view name) {
  for (size_t role = 1; role < kProcessRoles; ++role) {
    if (kProcessRoleNames[role] == name) return static_cast<ProcessRole>(role);
  }
  return std::nullopt;
}

// What a program records when a process takes on a role: a counter of that name and the role's. It
// holds until the next one (annotate/python/gpubound/_api.py, annotate/include/gpubound/annotate.h).
inline constexpr std::string_view kRoleCounterPrefix = "role:";

// Whether |role| gives what it makes to |other|, by way of others or not.
constexpr bool IsUpstreamOf(ProcessRole role, ProcessRole other) { return role < other; }

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_ROLE_H_
