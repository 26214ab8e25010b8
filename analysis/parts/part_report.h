// SPDX-License-Identifier: Apache-2.0
//
// The report of parts of a run. Pure but for reading.
#ifndef GPUBOUND_ANALYSIS_PARTS_PART_REPORT_H_
#define GPUBOUND_ANALYSIS_PARTS_PART_REPORT_H_

#include <string>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/base/status.h"
#include "analysis/parts/machine_part.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

// A run without events and its report: what that of the whole run says, but for what needs the events
// of all machines together, which a note lists.
struct PartsReport {
  Run run;
  Report report;
};

// All parts in |path|, see HoldsParts().
Result<std::vector<MachinePart>> LoadParts(const std::string& path);

// Of all parts in |path|, see HoldsParts(). An error where they cannot be read, do not go together, or
// were made with other operations than |options| has; where these are none, with any.
Result<PartsReport> ReportOfParts(const std::string& path, const BreakdownOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PARTS_PART_REPORT_H_
