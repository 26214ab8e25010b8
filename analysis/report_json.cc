// SPDX-License-Identifier: Apache-2.0
//
// Writes the report model as JSON. Fields are added to this format, never renamed. No state.
#include "analysis/report_json.h"

#include <nlohmann/json.hpp>

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;  // keeps the order of the specification

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json RunJson(const ReportRun& run) {
  return Json{{"root", OrNull(run.root)},
              {"wall_ns", run.wall_ns},
              {"devices_used", run.devices_used},
              {"gpu_busy_share", run.gpu_busy_share},
              {"compute_share", run.compute_share},
              {"comm_share", run.comm_share},
              {"copy_share", run.copy_share},
              {"gpu_limited_share", OrNull(run.gpu_limited_share)},
              {"verdict", run.verdict}};
}

Json CellJson(const ReportCell& cell) {
  return Json{{"phase", cell.phase},
              {"operation", cell.operation},
              {"layer", cell.layer},
              {"gpu", cell.gpu},
              {"ns", cell.ns}};
}

Json OperationJson(const ReportOperation& row) {
  Json transitions = Json::object();
  for (const auto& [name, count] : row.transitions) transitions[name] = count;
  return Json{{"operation", row.operation},
              {"wall_ns", row.wall_ns},
              {"cpu_only_ns", row.cpu_only_ns},
              {"cpu_gpu_ns", row.cpu_gpu_ns},
              {"gpu_only_ns", row.gpu_only_ns},
              {"waiting_ns", row.waiting_ns},
              {"idle_ns", row.idle_ns},
              {"unknown_ns", row.unknown_ns},
              {"gpu_busy_ns", row.gpu_busy_ns},
              {"gpu_compute_ns", row.gpu_compute_ns},
              {"gpu_comm_ns", row.gpu_comm_ns},
              {"gpu_copy_ns", row.gpu_copy_ns},
              {"gpu_wait_ns", row.gpu_wait_ns},
              {"gpu_caused_ns", row.gpu_caused_ns},
              {"gpu_sum_ns", row.gpu_sum_ns},
              {"sm_filled_ns", row.sm_filled_ns},
              {"count", row.count},
              {"inclusive_wall_ns", row.inclusive_wall_ns},
              {"transitions", std::move(transitions)}};
}

Json ProcessJson(const ReportProcess& process) {
  Json cells = Json::array();
  for (const ReportCell& cell : process.cells) cells.push_back(CellJson(cell));
  Json operations = Json::array();
  for (const ReportOperation& row : process.operations) operations.push_back(OperationJson(row));
  return Json{{"host", process.host},
              {"pid", process.pid},
              {"name", process.name},
              {"parent", OrNull(process.parent)},
              {"start_ns", process.start_ns},
              {"span_ns", process.span_ns},
              {"cells", std::move(cells)},
              {"operations", std::move(operations)},
              {"gpu_busy_ns", process.gpu_busy_ns},
              {"gpu_wait_ns", process.gpu_wait_ns},
              {"gpu_sum_ns", process.gpu_sum_ns},
              {"smi_model", process.smi_model},
              {"inflation", OrNull(process.inflation)},
              {"corrected", nullptr},
              {"corrected_why_not", process.corrected_why_not}};
}

Json DeviceJson(const ReportDevice& device) {
  return Json{{"uuid", device.uuid},
              {"name", device.name},
              {"busy_ns", device.busy_ns},
              {"span_ns", device.span_ns},
              {"nvml_utilization", OrNull(device.nvml_utilization)}};
}

Json LedgerJson(const ReportLedgerEntry& entry) {
  return Json{{"counter", entry.counter},
              {"value", entry.value},
              {"severity", SeverityName(entry.severity)},
              {"help", entry.help}};
}

}  // namespace

std::string RenderJson(const Report& report) {
  Json document{{"format", "gpubound.report.v1"},
                {"device_kind", report.device_kind},
                {"run", RunJson(report.run)}};
  document["processes"] = Json::array();
  for (const ReportProcess& process : report.processes) {
    document["processes"].push_back(ProcessJson(process));
  }
  document["devices"] = Json::array();
  for (const ReportDevice& device : report.devices) {
    document["devices"].push_back(DeviceJson(device));
  }
  document["ledger"] = Json::array();
  for (const ReportLedgerEntry& entry : report.ledger) {
    document["ledger"].push_back(LedgerJson(entry));
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpubound
