// SPDX-License-Identifier: Apache-2.0
//
// What a foreign trace should hold and does not, as an importer finds out, and what cannot be known
// without it. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_IMPORT_FOREIGN_GAP_H_
#define GPUBOUND_ANALYSIS_IMPORT_FOREIGN_GAP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/ledger_counters.h"

namespace gpubound {

struct ForeignGap {
  LedgerCounter counter{};
  uint64_t count = 1;
  std::string note;        // for whoever reads the report
  std::string why_hidden;  // why GPU time is unknown without it; empty: it hides no GPU work
  // Whose GPU time, by index of the names; empty: everybody's.
  std::vector<uint32_t> processes;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_FOREIGN_GAP_H_
