// SPDX-License-Identifier: Apache-2.0
//
// A value of a row as text that other tools read. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_CELL_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_CELL_TEXT_H_

#include <string>

#include "analysis/output/tables/trace_table.h"

namespace gpubound {

// As few digits as tell it from any other number; the same in every locale.
std::string RealText(double value);

// A field of CSV; NULL is an empty one.
std::string CsvCell(const Cell& cell);

// A JSON value; numbers that JSON has no word for are null.
std::string JsonCell(const Cell& cell);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_CELL_TEXT_H_
