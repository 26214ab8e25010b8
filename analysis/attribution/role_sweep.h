// SPDX-License-Identifier: Apache-2.0
//
// Goes along what all processes and devices of a run did at once, and says at each instant which
// roles were active, and of each idle device whose fault that was (SPEC section 9, docs/report.md).
// Pure but for reading the logs of the devices.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_ROLE_SWEEP_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_ROLE_SWEEP_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/attribution/process_role.h"
#include "analysis/attribution/role_states.h"
#include "analysis/base/interval.h"
#include "analysis/processes/device_usage.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Why a device is idle that a process of some role holds. Of several processes of one role those that
// work count before those that wait, then the first of these.
enum class Bubble : uint8_t {
  kStarved,
  kBlocked,
  kTail,
  kWeightSync,
  kEnvironment,
  kStartUp,
  kOther,
};
inline constexpr size_t kBubbles = 7;
constexpr const char* BubbleName(Bubble bubble) {
  constexpr const char* kNames[kBubbles] = {
      "starved", "blocked", "tail", "weight sync", "environment or reward", "start-up", "other"};
  return kNames[static_cast<size_t>(bubble)];
}

// Of a device, while processes of some role held it.
struct HeldTime {
  int64_t busy_ns = 0;
  int64_t unknown_ns = 0;
  std::array<int64_t, kBubbles> idle_ns{};
  int64_t Idle() const;
  int64_t Held() const { return busy_ns + unknown_ns + Idle(); }
};

// How many workers of a rollout took how long; one after the other.
struct RolloutTime {
  Interval time;
  Interval tail;
  std::vector<int64_t> lengths_ns;  // of its workers
};

// Of a process in a role.
struct RoleTime {
  int64_t ns = 0;
  int64_t active_ns = 0;
};

using RoleMask = uint32_t;  // 1 << ProcessRole

struct RoleSweepResult {
  std::map<RoleMask, int64_t> active_ns;                     // sums to the window
  std::array<HeldTime, kProcessRoles> held;                  // by role, over all devices
  HeldTime held_in_tails;                                    // by rollout
  std::vector<std::array<RoleTime, kProcessRoles>> process;  // by process, then role
  std::vector<RolloutTime> rollouts;
  int64_t most_busy_ns = 0;  // of a device
};

// Rollouts of two workers or more that begin and end within |window|.
std::vector<RolloutTime> FindRollouts(const std::vector<RoleTimeline>& processes,
                                      const Interval& window);

// |activity|: by process. |offset_ns|: from its clock to the one of |processes|; |unknown| is on that.
RoleSweepResult SweepRoles(const Run& run, const std::vector<RoleTimeline>& processes,
                           const RunActivity& activity, const std::vector<int64_t>& offset_ns,
                           const RunUnknown& unknown, const Interval& window);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_ROLE_SWEEP_H_
