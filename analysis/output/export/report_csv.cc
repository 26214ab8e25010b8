// SPDX-License-Identifier: Apache-2.0
//
// Writes operations as CSV. No state.
#include "analysis/output/export/report_csv.h"

#include "analysis/base/utf8.h"

namespace gpubound {
namespace {

struct CsvFigure {
  const char* name;
  int64_t ReportOperation::*member;
};

constexpr CsvFigure kFigures[] = {
    {"wall_ns", &ReportOperation::wall_ns},
    {"cpu_only_ns", &ReportOperation::cpu_only_ns},
    {"cpu_gpu_ns", &ReportOperation::cpu_gpu_ns},
    {"gpu_only_ns", &ReportOperation::gpu_only_ns},
    {"waiting_ns", &ReportOperation::waiting_ns},
    {"idle_ns", &ReportOperation::idle_ns},
    {"unknown_ns", &ReportOperation::unknown_ns},
    {"gpu_busy_ns", &ReportOperation::gpu_busy_ns},
    {"gpu_compute_ns", &ReportOperation::gpu_compute_ns},
    {"gpu_comm_ns", &ReportOperation::gpu_comm_ns},
    {"gpu_copy_ns", &ReportOperation::gpu_copy_ns},
    {"gpu_wait_ns", &ReportOperation::gpu_wait_ns},
    {"gpu_caused_ns", &ReportOperation::gpu_caused_ns},
    {"gpu_sum_ns", &ReportOperation::gpu_sum_ns},
    {"sm_filled_ns", &ReportOperation::sm_filled_ns},
    {"inclusive_wall_ns", &ReportOperation::inclusive_wall_ns},
};

}  // namespace

std::string RenderCsv(const Report& report) {
  std::string text = "host,pid,start_ns,process,operation,count";
  for (const CsvFigure& figure : kFigures) text += std::string(",") + figure.name;
  text += ",other_threads_only\r\n";
  for (const ReportProcess& process : report.processes) {
    for (const ReportOperation& row : process.operations) {
      text += CsvField(process.host) + "," + std::to_string(process.pid) + "," +
              std::to_string(process.start_ns) + "," + CsvField(process.name) + "," +
              CsvField(row.operation) + "," + std::to_string(row.count);
      for (const CsvFigure& figure : kFigures) text += "," + std::to_string(row.*figure.member);
      text += std::string(row.other_threads_only ? ",1" : ",0") + "\r\n";
    }
  }
  return text;
}

}  // namespace gpubound
