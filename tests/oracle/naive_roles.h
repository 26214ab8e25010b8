// SPDX-License-Identifier: Apache-2.0
//
// Roles of processes, their bubbles, overlap and tails (SPEC section 9), computed the slow way: at every
// nanosecond it is asked anew which role each process has, who works, and who holds up whom. It shares
// no code with the analysis. What the specification leaves open is as docs/report.md has it.
#ifndef GPUBOUND_TESTS_ORACLE_NAIVE_ROLES_H_
#define GPUBOUND_TESTS_ORACLE_NAIVE_ROLES_H_

#include <cstdint>
#include <map>
#include <string>

#include "analysis/base/interval.h"
#include "analysis/trace/run.h"

namespace gpubound::oracle {

// By a name for each figure; none is zero, and there are none where there are fewer than two roles. The
// waits of |run| are as they were recorded. |window|: of what the figures are about.
std::map<std::string, int64_t> RolesNaively(const gpubound::Run& run, const Interval& window);

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_NAIVE_ROLES_H_
