// SPDX-License-Identifier: Apache-2.0
//
// The events of one process straight from the chunks of its segments. Chunks are decoded when the
// engine reaches them in time and dropped when it has passed: memory is one chunk per thread, and
// those chunks of device records whose times overlap. Chunks may come in any order; the more out of
// order, the more of them are held.
//
//   chunks of a family, by earliest begin:   |--A--|
//                                               |---B---|
//                                                        |--C--|      time ->
//   held while their records are merged:     A, then A and B, then B, then C
//
// Meant for processes that closed their trace and whose files are sound. A chunk that turns out to
// be damaged sets failed(): what was read so far is to be thrown away and the process loaded by
// LoadProcess, which accounts for what is missing.
//
// Thread rule: any threads; each cursor is of one.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_CHUNK_SOURCE_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_CHUNK_SOURCE_H_

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/segments/chunk_store.h"
#include "analysis/trace/event_source.h"

namespace gpubound {

class ChunkSource : public EventSource {
 public:
  explicit ChunkSource(std::unique_ptr<ChunkStore> store) : store_(std::move(store)) {}

  std::unique_ptr<ThreadCursor> ThreadEvents(uint32_t thread) const override;
  std::unique_ptr<RecordCursor<ThreadCall>> Calls() const override;
  std::unique_ptr<RecordCursor<ThreadOverhead>> Overheads() const override;
  std::unique_ptr<RecordCursor<DeviceWork>> Work() const override;
  std::unique_ptr<RecordCursor<Sync>> Syncs() const override;
  std::unique_ptr<RecordCursor<CpuTime>> CpuTimes() const override;
  std::unique_ptr<RecordCursor<gpubound::StackLooks>> StackLooks() const override;
  std::vector<uint32_t> FurtherThreads() const override { return store_->further_threads(); }
  bool failed() const override { return store_->failed(); }

 private:
  std::unique_ptr<ChunkStore> store_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_CHUNK_SOURCE_H_
