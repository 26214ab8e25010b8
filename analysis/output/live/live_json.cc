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

template <typename Value>
Json OrNull(const std::optional<Value>& value) {
  return value ? Json(*value) : Json();
}

Json JsonOf(const LiveGlance::ProcessRow& row) {
  Json operations = Json::array();
  for (const LiveGlance::OperationRow& operation : row.operations) {
    operations.push_back({{"name", operation.name}, {"s", Seconds(operation.ns)}});
  }
  Json work = Json::array();
  for (const LiveGlance::WorkRow& of : row.work) {
    work.push_back({{"counter", of.counter}, {"done", of.done}});
  }
  Json lines = Json::array();
  for (const LiveGlance::LineRow& line : row.lines) {
    lines.push_back({{"file", line.file},
                     {"line", line.line},
                     {"function", line.function},
                     {"share", line.share}});
  }
  return {{"name", row.name},
          {"pid", row.pid},
          {"host", row.host},
          {"rank", OrNull(row.rank)},
          {"ended", row.ended},
          {"age_s", Seconds(row.age_ns)},
          {"operation", OrNull(row.operation)},
          {"gpu_busy_s", Seconds(row.busy_ns)},
          {"iterations", row.steps},
          {"operations_known", row.operations_known},
          {"operations", std::move(operations)},
          {"work", std::move(work)},
          {"lines", std::move(lines)}};
}

}  // namespace

std::string RenderGlanceJson(const LiveGlance& glance, const std::string& run) {
  Json devices = Json::array();
  for (const LiveGlance::DeviceRow& row : glance.devices) {
    devices.push_back({{"name", row.name}, {"busy_s", Seconds(row.busy_ns)}});
  }
  Json processes = Json::array();
  for (const LiveGlance::ProcessRow& row : glance.processes) processes.push_back(JsonOf(row));
  const Json document{{"format", "gpubound.top.v1"},
                      {"run", run},
                      {"simulated", glance.simulated},
                      {"windows_s", Seconds(glance.windows_ns)},
                      {"age_s", Seconds(glance.age_ns)},
                      {"thinned", glance.thinned},
                      {"devices", std::move(devices)},
                      {"leading", glance.processes.empty() ? Json() : Json(glance.leading)},
                      {"processes", std::move(processes)}};
  return document.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpubound
