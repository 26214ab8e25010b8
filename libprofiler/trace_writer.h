// SPDX-License-Identifier: Apache-2.0
//
// A process's trace as a row of segments: opens them, repeats in each the rows that its chunks
// need, groups what is new into transactions, seals a segment at its size limit and begins the
// next. Confined to the thread that drains (flusher.h).
//
// The first error stops it for good: one line on stderr, one count in the ledger; what was
// committed stays readable.
#ifndef GPUBOUND_LIBPROFILER_TRACE_WRITER_H_
#define GPUBOUND_LIBPROFILER_TRACE_WRITER_H_

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "libprofiler/device_tables.h"
#include "libprofiler/held_chunks.h"
#include "libprofiler/interner.h"
#include "libprofiler/ledger.h"
#include "libprofiler/process_info.h"
#include "libprofiler/python/frame_table.h"
#include "libprofiler/run_directory.h"
#include "libprofiler/sqlite_sink.h"
#include "libprofiler/step_window.h"
#include "libprofiler/thread_registry.h"
#include "proto/live_format.h"

namespace gpubound {

// A log this long is moved into the database when there is time; without time it grows up to the
// segment's size, which bounds it.
inline constexpr uint64_t kIdleLogBytes = 8 << 20;
inline constexpr uint64_t kIdleLogTransactions = 256;  // each rewrites pages of the small tables

class TraceWriter {
 public:
  // Whose rows are written. All outlive the writer.
  struct Tables {
    Interner* labels;
    DeviceTables* devices;
    FrameTable* frames;
    ThreadRegistry* threads;
    Ledger* ledger;
  };

  // |window|: outside of it nothing is written; null: all is. Outlives the writer. |empty|: what
  // empty_segment() was of a fork parent.
  TraceWriter(const RunDirectory& directory, const ProcessStart& start, bool ticks_are_tsc,
              uint64_t segment_bytes, const Tables& tables, const StepWindow* window = nullptr,
              EmptySegment empty = nullptr);

  // Opens the first segment. False: nothing can be written.
  bool Open();
  // From Open() on.
  const EmptySegment& empty_segment() const { return empty_segment_; }

  // How the ticks of thread events are converted, from now on. Outlives the writer.
  void ConvertTicksBy(const ClockConversion* ticks) { ticks_ = ticks; }

  // Looks for rows that are new since the last transaction; true when there are any. Take pages
  // before calling this, so that every id in them has its row.
  bool CollectRows();

  // The window has begun, and what was held back for it is still to be written.
  bool window_begins() const { return holds_back_ && !window_->pending(); }

  // One transaction: what CollectRows found, the chunks put in between, the ledger. Commit says
  // whether all of it is in the database.
  void Begin();
  void PutChunk(const ChunkRow& row) {
    if (holds_back_) return held_.Add(row);
    sink_.PutChunk(row);
  }
  void PutClock(const ClockSample& sample) { sink_.PutClock(sample); }
  // Device work after |until_ns| may not have been delivered; replaces what was said before.
  void PutDeliveredUntil(int64_t until_ns);
  bool Commit();
  // So far, in all segments.
  uint64_t transactions() const { return transactions_; }

  // Housekeeping outside a transaction: checkpoints a long log, seals a full segment.
  void Maintain(bool busy);

  // The last transaction: how and when the process ended. Then Seal().
  void PutEnd(const char* how, int64_t end_monotonic_ns);
  void Seal() { sink_.Seal(); }

  // Stops for good where something else than the sink failed, for the |reason|.
  void GiveUp(const char* reason) noexcept;

  // Any thread.
  bool failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  bool OpenSegment();
  void PutHeaderRows();
  void PutSealed();
  void PutWindow();
  void PutLedger(bool all);
  bool Stop();

  const RunDirectory directory_;
  const ProcessStart start_;
  const bool ticks_are_tsc_;
  const uint64_t segment_bytes_;
  const Tables tables_;
  const StepWindow* const window_;
  const ClockConversion no_conversion_;
  const ClockConversion* ticks_ = &no_conversion_;
  bool holds_back_;  // until the window begins
  HeldChunks held_;

  SqliteSink sink_;
  EmptySegment empty_segment_;
  uint32_t segment_ = 0;
  std::atomic<bool> failed_{false};
  int64_t delivered_until_ns_ = INT64_MIN;

  // Where this segment stands in each table, and the rows found since.
  size_t labels_position_ = 0;
  size_t threads_position_ = 0;
  DeviceTablePositions device_positions_;
  FrameTablePositions frame_positions_;
  std::vector<LabelRow> labels_;
  std::vector<ThreadRow> threads_;
  DeviceTableRows device_rows_;
  FrameTableRows frame_rows_;
  uint64_t ledger_written_[kLiveMaxLedger] = {};
  uint64_t transactions_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_TRACE_WRITER_H_
