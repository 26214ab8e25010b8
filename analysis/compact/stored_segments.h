// SPDX-License-Identifier: Apache-2.0
//
// The chunks of a run as they lie in its segments, and their removal. No event is decoded. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_COMPACT_STORED_SEGMENTS_H_
#define GPUBOUND_ANALYSIS_COMPACT_STORED_SEGMENTS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/compact/retention.h"
#include "analysis/segments/process_sums.h"
#include "analysis/segments/trace_file_name.h"
#include "analysis/trace/run.h"

namespace gpubound {

class StoredSegments {
 public:
  // An error where a segment of |folder| cannot be read whole. |meanwhile|: called when one was
  // read, which may change it.
  static Result<StoredSegments> In(const std::string& folder,
                                   const std::function<void()>& meanwhile = {});

  // Until when all that processes recorded is among what is listed, but for those of which
  // |is_whole| says that they had written the last of it before. Kept in mind by who reads the
  // events later: of what was written in between nobody can tell whether it was read.
  int64_t ListedUntil(const std::function<bool(const ProcessIdentity&)>& is_whole) const;

  // Segments of processes that |has_ended| says, and that did not close their trace, count as
  // closed. Without that they may still be written to.
  void MarkEnded(const std::function<bool(const ProcessIdentity&)>& has_ended);

  // Of all segments.
  std::vector<StoredChunk> Chunks() const;

  using Keep = std::function<bool(const StoredChunk&)>;
  // Of a process: how far each writer has been seen, and how far it will be gone when only chunks
  // that |keep| says stay. |before|: what the sums said until now; may be null.
  std::vector<SummedWriter> WritersOf(const ProcessIdentity& process, const ProcessSums* before,
                                      const Keep& keep) const;

  // Whether Thin() would remove any.
  bool WouldThin(const Keep& keep) const;

  // Removes every chunk that does not stay from segments that nobody writes to any more, and
  // segments that only have rows which later ones repeat. Returns the number of events removed.
  Result<uint64_t> Thin(const Keep& keep) const;

 private:
  struct Chunk {
    int64_t id = 0;
    EventFamily family = EventFamily::kNone;
    uint32_t thread = 0;
    uint64_t first_sequence = 0;
    uint64_t next_sequence = 0;
    uint64_t events = 0;
    StoredChunk stored;
    bool tells_end = false;  // nothing else says how long its process lived: it stays
  };
  struct File {
    std::string path;
    ProcessIdentity process;
    uint32_t number = 0;
    bool done = false;                 // sealed, or of a process that has ended
    bool last = false;                 // of its process
    int64_t written_ns = INT64_MIN;    // its newest clock sample
    int64_t delivered_ns = INT64_MAX;  // until when device work is; of a last one
    std::vector<Chunk> chunks;
  };

  static Result<File> ListOnce(const std::string& path, const TraceFileName& name);
  static Result<File> List(const std::string& path, const TraceFileName& name,
                           const std::function<void()>& meanwhile);

  static bool Stays(const Chunk& chunk, const Keep& keep) {
    return chunk.tells_end || keep(chunk.stored);
  }

  std::vector<File> files_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_COMPACT_STORED_SEGMENTS_H_
