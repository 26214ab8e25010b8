// SPDX-License-Identifier: Apache-2.0
//
// The trust ledger for a terminal, as `gpubound doctor RUN` prints it, and what it means for an
// exit status. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_LEDGER_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_LEDGER_TEXT_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// Every non-zero counter with its severity and its help sentence, worst first, then the notes.
std::string RenderLedger(const Report& report, const TextOptions& options = {});

// True when the ledger holds an entry of severity error: `doctor` exits non-zero.
bool LedgerHasError(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_LEDGER_TEXT_H_
