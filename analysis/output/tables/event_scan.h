// SPDX-License-Identifier: Apache-2.0
//
// Walks those pieces of a run that a filter asks for, one event at a time. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_EVENT_SCAN_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_EVENT_SCAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/output/tables/trace_table.h"

namespace gpubound {

// Records of one family over all processes.
template <typename Record>
class RecordScan {
 public:
  RecordScan(TraceRun* run, const RowFilter& filter, EventFamily family)
      : run_(*run), filter_(filter), family_(family) {}

  // Null at the end; valid until the next call.
  const Record* Next() {
    if constexpr (requires(const Record& record) { CorrelationOf(record); }) {
      if (filter_.correlation) return NextOfCorrelation();
    }
    while (at_ == records_.size()) {
      if (!NextPiece()) return nullptr;
    }
    return &records_[at_++];
  }
  size_t process() const { return process_; }  // of the record that Next() returned

 private:
  bool NextPiece() {
    at_ = 0;
    records_.clear();
    for (; process_ < run_.processes(); ++process_, piece_ = 0) {
      if (!filter_.TakesProcess(process_)) continue;
      const std::vector<EventPiece>& pieces = run_.pieces(process_).OfFamily(family_);
      while (piece_ < pieces.size()) {
        const EventPiece& piece = pieces[piece_++];
        if (!filter_.Takes(piece)) continue;
        if (run_.pieces(process_).Read(piece, &records_)) return true;
      }
    }
    return false;
  }

  const Record* NextOfCorrelation() {
    for (; process_ < run_.processes(); ++process_, at_ = 0) {
      if (!filter_.TakesProcess(process_)) continue;
      CorrelatedRecords<Record>& records = run_.correlated<Record>(process_);
      const auto places = records.Of(*filter_.correlation);
      while (at_ < places.size()) {
        if (const Record* record = records.At(places[at_++], &shared_)) return record;
      }
    }
    return nullptr;
  }

  TraceRun& run_;
  const RowFilter filter_;
  const EventFamily family_;
  size_t process_ = 0;
  size_t piece_ = 0;  // the next one
  std::vector<Record> records_;
  size_t at_ = 0;  // of |records_|, or of the places of a correlation
  std::shared_ptr<const std::vector<Record>> shared_;  // what the last of these lies in
};

// Events of threads, each on its own; for what needs no look at the events around it.
class ThreadEventScan {
 public:
  ThreadEventScan(TraceRun* run, const RowFilter& filter) : run_(*run), filter_(filter) {}

  const ThreadEvent* Next();
  size_t process() const { return process_; }
  size_t thread() const { return thread_; }

 private:
  bool NextPiece();

  TraceRun& run_;
  const RowFilter filter_;
  size_t process_ = 0;
  size_t thread_ = 0;
  size_t piece_ = 0;
  ThreadPiece read_;
  size_t at_ = 0;
};

// Which thread of a process a system id meant at a time: ids are used again, and then it is the
// last thread that had begun.
class ThreadFinder {
 public:
  explicit ThreadFinder(TraceRun* run) : run_(*run) {}

  static constexpr size_t kNone = ~size_t{0};
  size_t Find(size_t process, uint32_t tid, int64_t time_ns);

 private:
  struct OfTid {
    int64_t first_ns;
    size_t thread;
  };
  TraceRun& run_;
  std::vector<std::unordered_map<uint32_t, std::vector<OfTid>>> by_tid_;  // by process
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_EVENT_SCAN_H_
