// SPDX-License-Identifier: Apache-2.0
//
// One round of moving events from the live mapping into the trace: take pages, encode them into
// chunks, commit them in one transaction, recycle the pages. In that order, so that an event is at
// every instant in the mapping or in the database, and a reader that compares sequence numbers
// counts it once.
//
// Confined to the thread that drains: the flusher, or a test.
#ifndef GPUBOUND_LIBPROFILER_DRAIN_H_
#define GPUBOUND_LIBPROFILER_DRAIN_H_

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <vector>

#include "libprofiler/clock.h"
#include "libprofiler/clock_track.h"
#include "libprofiler/device_source.h"
#include "libprofiler/recording_context.h"
#include "libprofiler/trace_writer.h"
#include "proto/chunk_encoder.h"

namespace gpubound {

class Drain {
 public:
  // All outlive the object. |clock| is read here and nowhere else in the recording's background.
  Drain(RecordingContext* context, TraceWriter* writer, Clock* clock,
        ChunkCompression compression = ChunkCompression::kNone);

  // From here on samples include the source's clock. Any thread; null: none.
  void SetSource(DeviceSource* source) { source_.store(source, std::memory_order_release); }

  // Device work before |until_ns| has been delivered: it is in a page or in the trace. Any thread,
  // one at a time.
  void SetDeliveredUntil(int64_t until_ns);

  // Reads the clocks now, for a slope that holds from the first event on: a process that is killed
  // before its first round has no other samples than those taken while it was set up.
  void SampleClocksAtStart() { SampleClocks(/*force=*/true); }

  // One round. |live|: also what is in pages that are still being written. True when full pages
  // were left behind, so that another round is due at once. Throws nothing: where memory runs out
  // the trace ends, as it does on a full disk.
  bool RunOnce(bool live) noexcept;

  // The last round, when no writer can take a page any more: everything that is left, the first and
  // last clock sample, and how the process ended.
  void Finish(const char* how) noexcept;

 private:
  // How far a page that is still being written has been stored, and the scopes open there.
  struct Progress {
    uint32_t consumed;
    uint32_t open_depth;
    uint32_t open_labels[kMaxOpenScopes];
  };
  // What follows a writer from chunk to chunk.
  struct Writer {
    int64_t max_ns = INT64_MIN;
    uint32_t open_depth = 0;
    uint32_t repeated = 0;  // of them, scopes that are open further out under the same label
  };
  struct LivePart {
    uint32_t page;
    uint32_t end;  // slots or records there when it was looked at
  };

  // Where a page stood before this round.
  struct Stored {
    uint32_t page;
    uint32_t consumed;
  };

  bool Round(bool live);
  void PutEnd(const char* how);
  void GiveUp(const std::exception& failure) noexcept;
  void MeasureOwnedPages();
  uint32_t WrittenSlots(uint32_t page, uint32_t from) const;
  void SampleClocks(bool force);
  void EncodePage(uint32_t page, uint32_t end);
  EncodedChunk EncodeSlots(const LivePageHeader& header, uint32_t page, uint32_t end);
  EncodedChunk EncodeRecords(const LivePageHeader& header, uint32_t page, uint32_t end);
  void StoreChunk(const LivePageHeader& header, const EncodedChunk& chunk, uint32_t taken);
  void CountLost(const LivePageHeader& header, uint64_t events);
  void TakeRoundBack();
  void GiveUpPages();
  void RecycleFull();
  bool IsQuiet(size_t pages_taken);

  RecordingContext* const context_;
  TraceWriter* const writer_;
  Clock* const clock_;
  std::atomic<DeviceSource*> source_{nullptr};
  std::atomic<int64_t> delivered_until_ns_{INT64_MIN};
  int64_t delivered_until_written_ns_ = INT64_MIN;

  ChunkEncoder encoder_;
  ClockTrack ticks_track_;
  ClockTrack source_track_;
  ClockSample last_sample_ = {};
  uint64_t sample_count_ = 0;
  int64_t first_sample_ns_ = 0;
  ClockSample unstored_sample_ = {};  // for the next transaction
  bool has_unstored_sample_ = false;

  // Pages taken since this was last looked at.
  size_t recent_pages_ = 0;
  int64_t recent_since_ns_ = 0;

  // Reused from round to round.
  std::vector<PagePool::FullPage> full_;
  std::vector<uint32_t> owned_;
  std::vector<LivePart> live_;
  std::vector<Stored> before_;
  // By page, for as many as there can ever be: zeroes that take no memory until they are used.
  struct Free {
    void operator()(Progress* memory) const { std::free(memory); }
  };
  const std::unique_ptr<Progress[], Free> progress_;
  std::vector<Writer> writers_;  // by thread ordinal
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_DRAIN_H_
