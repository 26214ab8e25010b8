// SPDX-License-Identifier: Apache-2.0
//
// Every table of a run as a file of comma-separated values. One call, one thread.
#ifndef GPUBOUND_ANALYSIS_EXPORT_CSV_H_
#define GPUBOUND_ANALYSIS_EXPORT_CSV_H_

#include <string>
#include <vector>

#include "analysis/status.h"

namespace gpubound {

// Writes |folder|/TABLE.csv for each. What could be read in part only is added to |problems|.
// |input_failed|: the error is about the run.
Status WriteCsvTables(const std::string& run_path, const std::string& folder, bool* input_failed,
                      std::vector<std::string>* problems);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_EXPORT_CSV_H_
