// SPDX-License-Identifier: Apache-2.0
//
// What processes do with regard to each other: which of them wait for which others in which role, over time. Of each
// process that is one list of changes, 16 bytes each. Reads the sources.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_ROLE_STATES_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_ROLE_STATES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/process_role.h"
#include "analysis/attribution/process_roles.h"
#include "analysis/base/interval.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/known_waits.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What the primary thread does, as far as it tells whose time that is.
enum class RoleWork : uint8_t { kOther, kStartsUp, kSyncs, kRewards, kSimulates };

struct RoleState {
  ProcessRole role = ProcessRole::kNone;
  RoleWork work = RoleWork::kOther;
  bool waits = false;
  bool in_operation = false;  // of one that waits, or makes samples
  PeerIndex peer = kNotOne;   // that it waits for, where that is known
  friend bool operator==(const RoleState&, const RoleState&) = default;
};

struct RoleChange {
  int64_t time_ns = 0;
  RoleState state;
};
static_assert(sizeof(RoleChange) == 16, "docs/architecture.md says so");

struct RoleTimeline {
  Interval span;                           // of the process; times here are those of the run
  std::vector<RoleChange> changes;         // ascending; no two that follow each other are the same
  std::vector<std::vector<size_t>> peers;  // by PeerIndex: processes by their numbers in the run
  // Operations in which it had a role, whenever that was, and for how long.
  std::map<std::string, std::map<ProcessRole, int64_t>> operations;
};

// By process, over |window|. |waits|: of the run's processes, for what they inherit.
std::vector<RoleTimeline> FollowRoles(const Run& run, const std::vector<ProcessRoles>& roles,
                                      const KnownWaits& waits, const ClockAlignment& clocks,
                                      const Interval& window, const BreakdownOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_ROLE_STATES_H_
