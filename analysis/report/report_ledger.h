// SPDX-License-Identifier: Apache-2.0
//
// What the report model has of the trust ledger. Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_LEDGER_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_LEDGER_H_

#include <cstdint>
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

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_LEDGER_H_
