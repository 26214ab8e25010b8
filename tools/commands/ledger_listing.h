// SPDX-License-Identifier: Apache-2.0
//
// The part of the ledger that is clean: what was watched and did not happen. Pure.
#ifndef GPUBOUND_TOOLS_COMMANDS_LEDGER_LISTING_H_
#define GPUBOUND_TOOLS_COMMANDS_LEDGER_LISTING_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// Every counter that |report| does not list, with its severity and its help sentence.
std::string RenderZeroCounters(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_LEDGER_LISTING_H_
