// SPDX-License-Identifier: Apache-2.0
//
// A growing table of rows in memory (works, streams, devices, threads), copied out by the
// background thread: each segment needs all rows, each transaction those since the last. Replacing
// a row puts it at the end again. Not thread safe: its owner locks.
#ifndef GPUBOUND_LIBPROFILER_ROW_JOURNAL_H_
#define GPUBOUND_LIBPROFILER_ROW_JOURNAL_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpubound {

template <typename Row>
class RowJournal {
 public:
  size_t Add(Row row) {
    rows_.push_back(std::move(row));
    order_.push_back(static_cast<uint32_t>(rows_.size() - 1));
    return rows_.size() - 1;
  }

  // The caller changes the row that it gets.
  Row& Replace(size_t index) {
    order_.push_back(static_cast<uint32_t>(index));
    return rows_[index];
  }

  const Row& row(size_t index) const { return rows_[index]; }
  size_t size() const { return rows_.size(); }

  // Appends the rows written since |*position| (0: all) and moves it on. A row that was replaced
  // meanwhile may come twice; the later one counts, and both are current.
  void CopySince(size_t* position, std::vector<Row>* out) const {
    for (; *position < order_.size(); ++*position) out->push_back(rows_[order_[*position]]);
  }

 private:
  std::vector<Row> rows_;
  std::vector<uint32_t> order_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_ROW_JOURNAL_H_
