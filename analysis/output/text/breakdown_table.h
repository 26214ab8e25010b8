// SPDX-License-Identifier: Apache-2.0
//
// The tables of the text report that break a process's time down, with a bar for each row, and what
// is said of their columns. One report, one object.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_BREAKDOWN_TABLE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_BREAKDOWN_TABLE_H_

#include <string>
#include <vector>

#include "analysis/output/text/breakdown_rows.h"
#include "analysis/output/text/report_text.h"
#include "analysis/output/text/table_legend.h"
#include "analysis/report/report.h"

namespace gpubound {

class BreakdownTables {
 public:
  // |options| outlives the object. |has_gpu|: false of a run that is about the CPU alone, whose
  // tables have no column on GPUs.
  BreakdownTables(const TextOptions& options, bool has_gpu)
      : options_(options), has_gpu_(has_gpu) {}

  // Each begins with an empty line. Of more than |most| rows the longest are there, and what the
  // others come to; 0: all.
  std::string Operations(const ReportProcess& process, size_t most);
  std::string Groups(const ReportProcess& process, const char* title,
                     std::string ReportCell::*dimension, size_t most);

  // What was shown since the last time and not explained before; empty where there is nothing.
  std::string Legend() { return legend_.Take(options_); }

 private:
  std::string Table(const char* title, std::vector<Breakdown> rows, size_t most, int64_t span_ns);

  const TextOptions& options_;
  const bool has_gpu_;
  TableLegend legend_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_BREAKDOWN_TABLE_H_
