// SPDX-License-Identifier: Apache-2.0
//
// Pieces that are chunks of segments. One object, one thread.
#include <algorithm>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/output/tables/event_pieces.h"
#include "proto/chunk_decoder.h"

namespace gpubound {
namespace {

struct Place {
  size_t segment = 0;
  ChunkHead head;
};

class ChunkPieces : public EventPieces {
 public:
  ChunkPieces(const ProcessTrace& process, std::vector<Segment> segments)
      : process_(process), segments_(std::move(segments)) {
    by_thread_.resize(process.threads.size());
    ReadHeads();
    PlanPieces();
  }

  bool Read(const EventPiece& piece, ThreadPiece* thread) override {
    *thread = {};
    if (!Decode(piece, &thread_events_)) return false;
    thread->gap = piece.gap || thread_events_.dropped_before != 0;
    thread->open = thread_events_.open_labels;
    thread->events = thread_events_.events;
    // Time never runs backwards within a thread, across its chunks neither.
    for (ThreadEvent& event : thread->events) event.time_ns = std::max(event.time_ns, piece.min_ns);
    return true;
  }

  bool Read(const EventPiece& piece, std::vector<CallOfTid>* calls) override {
    calls->clear();
    if (!Decode(piece, &api_)) return false;
    for (size_t i = 0; i < api_.size(); ++i) {
      calls->push_back(
          {{api_.start_ns[i], api_.end_ns[i], api_.correlation[i], api_.label[i], api_.result[i]},
           api_.tid[i]});
    }
    return true;
  }

  bool Read(const EventPiece& piece, std::vector<OverheadOfTid>* overheads) override {
    overheads->clear();
    if (!Decode(piece, &overhead_)) return false;
    for (size_t i = 0; i < overhead_.size(); ++i) {
      overheads->push_back({{overhead_.start_ns[i], overhead_.end_ns[i], overhead_.correlation[i],
                             overhead_.label[i]},
                            overhead_.tid[i]});
    }
    return true;
  }

  bool Read(const EventPiece& piece, std::vector<Sync>* syncs) override {
    syncs->clear();
    if (!Decode(piece, &sync_)) return false;
    for (size_t i = 0; i < sync_.size(); ++i) {
      syncs->push_back({sync_.start_ns[i], sync_.end_ns[i], sync_.event[i], sync_.correlation[i],
                        sync_.type[i], sync_.context[i], sync_.stream[i]});
    }
    return true;
  }

  bool Read(const EventPiece& piece, std::vector<DeviceWork>* work) override {
    work->clear();
    if (!Decode(piece, &device_)) return false;
    for (size_t i = 0; i < device_.size(); ++i) {
      const WorkDetail detail = device_.DetailOf(i);
      work->push_back({device_.start_ns[i], device_.end_ns[i], detail.bytes, detail.graph_node,
                       device_.correlation[i], detail.graph, device_.stream[i], device_.work[i]});
    }
    return true;
  }

  bool Read(const EventPiece& piece, std::vector<StackLooks>* looks) override {
    looks->clear();
    if (!Decode(piece, &stack_)) return false;
    for (size_t i = 0; i < stack_.size(); ++i) {
      looks->push_back({stack_.start_ns[i], stack_.end_ns[i], stack_.tid[i],
                        process_.KnownFrame(stack_.frame[i]), stack_.looks[i], stack_.runnable[i]});
    }
    return true;
  }

 private:
  // Of each writer in the order of its sequence numbers.
  void ReadHeads() {
    for (size_t s = 0; s < segments_.size(); ++s) {
      for (ChunkHead& head : segments_[s].ReadChunkHeads()) {
        places_.push_back({s, head});
      }
      const SegmentDamage& damage = segments_[s].damage();
      if (damage.Any()) problems_.push_back(NoteOn(segments_[s].path(), damage, 0));
    }
    std::stable_sort(places_.begin(), places_.end(), [](const Place& a, const Place& b) {
      return std::tie(a.head.row.family, a.head.row.thread, a.head.row.first_sequence) <
             std::tie(b.head.row.family, b.head.row.thread, b.head.row.first_sequence);
    });
  }

  void PlanPieces() {
    std::unordered_map<uint32_t, uint32_t> by_ordinal;
    for (uint32_t t = 0; t < process_.threads.size(); ++t) {
      by_ordinal[Raw(process_.threads[t].ordinal)] = t;
    }
    std::pair<EventFamily, uint32_t> writer{EventFamily::kNone, 0};
    uint64_t covered = 0;  // of this writer's sequence
    int64_t latest_ns = INT64_MIN;
    for (size_t place = 0; place < places_.size(); ++place) {
      const ChunkRow& row = places_[place].head.row;
      if (row.family < EventFamily::kThread || row.family > kLastEventFamily) continue;
      if (writer != std::pair(row.family, row.thread)) {
        writer = {row.family, row.thread};
        covered = 0;
        latest_ns = INT64_MIN;
      }
      // A chunk may be stored twice, at a segment's end.
      const uint64_t next = row.first_sequence + row.sequence_count;
      if (next <= covered && row.sequence_count != 0) continue;
      EventPiece piece{row.min_ns,      row.max_ns, place,
                       row.event_count, 0,          row.first_sequence > covered};
      covered = std::max(covered, next);
      if (row.family != EventFamily::kThread) {
        by_family_[static_cast<size_t>(row.family)].push_back(piece);
        continue;
      }
      latest_ns = std::max(latest_ns, piece.min_ns);
      piece.min_ns = latest_ns;
      latest_ns = piece.max_ns = std::max(latest_ns, piece.max_ns);
      const auto thread = by_ordinal.find(row.thread);
      if (thread == by_ordinal.end()) continue;  // LoadProcess gave every writer a thread
      piece.thread = thread->second;
      by_thread_[thread->second].push_back(piece);
    }
  }

  template <typename Events>
  bool Decode(const EventPiece& piece, Events* events) {
    ++pieces_read_;
    Place& place = places_[piece.place];
    Segment& segment = segments_[place.segment];
    ChunkStatus status{ChunkError::kTruncated, 0, 0, 0, "its body cannot be read"};
    if (segment.ReadChunkBody(&place.head)) status = decoder_.Decode(place.head.row, events);
    place.head.row.body = {};
    if (status.ok()) return true;
    std::string problem = segment.path() + ": chunk " + std::to_string(place.head.id) +
                          " is damaged (" + ChunkErrorName(status.error) + ": " + status.what +
                          "); with it " + Counted(piece.count, "event") +
                          (piece.count == 1 ? " is missing." : " are missing.");
    if (std::find(problems_.begin(), problems_.end(), problem) == problems_.end()) {
      problems_.push_back(std::move(problem));
    }
    return false;
  }

  const ProcessTrace& process_;
  std::vector<Segment> segments_;
  std::vector<Place> places_;
  ChunkDecoder decoder_;
  ThreadEvents thread_events_;
  ApiEvents api_;
  OverheadEvents overhead_;
  SyncEvents sync_;
  DeviceEvents device_;
  StackEvents stack_;
};

}  // namespace

std::unique_ptr<EventPieces> PiecesOfSegments(const ProcessTrace& process,
                                              std::vector<Segment> segments) {
  return std::make_unique<ChunkPieces>(process, std::move(segments));
}

}  // namespace gpubound
