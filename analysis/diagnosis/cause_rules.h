// SPDX-License-Identifier: Apache-2.0
//
// What a cause of idle GPU time (analysis/trace/idle_cause.h) means to a user: its words, the kind
// of finding that it makes, and what to do about it where. Pure.
#ifndef GPUBOUND_ANALYSIS_DIAGNOSIS_CAUSE_RULES_H_
#define GPUBOUND_ANALYSIS_DIAGNOSIS_CAUSE_RULES_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

struct CauseFacts {
  const char* kind = "";
  std::string title;      // "Launch-bound"
  std::string meanwhile;  // "while the CPU prepares launches"
  std::string noun;       // "preparing launches"
  std::string action;     // a sentence that names the operation where the cause has most time
  std::string operation;  // that one; empty: none
};

CauseFacts FactsOfCause(const Report& report, const ReportProcess& process,
                        const std::string& cause);

// The noun alone: what the CPU did, or the device. |python|: as BlamesPython() says.
std::string CauseText(const std::string& cause, bool python);

// "in update", or "outside named operations".
std::string InOperation(const std::string& operation);

// Whether an interpreter of Python ran in |process|.
bool RunsPython(const ReportProcess& process);

// Whether sentences may name Python as what keeps a GPU waiting: an interpreter ran in |process|,
// and the replay does not say that the run would be as long without its time.
bool BlamesPython(const Report& report, const ReportProcess& process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DIAGNOSIS_CAUSE_RULES_H_
