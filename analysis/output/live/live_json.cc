// SPDX-License-Identifier: Apache-2.0
//
// Seconds in place of nanoseconds, as dashboards have them. No state.
#include "analysis/output/live/live_json.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNsPerSecond = 1e9;

double Seconds(int64_t ns) { return static_cast<double>(ns) / kNsPerSecond; }

Json Seconds(const LiveTimes& times) {
  Json seconds = Json::array();
  for (const int64_t ns : times) seconds.push_back(Seconds(ns));
  return seconds;
}

Json Seconds(const std::optional<int64_t>& ns) { return ns ? Json(Seconds(*ns)) : Json(); }

}  // namespace

std::string RenderGlanceJson(const LiveGlance& glance, const std::string& run) {
  Json devices = Json::array();
  for (const LiveGlance::DeviceRow& row : glance.devices) {
    devices.push_back({{"name", row.name}, {"busy_s", Seconds(row.busy_ns)}});
  }
  Json operations = Json::array();
  for (const LiveGlance::OperationRow& row : glance.operations) {
    operations.push_back({{"name", row.name}, {"s", Seconds(row.ns)}});
  }
  Json work = Json::array();
  for (const LiveGlance::WorkRow& row : glance.work) {
    work.push_back({{"counter", row.counter}, {"done", row.done}});
  }
  Json lines = Json::array();
  for (const LiveGlance::LineRow& row : glance.lines) {
    lines.push_back(
        {{"file", row.file}, {"line", row.line}, {"function", row.function}, {"share", row.share}});
  }
  Json processes = Json::array();
  for (const LiveGlance::ProcessRow& row : glance.processes) {
    processes.push_back({{"name", row.name},
                         {"pid", row.pid},
                         {"host", row.host},
                         {"ended", row.ended},
                         {"age_s", Seconds(row.age_ns)},
                         {"operation", row.operation ? Json(*row.operation) : Json()},
                         {"gpu_busy_s", Seconds(row.busy_ns)}});
  }
  const bool any = glance.shown_process < glance.processes.size();
  const Json document{{"format", "gpubound.top.v1"},
                      {"run", run},
                      {"simulated", glance.simulated},
                      {"windows_s", Seconds(glance.windows_ns)},
                      {"age_s", Seconds(glance.age_ns)},
                      {"thinned", glance.thinned},
                      {"devices", std::move(devices)},
                      {"operations_of", any ? Json(glance.shown_process) : Json()},
                      {"operations_known", glance.operations_known},
                      {"operations", std::move(operations)},
                      {"iterations", glance.steps},
                      {"work", std::move(work)},
                      {"lines", std::move(lines)},
                      {"processes", std::move(processes)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpubound
