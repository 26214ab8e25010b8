// SPDX-License-Identifier: Apache-2.0
//
// What was added to a segment since it was last looked at. The file is opened for each look and
// closed after it, so that no read transaction stands in the way of the program that writes it, and
// only rows and chunks beyond the last ones seen are read. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_SEGMENT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_SEGMENT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/segments/chunk_head.h"
#include "analysis/segments/sqlite.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What is known of a process beside its events; later looks add to it.
struct LiveFacts {
  std::string name;
  std::string boot_id;                  // of its machine; empty where it is not told
  int64_t pid_namespace = 0;            // of its pid; 0 unknown
  std::optional<int64_t> rank;          // as the launcher calls it
  bool simulated = false;               // its device is a simulated one
  std::vector<Label> labels;            // by id
  std::vector<Device> devices;          // by id
  std::vector<Stream> streams;          // by id
  std::vector<uint32_t> tids;           // of threads, by ordinal
  ProcessFacts python;                  // functions and frames alone
  uint32_t main_thread = 0;             // ordinal; 0 unknown
  int64_t begin_ns = INT64_MAX;         // of the process
  int64_t latest_ns = INT64_MIN;        // until when events are there
  std::optional<int64_t> delivered_ns;  // until when device work is, where that is less
  std::optional<int64_t> end_ns;        // the process has closed
  bool gone = false;                // it has ended without; nothing of it comes behind latest_ns
  int64_t sampled_realtime_ns = 0;  // when the recorder last looked at the clocks; 0 unknown
  int64_t realtime_ahead_ns = 0;    // CLOCK_REALTIME minus trace time, where that is known
};

class LiveSegment {
 public:
  explicit LiveSegment(std::string path) : path_(std::move(path)) {}

  // Adds the rows that are new to |facts|, and lists the new chunks, without bodies. Does nothing
  // where the file has not changed. An error is about this look only; the next may succeed.
  Status Look(LiveFacts* facts);

  // Calls |take| for those of the chunks listed by the last Look that are |wanted|, with bodies.
  void ReadChunks(const std::function<bool(const ChunkRow&)>& wanted,
                  const std::function<void(const ChunkRow&)>& take);

  // Chunks that the last Look found, oldest first.
  const std::vector<ChunkHead>& chunks() const { return chunks_; }

  // Closes the file until the next Look.
  void Rest();

 private:
  // Sizes and times of change of the database and its log.
  struct Stamp {
    uint64_t size = 0;
    uint64_t log_size = 0;
    int64_t changed = 0;
    int64_t log_changed = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  Stamp StampOf() const;
  void ReadRows(LiveFacts* facts);
  void ReadFrames(ProcessFacts* python);

  const std::string path_;
  std::optional<Stamp> seen_;
  std::optional<Database> database_;
  int64_t last_label_ = 0;
  int64_t last_function_ = 0;
  int64_t last_frame_ = 0;
  int64_t last_chunk_ = 0;
  std::vector<ChunkHead> chunks_;  // by id
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_SEGMENT_H_
