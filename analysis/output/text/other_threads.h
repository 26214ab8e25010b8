// SPDX-License-Identifier: Apache-2.0
//
// Operations of a process that are not those of its reporting thread, as of a learner beside
// actors:
//
//   reporting thread   |[simulation ]..[simulation ]..|   rows of the process, its span
//   lane               |....[learn             ]......|   a partition of its own, beside them
//
// A thread all of whose operations were handed over to it works for another one, as of a pool.
//
// Whatever threads share, as transitions and caused work, is booked in rows of the process even so:
// a row may have some of it and no time (ReportOperation::other_threads_only). Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_OTHER_THREADS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_OTHER_THREADS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

struct LaneTime {
  std::string operation;
  int64_t wall_ns = 0;  // in all lanes
};

// Operations of further threads of |process| that have some of their own, longest first. None where
// there are no such threads.
std::vector<LaneTime> LaneTimes(const ReportProcess& process);

// "On 2 other threads, not in the table: learn 1.20 s, ... (--by thread).", and "Handed over to 4
// threads: simulation 1.60 s (3.2 at once)"; as lines; empty where no other thread has an operation.
std::string OtherThreadsSentence(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_OTHER_THREADS_H_
