// SPDX-License-Identifier: Apache-2.0
//
// Pieces that are slices of a process in memory. One object, one thread.
#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

#include "analysis/output/tables/event_pieces.h"

namespace gpubound {
namespace {

// As many as the recorder puts into a chunk, about.
constexpr size_t kSlice = 8192;

class MemoryPieces : public EventPieces {
 public:
  explicit MemoryPieces(const ProcessTrace& process) : process_(process) {
    by_thread_.resize(process.threads.size());
    for (uint32_t t = 0; t < process.threads.size(); ++t) {
      const ThreadTrace& thread = process.threads[t];
      SliceEvents(t, thread);
      SliceRecords(EventFamily::kApi, t, thread.calls);
      SliceRecords(EventFamily::kOverhead, t, thread.overheads);
    }
    SliceRecords(EventFamily::kSync, 0, process.syncs);
    SliceRecords(EventFamily::kDevice, 0, process.device_work);
    SliceRecords(EventFamily::kStack, 0, process.stack_looks);
  }

  bool Read(const EventPiece& piece, ThreadPiece* events) override {
    const ThreadTrace& thread = process_.threads[piece.thread];
    *events = {};
    events->gap = piece.gap;
    Copy(piece, thread.events, &events->events);
    events->open = open_[{piece.thread, piece.place}];
    return true;
  }
  bool Read(const EventPiece& piece, std::vector<CallOfTid>* calls) override {
    std::vector<ApiCall> copied;
    Copy(piece, process_.threads[piece.thread].calls, &copied);
    calls->clear();
    for (const ApiCall& call : copied) {
      calls->push_back({call, process_.threads[piece.thread].tid});
    }
    return true;
  }
  bool Read(const EventPiece& piece, std::vector<OverheadOfTid>* overheads) override {
    std::vector<Overhead> copied;
    Copy(piece, process_.threads[piece.thread].overheads, &copied);
    overheads->clear();
    for (const Overhead& overhead : copied) {
      overheads->push_back({overhead, process_.threads[piece.thread].tid});
    }
    return true;
  }
  bool Read(const EventPiece& piece, std::vector<Sync>* syncs) override {
    Copy(piece, process_.syncs, syncs);
    return true;
  }
  bool Read(const EventPiece& piece, std::vector<DeviceWork>* work) override {
    Copy(piece, process_.device_work, work);
    return true;
  }
  bool Read(const EventPiece& piece, std::vector<StackLooks>* looks) override {
    Copy(piece, process_.stack_looks, looks);
    return true;
  }

 private:
  template <typename Record>
  void Copy(const EventPiece& piece, const std::vector<Record>& from, std::vector<Record>* into) {
    ++pieces_read_;
    const auto begin = from.begin() + static_cast<std::ptrdiff_t>(piece.place);
    into->assign(begin, begin + static_cast<std::ptrdiff_t>(piece.count));
  }

  // A slice ends before events that are missing.
  void SliceEvents(uint32_t index, const ThreadTrace& thread) {
    auto reset = thread.resets.begin();
    std::vector<LabelId> open;
    for (size_t begin = 0; begin < thread.events.size();) {
      while (reset != thread.resets.end() && reset->event_index < begin) ++reset;
      const bool gap = reset != thread.resets.end() && reset->event_index == begin;
      if (gap) open = (reset++)->open;
      if (!open.empty()) open_[{index, begin}] = open;
      size_t end = std::min(begin + kSlice, thread.events.size());
      if (reset != thread.resets.end()) end = std::min(end, reset->event_index);
      by_thread_[index].push_back({thread.events[begin].time_ns, thread.events[end - 1].time_ns,
                                   begin, end - begin, index, gap});
      for (; begin < end; ++begin) Follow(thread.events[begin], &open);
    }
  }

  static void Follow(const ThreadEvent& event, std::vector<LabelId>* open) {
    if (event.kind == SlotKind::kBegin) open->push_back(event.label);
    if (event.kind != SlotKind::kEnd) return;
    const auto innermost = std::find(open->rbegin(), open->rend(), event.label);
    if (innermost != open->rend()) open->erase(std::next(innermost).base());
  }

  template <typename Record>
  void SliceRecords(EventFamily family, uint32_t thread, const std::vector<Record>& records) {
    for (size_t begin = 0; begin < records.size(); begin += kSlice) {
      const size_t end = std::min(begin + kSlice, records.size());
      EventPiece piece{records[begin].start_ns, INT64_MIN, begin, end - begin, thread, false};
      for (size_t i = begin; i < end; ++i) piece.max_ns = std::max(piece.max_ns, records[i].end_ns);
      by_family_[static_cast<size_t>(family)].push_back(piece);
    }
  }

  const ProcessTrace& process_;
  // What is open before a slice of thread events, by thread and first event; none: nothing is.
  std::map<std::pair<uint32_t, size_t>, std::vector<LabelId>> open_;
};

}  // namespace

std::unique_ptr<EventPieces> PiecesInMemory(const ProcessTrace& process) {
  return std::make_unique<MemoryPieces>(process);
}

}  // namespace gpubound
