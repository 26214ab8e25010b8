// SPDX-License-Identifier: Apache-2.0
//
// What a killed process left in its live mapping (proto/live_format.h): names, threads, clock
// samples, counters, and the events that its database does not hold yet. The file may be torn at
// any byte: nothing in it is trusted, every offset is checked. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_LIVE_SALVAGE_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_LIVE_SALVAGE_H_

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/segments/event_store.h"
#include "analysis/trace/run.h"
#include "proto/clock_conversion.h"
#include "proto/live_format.h"

namespace gpubound {

// For each writer (family, thread) the sequence number after the last one that is stored.
using Coverage = std::map<std::pair<EventFamily, uint32_t>, uint64_t>;

// What the mapping had beyond the database.
struct Salvaged {
  uint64_t events = 0;
  uint64_t missing = 0;       // numbers that neither has
  bool work_missing = false;  // some of these are of device work
};

class LiveFile {
 public:
  // |meanwhile|: called when all was read once.
  static Result<LiveFile> Open(const std::string& path,
                               const std::function<void()>& meanwhile = {});

  const LiveHeader& header() const { return header_; }
  // That its process had written into its database, at least; 0 where it did not say.
  uint64_t transactions() const;
  // The process has said whose it is, which it does before it makes its first database.
  bool made() const { return header_.version == kLiveVersion; }
  // False: the process ended before it could record anything.
  bool begun() const { return header_.magic == kLiveMagic; }
  // False: the file is shorter than it was.
  bool whole() const { return bytes_.size() >= header_.file_size; }

  // Adds labels, threads, clock samples and counters that |process| lacks, and since when device
  // work is undelivered unless it |closed| its trace: the mapping may be older than that.
  void MergeRows(ProcessTrace* process, bool closed) const;

  // Adds the events beyond |coverage| to |store|. |process| holds all clock samples.
  Salvaged AddEvents(const ProcessTrace& process, const Coverage& coverage,
                     EventStore* store) const;

 private:
  struct Page {
    LivePageHeader header;
    size_t body_offset;
  };

  template <typename T>
  bool ReadAt(size_t offset, T* value) const;
  // A process that runs fills pages and takes others while the file is read, also such as lie
  // before those that are still to be read: reads again what has changed hands since it was read.
  // What was given back meanwhile is in the database, which is read later.
  void CatchUp(const std::string& path);
  bool Grow(const std::string& path, std::ifstream* file);
  void MergeDelivery(ProcessTrace* process) const;
  std::vector<Page> PagesInOrder() const;
  // Both return how many sequence numbers were taken: slots, of which an event has one or two, and
  // records.
  uint64_t AddThreadPage(const Page& page, uint64_t skip, bool gap, const ClockConversion& clock,
                         EventStore* store, uint64_t* added) const;
  template <typename Record>
  uint64_t AddRecordPage(const Page& page, uint64_t skip, const ClockConversion& clock,
                         EventStore* store, uint64_t* added) const;

  std::vector<std::byte> bytes_;
  LiveHeader header_{};
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_LIVE_SALVAGE_H_
