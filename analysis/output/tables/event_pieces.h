// SPDX-License-Identifier: Apache-2.0
//
// The events of one process in pieces of a few thousand that say what time they cover without being
// read: what a query needs that looks at a part of a run. Where the engine's EventSource goes from
// begin to end, a reader here takes any piece, in any order.
//
//   pieces of a family   |---A---| |--B--|   |----C----|
//   a query's range               |=======|                 reads B only
//
// Pieces of sound processes are the chunks of their segments, read and decoded one at a time; those
// of processes that had to be loaded whole are slices of what is in memory, as are thread events in
// which operations were named (analysis/naming). A chunk that turns out
// to be damaged is passed over and named in problems().
//
// Thread rule: one thread at a time.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_EVENT_PIECES_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_EVENT_PIECES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/segments/segment.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct EventPiece {
  int64_t min_ns = 0;   // earliest begin
  int64_t max_ns = 0;   // latest end
  size_t place = 0;     // where it lies; known to the object that made it
  size_t count = 0;     // of events
  uint32_t thread = 0;  // an index into ProcessTrace::threads; of records in memory and of events
  bool gap = false;     // events of the thread are missing before it
};

// Events of one thread, and what is open before the first of them.
struct ThreadPiece {
  std::vector<ThreadEvent> events;
  std::vector<LabelId> open;  // outermost first
  bool gap = false;
};

// Records with the system id of the thread that they belong to.
struct CallOfTid {
  ApiCall call;
  uint32_t tid = 0;
};
struct OverheadOfTid {
  Overhead overhead;
  uint32_t tid = 0;
};

class EventPieces {
 public:
  virtual ~EventPieces() = default;

  // In the order in which the thread made them; |thread| below ProcessTrace::threads.size().
  const std::vector<EventPiece>& OfThread(uint32_t thread) const { return by_thread_[thread]; }
  size_t threads() const { return by_thread_.size(); }
  // In no particular order.
  const std::vector<EventPiece>& OfFamily(EventFamily family) const {
    return by_family_[static_cast<size_t>(family)];
  }

  // Replaces the content of the last argument. False where the piece is damaged.
  virtual bool Read(const EventPiece& piece, ThreadPiece* events) = 0;
  virtual bool Read(const EventPiece& piece, std::vector<CallOfTid>* calls) = 0;
  virtual bool Read(const EventPiece& piece, std::vector<OverheadOfTid>* overheads) = 0;
  virtual bool Read(const EventPiece& piece, std::vector<Sync>* syncs) = 0;
  virtual bool Read(const EventPiece& piece, std::vector<DeviceWork>* work) = 0;
  virtual bool Read(const EventPiece& piece, std::vector<StackLooks>* looks) = 0;

  virtual uint64_t pieces_read() const { return pieces_read_; }
  virtual const std::vector<std::string>& problems() const { return problems_; }

 protected:
  std::vector<std::vector<EventPiece>> by_thread_;
  std::array<std::vector<EventPiece>, static_cast<size_t>(kLastEventFamily) + 1> by_family_;
  uint64_t pieces_read_ = 0;
  std::vector<std::string> problems_;
};

// |process| holds the rows and outlives the result; |segments| are all of its segments, ascending.
std::unique_ptr<EventPieces> PiecesOfSegments(const ProcessTrace& process,
                                              std::vector<Segment> segments);

// Of a process that is in memory. |process| outlives the result.
std::unique_ptr<EventPieces> PiecesInMemory(const ProcessTrace& process);

// Thread events of the first, everything else of the second.
std::unique_ptr<EventPieces> PiecesJoined(std::unique_ptr<EventPieces> threads,
                                          std::unique_ptr<EventPieces> records);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_EVENT_PIECES_H_
