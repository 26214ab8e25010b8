// SPDX-License-Identifier: Apache-2.0
//
// The trust ledger's lists of the report JSON. Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_LEDGER_JSON_H_
#define GPUBOUND_ANALYSIS_REPORT_LEDGER_JSON_H_

#include "analysis/report/json_rows.h"
#include "analysis/report/report_ledger.h"

namespace gpubound {

OrderedJson LedgerJson(const ReportLedgerEntry& entry);
OrderedJson NotCountedJson(const ReportNotCounted& what);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_LEDGER_JSON_H_
