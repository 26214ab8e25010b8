// SPDX-License-Identifier: Apache-2.0
//
// What the simulated device says that really happened ($GPUBOUND_SIM_TRUTH), for tests that compare
// a report with it. Pure.
#ifndef GPUBOUND_TESTS_INTEGRATION_DEVICE_TRUTH_H_
#define GPUBOUND_TESTS_INTEGRATION_DEVICE_TRUTH_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gpubound {

// Length of the union of |intervals|.
inline int64_t UnionNs(std::vector<std::pair<int64_t, int64_t>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  int64_t total = 0;
  int64_t covered_until = 0;
  for (const auto& [start, end] : intervals) {
    total += std::max<int64_t>(0, end - std::max(start, covered_until));
    covered_until = std::max(covered_until, end);
  }
  return total;
}

// Wall time of the work of |truth| that is |wanted|.
template <typename Wanted>
int64_t BusyNs(const nlohmann::json& truth, Wanted wanted) {
  std::vector<std::pair<int64_t, int64_t>> intervals;
  for (const nlohmann::json& op : truth["ops"]) {
    if (wanted(op)) intervals.emplace_back(op["start_ns"], op["end_ns"]);
  }
  return UnionNs(std::move(intervals));
}

// That of the work called one of |names|; copies are called "memcpy".
inline int64_t BusyNsOf(const nlohmann::json& truth, const std::vector<std::string>& names) {
  return BusyNs(truth, [&names](const nlohmann::json& op) {
    const std::string name = op["kind"] == "memcpy" ? "memcpy" : op["name"].get<std::string>();
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

// Device times pass through two clocks, sampled within a bracket each; a piece of work changes its
// length by at most the drift between them.
inline void ExpectSameTime(const nlohmann::json& reported, int64_t truth, const std::string& what) {
  const int64_t tolerance = truth / 1000 + 1000;
  EXPECT_NEAR(static_cast<double>(reported.get<int64_t>()), static_cast<double>(truth),
              static_cast<double>(tolerance))
      << what;
}

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_INTEGRATION_DEVICE_TRUTH_H_
