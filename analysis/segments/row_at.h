// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table of a segment, kept by id. Pure.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_ROW_AT_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_ROW_AT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpubound {

// Ids above this are damage, not data: no table of ours grows so far.
inline constexpr int64_t kMaxRowId = 1 << 24;

// The row of |id|, making room for it; null for an id that cannot be.
template <typename Row>
Row* RowAt(std::vector<Row>* rows, int64_t id) {
  if (id <= 0 || id > kMaxRowId) return nullptr;
  if (static_cast<size_t>(id) >= rows->size()) rows->resize(static_cast<size_t>(id) + 1);
  return &(*rows)[static_cast<size_t>(id)];
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_ROW_AT_H_
