// SPDX-License-Identifier: Apache-2.0
//
// What the report model has of the trust ledger. Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_REPORT_LEDGER_H_
#define GPUBOUND_ANALYSIS_REPORT_LEDGER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "proto/ledger_counters.h"

namespace gpubound {

struct ReportLedgerEntry {
  std::string counter;
  uint64_t value = 0;
  Severity severity = Severity::kInfo;
  std::string help;
};

struct ReportNotCounted {  // of which nothing is known, not that it is zero
  std::string counter;
  std::string why;
};

struct ReportEstimate {  // a counter of the ledger that was counted in a part of the time only
  std::string counter;
  double counted_share = 0;               // of the time, where it was least
  std::optional<int64_t> standard_error;  // of the counter; absent where it is not known
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_LEDGER_H_
