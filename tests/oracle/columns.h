// SPDX-License-Identifier: Apache-2.0
//
// The columns of a report's rows that cells add up to, as the report has them and as the naive
// oracle's cells give them, and its transitions. Pure functions.
#ifndef GPUBOUND_TESTS_ORACLE_COLUMNS_H_
#define GPUBOUND_TESTS_ORACLE_COLUMNS_H_

#include <cstdint>
#include <map>
#include <string>

#include "analysis/report/report.h"
#include "tests/oracle/naive_oracle.h"

namespace gpubound::oracle {

// "operation|column" -> ns; none is zero.
std::map<std::string, int64_t> ColumnsOf(const ReportProcess& report);
std::map<std::string, int64_t> ColumnsOf(const NaiveBreakdown& naive);

// "operation|from->to" -> how often.
std::map<std::string, int64_t> TransitionsOf(const ReportProcess& report);

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_COLUMNS_H_
