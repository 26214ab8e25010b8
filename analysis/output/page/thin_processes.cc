// SPDX-License-Identifier: Apache-2.0
//
// Removes what a table of many processes does not show. No state.
#include "analysis/output/page/thin_processes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

using Json = OrderedJson;

constexpr std::array<std::string_view, 11> kOfProcess = {"host",
                                                         "pid",
                                                         "rank",
                                                         "name",
                                                         "parent",
                                                         "start_ns",
                                                         "span_ns",
                                                         "gpu_busy_ns",
                                                         "operations",
                                                         "gpu_wait_ns",
                                                         "gpu_busy_is_upper_bound"};
constexpr std::array<std::string_view, 14> kOfOperation = {
    "operation",  "wall_ns",      "cpu_only_ns", "cpu_gpu_ns",        "gpu_only_ns",
    "waiting_ns", "idle_ns",      "unknown_ns",  "gpu_busy_ns",       "gpu_caused_ns",
    "count",      "sm_filled_ns", "inherited",   "other_threads_only"};

template <size_t kCount>
bool IsOneOf(const std::array<std::string_view, kCount>& keys, const std::string& key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

bool SaysNothing(const Json& value) { return value == 0 || value == false; }

// Removes from the object |json| what |is_to_go|(key, value) says.
template <typename IsToGo>
void Remove(Json* json, IsToGo is_to_go) {
  Json left = Json::object();
  for (auto& [key, value] : json->items()) {
    if (!is_to_go(key, value)) left[key] = std::move(value);
  }
  *json = std::move(left);
}

}  // namespace

std::vector<bool> DetailedProcesses(const Report& report, size_t most) {
  const size_t count = report.processes.size();
  if (count <= most) return std::vector<bool>(count, true);
  std::map<std::pair<std::string, int64_t>, int64_t> waited_for_ns;
  for (const ReportRank& rank : report.ranks) {
    waited_for_ns[{rank.host, rank.pid}] += rank.waited_for_ns;
  }
  const ReportProcess* told = ToldProcess(report);
  const auto weight = [&](size_t index) {
    const ReportProcess& process = report.processes[index];
    if (&process == told) return INT64_MAX;
    const auto waited = waited_for_ns.find({process.host, process.pid});
    return waited == waited_for_ns.end() ? 0 : waited->second;
  };
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&weight](size_t a, size_t b) { return weight(a) > weight(b); });
  std::vector<bool> detailed(count);
  for (size_t i = 0; i < most; ++i) detailed[order[i]] = true;
  return detailed;
}

void ThinProcess(Json* process) {
  Remove(process, [](const std::string& key, const Json&) { return !IsOneOf(kOfProcess, key); });
  for (Json& row : (*process)["operations"]) {
    Remove(&row, [](const std::string& key, const Json& value) {
      return !IsOneOf(kOfOperation, key) || SaysNothing(value);
    });
  }
}

void ThinOperationDevices(size_t most, Json* rows) {
  if (rows->size() <= most) return;
  std::stable_sort(rows->begin(), rows->end(), [](const Json& a, const Json& b) {
    return a["wall_ns"].get<int64_t>() > b["wall_ns"].get<int64_t>();
  });
  Json others{{"operation", "(" + std::to_string(rows->size() - most + 1) + " others)"},
              {"device", ""},
              {"busy_is_upper_bound", false}};
  for (const char* key : {"wall_ns", "busy_ns", "idle_ns", "unknown_ns"}) {
    int64_t sum_ns = 0;
    for (size_t i = most - 1; i < rows->size(); ++i) sum_ns += (*rows)[i][key].get<int64_t>();
    others[key] = sum_ns;
  }
  Json left = Json::array();
  for (size_t i = 0; i < rows->size(); ++i) {
    if (i < most - 1) {
      left.push_back(std::move((*rows)[i]));
    } else if ((*rows)[i]["busy_is_upper_bound"]) {
      others["busy_is_upper_bound"] = true;
    }
  }
  left.push_back(std::move(others));
  *rows = std::move(left);
}

}  // namespace gpubound
