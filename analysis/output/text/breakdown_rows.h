// SPDX-License-Identifier: Apache-2.0
//
// Rows of a breakdown table, whatever they are grouped by. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_BREAKDOWN_ROWS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_BREAKDOWN_ROWS_H_

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

struct Breakdown {
  std::string name;
  ReportOperation time;
  bool has_caused = false;
};

// Adds the cell to the times of |row|.
void AddCellTo(const ReportCell& cell, ReportOperation* row);

bool AnyScopesMissing(const std::vector<ReportOperation>& rows);

// The |most| longest rows, and last of all what the others come to: a program that names every
// iteration has thousands. As they are where they are few.
std::vector<Breakdown> LongestRows(std::vector<Breakdown> rows, size_t most);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_BREAKDOWN_ROWS_H_
