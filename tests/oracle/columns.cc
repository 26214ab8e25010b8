// SPDX-License-Identifier: Apache-2.0
//
// No state.
#include "tests/oracle/columns.h"

#include <sstream>

namespace gpubound::oracle {
namespace {

void EraseZeros(std::map<std::string, int64_t>* columns) {
  std::erase_if(*columns, [](const auto& column) { return column.second == 0; });
}

}  // namespace

std::map<std::string, int64_t> ColumnsOf(const ReportProcess& report) {
  std::map<std::string, int64_t> columns;
  for (const ReportOperation& row : report.operations) {
    const std::string of = row.operation + "|";
    columns[of + "wall"] = row.wall_ns;
    columns[of + "cpu only"] = row.cpu_only_ns;
    columns[of + "cpu+gpu"] = row.cpu_gpu_ns;
    columns[of + "gpu only"] = row.gpu_only_ns;
    columns[of + "waiting"] = row.waiting_ns;
    columns[of + "idle"] = row.idle_ns;
    columns[of + "unknown"] = row.unknown_ns;
    columns[of + "busy"] = row.gpu_busy_ns;
    columns[of + "busy with compute"] = row.gpu_compute_ns;
    columns[of + "busy with comm"] = row.gpu_comm_ns;
    columns[of + "busy with copy"] = row.gpu_copy_ns;
    columns[of + "gpu wait"] = row.gpu_wait_ns;
  }
  EraseZeros(&columns);
  return columns;
}

std::map<std::string, int64_t> ColumnsOf(const NaiveBreakdown& naive) {
  std::map<std::string, int64_t> columns = naive.columns;
  for (const auto& [cell, ns] : naive.cells) {
    std::istringstream parts(cell);
    std::string phase;
    std::string operation;
    std::string layer;
    std::string gpu;
    std::getline(std::getline(std::getline(parts, phase, '|'), operation, '|'), layer, '|') >> gpu;
    const std::string of = operation + "|";
    columns[of + "wall"] += ns;
    if (gpu == "idle" || gpu == "unknown") continue;
    columns[of + "busy"] += ns;
    if (layer == "cuda_sync") columns[of + "gpu wait"] += ns;
    for (const std::string work : {"compute", "comm", "copy"}) {
      if (("+" + gpu + "+").find("+" + work + "+") != std::string::npos) {
        columns[of + "busy with " + work] += ns;
      }
    }
  }
  EraseZeros(&columns);
  return columns;
}

std::map<std::string, int64_t> TransitionsOf(const ReportProcess& report) {
  std::map<std::string, int64_t> transitions;
  for (const ReportOperation& row : report.operations) {
    for (const auto& [name, count] : row.transitions) {
      transitions[row.operation + "|" + name] = static_cast<int64_t>(count);
    }
  }
  return transitions;
}

}  // namespace gpubound::oracle
