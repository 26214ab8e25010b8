// SPDX-License-Identifier: Apache-2.0
//
// What a scenario expects of its report, and the same things read from a report. A section is named
// by its words behind "expect"; "of PID" picks a process other than the first.
//
//   lists, complete, one entry a line:
//     expect cells [of PID]             PHASE | OPERATION | LAYER | GPU | NS
//     expect lane NAME [of PID]         likewise, of a further thread
//     expect gaps [of PID]              BEGIN | NS | CAUSE | OPERATION, LAYER | OPERATION, LAYER
//   tables, some values of some rows; a value that is not there is 0, a key that no report has is
//   not understood:
//     expect rows [of PID]              OPERATION: wall=10 gpu_busy=5 python->backend=1
//     expect idle [of PID]              OPERATION: launch=10 sync=5 sum=15
//     expect kernels [of PID]           NAME in OPERATION: count=2 sum=30 mean=15 median=15 p95=20
//                                       also sm_filled, bound (1: of SM fill)
//     expect devices                    NAME: busy=40 alone:100=10 contended:100=30 unused=0
//     expect parts                      PART: wall=10 gpu_busy=5
//     expect iterations by operation    OPERATION: wall=10 gpu_busy=5
//     expect ranks                      PID on ORDINAL: time=10 peer_wait=6 late_in:update,python=4
//     expect operations on devices      OPERATION on DEVICE: wall=10 busy=5 idle=5
//     expect targets                    TARGET: reached=40 (-1: never or not known) known=1
//                                       records=4 pid=100 parts=40 wall:OPERATION=30 busy:OPERATION=5
//     expect work                       COUNTER: done=16 ns=80 per_second=200000000 per_simulation=4
//                                       per_both=3 (-1: none) gpu_ns=5 gpu_busy_ns=2 (of each)
//     expect roles                      ROLE: active=60 held=100 busy=40 idle=60 unknown=0 starved=30
//                                       weight_sync=10 bubble_ratio=600 (per mille, -1: none)
//                                       processes=1 inferred=0 active:PID=60
//     expect overlap                    ROLE+ROLE: ns=20; none
//   values, on the line itself:
//     expect together ns=100            of roles; also roles (0: said of none), perfect_overlap
//     expect tail rollouts=2            also parts, median, p95, max, rollout, tail, held, busy
//     expect flops [of PID] done=10     also ns, busy, mfu, busy_mfu (per mille, -1: none), impossible
//     expect weight-sync [of PID] count=2  also iterations, ns, exposed, hidden, bytes (-1: none)
//     expect samples consumed=10        also discarded, unknown_version, behind:N, reason:WORD,
//                                       discarded_share, goodput (per mille, -1: none), rollout_gpu
//     expect process [of PID] span=100  also gpu_busy, gpu_wait, gpu_sum, unknown, waits:PID,
//                                       queued_gaps, queued_gaps_mean, event_wait_gaps, ...
//     expect iterations count=3         also warm_up, start_up, total, mean, median, p95, ...;
//                                       queued:2=7: idle time of a cause in the second after
//                                       warm-up
//     expect run wall=100               also devices_used, headline, gpu_busy_percent
//     expect ledger COUNTER=1
//   words, on the line itself:
//     expect headline GPU unknown 100 %: ...
#ifndef GPUBOUND_TESTS_GOLDEN_EXPECTATION_H_
#define GPUBOUND_TESTS_GOLDEN_EXPECTATION_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound::golden {

using Values = std::map<std::string, int64_t>;
using Table = std::map<std::string, Values>;

struct Expectation {
  std::map<std::string, std::vector<std::string>> lists;  // by section
  std::map<std::string, Table> tables;
  std::map<std::string, Values> values;
  bool empty() const { return lists.empty() && tables.empty() && values.empty(); }
};

// Takes a scenario's statements behind "expect".
class ExpectationParser {
 public:
  explicit ExpectationParser(Expectation* expectation) : expectation_(*expectation) {}

  // "expect ...". False when it is not understood.
  bool Begin(const std::vector<std::string>& words);
  // A further line of the section that was begun last. False when it belongs to none.
  bool Line(const std::string& line);
  void End() { section_.clear(); }

 private:
  Expectation& expectation_;
  std::string section_;
};

// Sorted, but for gaps.
std::vector<std::string> ActualList(const Report& report, const std::string& section);
Table ActualTable(const Report& report, const std::string& section);
Values ActualValues(const Report& report, const std::string& section);

}  // namespace gpubound::golden

#endif  // GPUBOUND_TESTS_GOLDEN_EXPECTATION_H_
