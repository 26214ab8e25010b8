// SPDX-License-Identifier: Apache-2.0
//
// From booked device work to the rows of --kernels. Pure.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_KERNEL_REPORT_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_KERNEL_REPORT_H_

#include <string>
#include <vector>

#include "analysis/report/report.h"
#include "analysis/sweep/kernel_book.h"
#include "analysis/sweep/op_book.h"

namespace gpubound {

// Fills in |report->kernels|, |report->operation_kernels|, the operations with the most device time
// first, |report->categories| and |report->ops|. |operations| names them; |process| knows what
// graphs run.
void AddKernelTables(const std::vector<KernelTime>& kernels, const std::vector<OpTime>& ops,
                     const std::vector<std::string>& operations, const ProcessTrace& process,
                     ReportProcess* report);

// A note on how many kernels of graphs that were recorded as a whole have no name, if any.
void NoteUnnamedNodes(Report* report);

// Of a report that is of the breakdown alone: of kernels it has none but whole graphs by now.
void DropKernels(Report* report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_KERNEL_REPORT_H_
