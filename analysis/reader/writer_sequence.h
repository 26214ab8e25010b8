// SPDX-License-Identifier: Apache-2.0
//
// Follows the sequence numbers of the writers of a process from chunk to chunk, to tell what is
// stored twice and what is missing:
//
//   numbers    0      10     20     30     40
//   chunks     |--A---|--B---|      |--D---|     10 are missing before D
//
// Events that the recorder dropped take no number, so a gap is a loss of what had been stored,
// unless the events went when a run was summed (docs/long_runs.md). One object, one thread.
#ifndef GPUBOUND_ANALYSIS_READER_WRITER_SEQUENCE_H_
#define GPUBOUND_ANALYSIS_READER_WRITER_SEQUENCE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/segments/live_salvage.h"
#include "analysis/segments/process_sums.h"
#include "proto/chunk_row.h"

namespace gpubound {

class WriterSequence {
 public:
  // |sums|: of the time whose events may be gone; null where none are. Outlives the object.
  explicit WriterSequence(const ProcessSums* sums) : sums_(sums) {}

  // Nothing is missing before the first chunk of a writer, whatever its number.
  void BeginAnywhere() { begins_anywhere_ = true; }

  struct Step {
    bool repeated = false;  // all of it was there already
    bool gap = false;       // what was decoded last is not what comes before it
    bool thinned = false;   // of what comes before it, a compaction removed some
    uint64_t missing = 0;   // numbers before it that no chunk has
    int64_t after_ns = 0;   // what is missing lies behind it
  };
  // To |row|, the next chunk of its writer or the first one of another; |begin_ns|: of the span.
  // Chunks of a writer come in the order of their numbers.
  Step To(const ChunkRow& row, int64_t begin_ns);
  // The events of |row|, to which the last step went, are there.
  void Decoded(const ChunkRow& row);

  // Events of |row| that had been written after the time that they may belong to was summed. How
  // many they are is not looked up: at most all.
  uint64_t LateEvents(const ChunkRow& row) const;

  // Threads whose last events are gone, as chunks name them.
  std::vector<uint32_t> ThinnedTails() const;

  // How far each writer is stored, or was and is gone.
  Coverage Stored() const;

 private:
  const SummedWriter* WriterInSums(const ChunkRow& row) const;

  const ProcessSums* sums_;
  bool begins_anywhere_ = false;
  Coverage coverage_;
  std::pair<EventFamily, uint32_t> writer_{EventFamily::kNone, 0};
  uint64_t decoded_until_ = 0;  // of this writer
  int64_t last_end_ns_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_WRITER_SEQUENCE_H_
