// SPDX-License-Identifier: Apache-2.0
//
// Sorts any number of fixed-size records with bounded memory: what does not fit is written to an
// unnamed file as sorted runs, which are merged while reading. A foreign trace lists its events in
// no useful order, and may be larger than memory.
//
//     Add ... Add | Add ... Add | Add      ->  Finish  ->  Next Next Next ...
//     '- run 0 -'   '- run 1 -'   '- in memory
//
// Rewind() goes back to the first record, as often as is wanted.
// One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_EXTERNAL_SORTER_H_
#define GPUBOUND_ANALYSIS_IMPORT_EXTERNAL_SORTER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/base/spill_file.h"
#include "analysis/base/status.h"

namespace gpubound {

// Record is trivially copyable and has operator<, a total order: no two records that are added are
// equal, or it does not matter which comes first.
template <typename Record>
class ExternalSorter {
 public:
  static_assert(std::is_trivially_copyable_v<Record>);
  static constexpr size_t kRecordsInMemory = (size_t{32} << 20) / sizeof(Record);

  // Runs go to a file without a name in |folder|.
  explicit ExternalSorter(std::string folder, size_t records_in_memory = kRecordsInMemory)
      : spill_(std::move(folder)), records_in_memory_(std::max<size_t>(records_in_memory, 1)) {}

  Status Add(const Record& record) {
    ++size_;
    records_.push_back(record);
    return records_.size() < records_in_memory_ ? Status(Ok{}) : WriteRun();
  }

  uint64_t size() const { return size_; }

  // Call once, after the last Add and before the first Next.
  Status Finish() {
    if (runs_.empty()) {
      std::sort(records_.begin(), records_.end());
      return Ok{};
    }
    if (!records_.empty()) {
      const Status written = WriteRun();
      if (!written.ok()) return written;
    }
    records_.shrink_to_fit();
    return Rewind();
  }

  // Next() gives the first record again. After Finish().
  Status Rewind() {
    next_ = 0;
    heap_.clear();
    for (size_t run = 0; run < runs_.size(); ++run) {
      runs_[run].offset = runs_[run].begin;
      runs_[run].left = runs_[run].count;
      const Status filled = Refill(run);
      if (!filled.ok()) return filled;
      heap_.push_back(run);
    }
    std::make_heap(heap_.begin(), heap_.end(), Later{this});
    return Ok{};
  }

  // The next record in order; false at the end.
  Result<bool> Next(Record* record) {
    if (runs_.empty()) {
      if (next_ == records_.size()) return false;
      *record = records_[next_++];
      return true;
    }
    if (heap_.empty()) return false;
    std::pop_heap(heap_.begin(), heap_.end(), Later{this});
    Run& run = runs_[heap_.back()];
    *record = run.buffer[run.next++];
    if (run.next == run.buffer.size()) {
      const Status filled = Refill(heap_.back());
      if (!filled.ok()) return filled.error();
    }
    if (run.buffer.empty()) {
      heap_.pop_back();
    } else {
      std::push_heap(heap_.begin(), heap_.end(), Later{this});
    }
    return true;
  }

 private:
  static constexpr size_t kReadAhead = std::max<size_t>((size_t{128} << 10) / sizeof(Record), 1);

  struct Run {
    uint64_t begin = 0;   // in bytes
    uint64_t count = 0;   // of its records
    uint64_t offset = 0;  // of what is not read yet, in bytes
    uint64_t left = 0;    // records that are not read yet
    std::vector<Record> buffer;
    size_t next = 0;
  };
  struct Later {
    const ExternalSorter* sorter;
    bool operator()(size_t a, size_t b) const {
      const Run& run_a = sorter->runs_[a];
      const Run& run_b = sorter->runs_[b];
      return run_b.buffer[run_b.next] < run_a.buffer[run_a.next];
    }
  };

  Status WriteRun() {
    std::sort(records_.begin(), records_.end());
    Run run;
    run.begin = spill_.size();
    run.count = records_.size();
    const Status written = spill_.Append(records_.data(), records_.size() * sizeof(Record));
    runs_.push_back(std::move(run));
    records_.clear();
    return written;
  }

  Status Refill(size_t index) {
    Run& run = runs_[index];
    run.next = 0;
    run.buffer.resize(std::min<uint64_t>(run.left, kReadAhead));
    const size_t bytes = run.buffer.size() * sizeof(Record);
    const Status read = spill_.Read(run.offset, run.buffer.data(), bytes);
    run.offset += bytes;
    run.left -= run.buffer.size();
    return read;
  }

  SpillFile spill_;
  const size_t records_in_memory_;
  uint64_t size_ = 0;
  std::vector<Record> records_;  // of the run that is being filled; all, where there are no runs
  size_t next_ = 0;
  std::vector<Run> runs_;
  std::vector<size_t> heap_;  // runs that are not read to their end, earliest record first
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_EXTERNAL_SORTER_H_
