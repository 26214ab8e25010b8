// SPDX-License-Identifier: Apache-2.0
//
// The processes of a run and how they wait for each other, computed the slow way: at every
// nanosecond it is asked anew who waits for whom under which operation. It shares no code with the
// analysis. What SPEC section 2 leaves open is as docs/report.md has it.
#ifndef GPUBOUND_TESTS_ORACLE_NAIVE_RUN_H_
#define GPUBOUND_TESTS_ORACLE_NAIVE_RUN_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/trace/run.h"
#include "tests/oracle/naive_oracle.h"

namespace gpubound::oracle {

struct NaiveProcess {
  NaiveBreakdown breakdown;
  bool inherits = false;
  std::map<int64_t, std::set<int64_t>> awaited_at;  // for whom it waits, by instant
  std::map<std::string, int64_t> waits;             // "pids|operation" -> ns
  std::map<std::string, int64_t> awaited;           // "pid|operation" -> ns
  std::map<std::string, int64_t> meanwhile;         // "pid|operation|its operation|its layer" -> ns
};

// By process. The waits of |run| are as they were recorded.
std::vector<NaiveProcess> BreakDownNaively(const gpubound::Run& run);

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_NAIVE_RUN_H_
