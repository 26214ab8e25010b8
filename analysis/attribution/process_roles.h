// SPDX-License-Identifier: Apache-2.0
//
// Which role each process of a run has, and when (SPEC section 9): as the program, a hook or the
// variable GPUBOUND_ROLE says, else by what it spends its time in operations on, phase by phase. Pure
// but for reading events.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_ROLES_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_ROLES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/attribution/process_role.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct ProcessRoles {
  struct Since {
    int64_t time_ns = 0;  // of the process
    ProcessRole role = ProcessRole::kNone;
  };
  // What was said, ascending; the first holds for all time before the second.
  std::vector<Since> said;
  std::map<std::string, ProcessRole> of_phase;  // where nothing was

  bool inferred() const { return said.empty(); }
};

// By process. |report|: of |run|, with its processes. Of words that are no role nothing is known.
std::vector<ProcessRoles> RolesOf(const Run& run, const Report& report);

// How many different ones there are.
size_t CountRoles(const std::vector<ProcessRoles>& processes);

// A note for each word that should have been a role.
std::vector<std::string> NotesOnRoles(const ProcessTrace& process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_ROLES_H_
