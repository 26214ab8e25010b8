// SPDX-License-Identifier: Apache-2.0
//
// Writes entries of the ledger. No state.
#include "analysis/report/ledger_json.h"

namespace gpubound {

OrderedJson LedgerJson(const ReportLedgerEntry& entry) {
  return {{"counter", entry.counter},
          {"value", entry.value},
          {"severity", SeverityName(entry.severity)},
          {"help", entry.help}};
}

OrderedJson NotCountedJson(const ReportNotCounted& what) {
  return {{"counter", what.counter}, {"why", what.why}};
}

}  // namespace gpubound
