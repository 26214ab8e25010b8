// SPDX-License-Identifier: Apache-2.0
//
// Of a run of very many processes the page has all figures of some and the times of the others'
// operations, so that it stays a file that a browser opens. Pure functions.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_THIN_PROCESSES_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_THIN_PROCESSES_H_

#include <cstddef>
#include <vector>

#include "analysis/report/json_rows.h"
#include "analysis/report/report.h"

namespace gpubound {

// By process, whether the page has all figures of it: the one that the report is about, then those
// that others waited for longest in collectives, then the first ones, |most| together.
std::vector<bool> DetailedProcesses(const Report& report, size_t most);

// Leaves of |process|, a row of "processes" of the report JSON, what it is called, how long it was
// there, and of its operations the times that are not 0 (tools/page/src/thin.ts fills them in).
void ThinProcess(OrderedJson* process);

// Leaves of |rows|, "operation_devices" of the report JSON, the |most| with most time; the last one
// sums up the others.
void ThinOperationDevices(size_t most, OrderedJson* rows);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_THIN_PROCESSES_H_
