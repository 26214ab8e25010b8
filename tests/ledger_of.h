// SPDX-License-Identifier: Apache-2.0
//
// What a report's ledger counts. By enum: the name of a counter that is misspelt, or that there is
// no longer, would count 0. Pure.
#ifndef GPUBOUND_TESTS_LEDGER_OF_H_
#define GPUBOUND_TESTS_LEDGER_OF_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "proto/ledger_counters.h"

namespace gpubound {

inline std::string LedgerName(LedgerCounter counter) {
  return kLedgerCounters[static_cast<int>(counter)].name;
}

// Of a Report (analysis/report/report.h).
template <typename AnyReport>
  requires requires(const AnyReport& report) { report.ledger; }
uint64_t LedgerOf(const AnyReport& report, LedgerCounter counter) {
  for (const auto& entry : report.ledger) {
    if (entry.counter == LedgerName(counter)) return entry.value;
  }
  return 0;
}

// Of a report as JSON.
inline int64_t LedgerOf(const nlohmann::json& report, LedgerCounter counter) {
  for (const nlohmann::json& entry : report.at("ledger")) {
    if (entry.at("counter") == LedgerName(counter)) return entry.at("value");
  }
  return 0;
}

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LEDGER_OF_H_
