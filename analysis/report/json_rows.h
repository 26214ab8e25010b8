// SPDX-License-Identifier: Apache-2.0
//
// How lists and values that may be absent are written as JSON. Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_JSON_ROWS_H_
#define GPUBOUND_ANALYSIS_REPORT_JSON_ROWS_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace gpubound {

using OrderedJson = nlohmann::ordered_json;  // keeps the order of the specification

template <typename T>
OrderedJson OrNull(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

// Each of |rows| by |render|.
template <typename Row, typename Render>
OrderedJson ArrayOf(const std::vector<Row>& rows, Render render) {
  OrderedJson array = OrderedJson::array();
  for (const Row& row : rows) array.push_back(render(row));
  return array;
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_JSON_ROWS_H_
