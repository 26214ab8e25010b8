// SPDX-License-Identifier: Apache-2.0
//
// Reads a process's rows, then its chunks in the order of each writer's sequence, then what only
// the live mapping holds. One object, one thread.
#include "analysis/process_loader.h"

#include <algorithm>
#include <charconv>
#include <tuple>

#include "analysis/event_store.h"
#include "proto/chunk_decoder.h"

namespace gpubound {
namespace {

std::string TextOf(const MetaRows& meta, const char* key) {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

std::optional<int64_t> IntOf(const MetaRows& meta, const char* key) {
  const std::string text = TextOf(meta, key);
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc()) return std::nullopt;
  return value;
}

std::vector<std::string> SplitAtNul(const std::string& text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

const char* FamilyName(EventFamily family) {
  switch (family) {
    case EventFamily::kThread:
      return "thread events";
    case EventFamily::kApi:
      return "API calls";
    case EventFamily::kDevice:
      return "device work";
    case EventFamily::kSync:
      return "synchronisations";
    case EventFamily::kOverhead:
      return "overheads";
    case EventFamily::kNone:
      break;
  }
  return "events of no known family";
}

class Loader {
 public:
  Loader(ProcessTrace* process, std::vector<Segment>* segments, std::vector<std::string>* problems)
      : process_(*process), segments_(*segments), problems_(*problems) {}

  void Load(const std::optional<LiveFile>& live) {
    for (Segment& segment : segments_) {
      segment.ReadRows(&process_, &problems_);
      ReadMeta(segment.meta());
    }
    if (live) {
      live->MergeRows(&process_);
      if (!begin_ns_) begin_ns_ = live->header().start_monotonic_ns;
    }
    process_.span_begin_ns = begin_ns_.value_or(0);
    EventStore store(&process_);
    ReadChunks(&store);
    if (live) {
      process_.Count(LedgerCounter::events_salvaged) +=
          live->AddEvents(process_, coverage_, &store);
    }
    store.Finish();
    CloseSpan();
  }

 private:
  struct ChunkPlace {
    size_t segment;
    Segment::ChunkHead head;
  };

  void ReadMeta(const MetaRows& meta) {
    if (meta.empty()) return;
    process_.parent_pid = IntOf(meta, "parent_pid").value_or(0);
    process_.name = TextOf(meta, "name");
    process_.command = SplitAtNul(TextOf(meta, "command"));
    process_.version = TextOf(meta, "version");
    process_.device_kind = TextOf(meta, "device_kind");
    process_.main_tid = static_cast<uint32_t>(IntOf(meta, "main_tid").value_or(0));
    process_.reporting_tid = static_cast<uint32_t>(IntOf(meta, "reporting_tid").value_or(0));
    process_.python = IntOf(meta, "python").value_or(0) != 0;
    begin_ns_ = IntOf(meta, "start_monotonic_ns");
    end_ns_ = IntOf(meta, "end_monotonic_ns");
    process_.end_how = TextOf(meta, "end_how");
  }

  void ReadChunks(EventStore* store) {
    std::vector<ChunkPlace> places;
    for (size_t s = 0; s < segments_.size(); ++s) {
      const size_t problems_before = problems_.size();
      for (Segment::ChunkHead& head : segments_[s].ReadChunkHeads(&problems_)) {
        places.push_back({s, head});
      }
      if (problems_.size() != problems_before) NoteCutTable(places);
    }
    std::stable_sort(places.begin(), places.end(), [](const ChunkPlace& a, const ChunkPlace& b) {
      return std::tie(a.head.row.family, a.head.row.thread, a.head.row.first_sequence) <
             std::tie(b.head.row.family, b.head.row.thread, b.head.row.first_sequence);
    });
    for (ChunkPlace& place : places) ReadChunk(&place, store);
  }

  // The rest of a chunk table is unreadable: how much it held is unknown.
  void NoteCutTable(const std::vector<ChunkPlace>& places) {
    int64_t last_ns = process_.span_begin_ns;
    for (const ChunkPlace& place : places) last_ns = std::max(last_ns, place.head.row.max_ns);
    ++process_.Count(LedgerCounter::chunks_corrupt);
    process_.unknown.push_back({last_ns, kOpenEnded, "the rest of the segment cannot be read"});
  }

  void ReadChunk(ChunkPlace* place, EventStore* store) {
    const ChunkRow& row = place->head.row;
    const std::pair writer(row.family, row.thread);
    if (writer != writer_) {
      writer_ = writer;
      decoded_until_ = 0;
      last_end_ns_ = process_.span_begin_ns;
    }
    uint64_t& covered = coverage_[writer];
    const uint64_t next = row.first_sequence + row.sequence_count;
    if (next <= covered && row.sequence_count != 0) return;  // stored twice at a segment's end
    covered = std::max(covered, next);
    gap_ = row.first_sequence > decoded_until_;
    if (Decode(place, store)) {
      decoded_until_ = next;
      last_end_ns_ = row.max_ns;
    }
  }

  bool Decode(ChunkPlace* place, EventStore* store) {
    ChunkRow& row = place->head.row;
    if (!segments_[place->segment].ReadChunkBody(&place->head)) {
      NoteLostChunk(*place, "its body cannot be read");
      return false;
    }
    ChunkStatus status;
    switch (row.family) {
      case EventFamily::kThread:
        status = decoder_.Decode(row, &thread_events_);
        if (status.ok()) {
          store->AddThreadEvents(thread_events_, gap_ || thread_events_.dropped_before != 0);
        }
        break;
      case EventFamily::kApi:
        status = DecodeRecords(row, &api_events_, store);
        break;
      case EventFamily::kDevice:
        status = DecodeRecords(row, &device_events_, store);
        if (status.ok() && device_events_.dropped_before != 0) {
          process_.unknown.push_back({last_end_ns_, row.min_ns, "device records were dropped"});
        }
        break;
      case EventFamily::kSync:
        status = DecodeRecords(row, &sync_events_, store);
        break;
      case EventFamily::kOverhead:
        status = DecodeRecords(row, &overhead_events_, store);
        break;
      case EventFamily::kNone:
      default:
        NoteLostChunk(*place, "its family is not known");
        return false;
    }
    if (status.ok()) return true;
    NoteLostChunk(*place, std::string(ChunkErrorName(status.error)) + " at byte " +
                              std::to_string(status.offset) + " of its body: " + status.what);
    return false;
  }

  template <typename Events>
  ChunkStatus DecodeRecords(const ChunkRow& row, Events* events, EventStore* store) {
    const ChunkStatus status = decoder_.Decode(row, events);
    if (status.ok()) store->Add(*events);
    return status;
  }

  void NoteLostChunk(const ChunkPlace& place, const std::string& why) {
    const ChunkRow& row = place.head.row;
    ++process_.Count(LedgerCounter::chunks_corrupt);
    process_.Count(LedgerCounter::chunk_events_lost) += row.event_count;
    problems_.push_back(segments_[place.segment].path() + ": chunk " +
                        std::to_string(place.head.id) + " (" + FamilyName(row.family) +
                        " of writer " + std::to_string(row.thread) + ") is lost with " +
                        std::to_string(row.event_count) + " events: " + why + ".");
    if (row.family == EventFamily::kDevice) {
      process_.unknown.push_back({row.min_ns, row.max_ns, "a chunk of device work is lost"});
    }
  }

  void CloseSpan() {
    int64_t first_ns = kOpenEnded;
    int64_t last_ns = process_.span_begin_ns;
    const auto see = [&](int64_t begin_ns, int64_t end_ns) {
      first_ns = std::min(first_ns, begin_ns);
      last_ns = std::max(last_ns, end_ns);
    };
    for (const ThreadTrace& thread : process_.threads) {
      for (const ThreadEvent& event : thread.events) see(event.time_ns, event.time_ns);
      for (const ApiCall& call : thread.calls) see(call.start_ns, call.end_ns);
    }
    for (const DeviceWork& work : process_.device_work) see(work.start_ns, work.end_ns);
    if (!begin_ns_ && first_ns != kOpenEnded) process_.span_begin_ns = first_ns;
    process_.span_end_ns = std::max(process_.span_begin_ns, end_ns_.value_or(last_ns));
    process_.span_end = end_ns_ ? SpanEnd::kClosed : SpanEnd::kLastEvent;
    if (!end_ns_) {
      uint64_t& not_closed = process_.Count(LedgerCounter::process_not_closed);
      not_closed = std::max<uint64_t>(not_closed, 1);
    }
  }

  ProcessTrace& process_;
  std::vector<Segment>& segments_;
  std::vector<std::string>& problems_;
  std::optional<int64_t> begin_ns_;
  std::optional<int64_t> end_ns_;

  Coverage coverage_;
  std::pair<EventFamily, uint32_t> writer_{EventFamily::kNone, 0};
  uint64_t decoded_until_ = 0;  // of this writer
  int64_t last_end_ns_ = 0;
  bool gap_ = false;

  ChunkDecoder decoder_;
  ThreadEvents thread_events_;
  ApiEvents api_events_;
  DeviceEvents device_events_;
  SyncEvents sync_events_;
  OverheadEvents overhead_events_;
};

}  // namespace

ProcessTrace LoadProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                         const std::optional<LiveFile>& live, std::vector<std::string>* problems) {
  ProcessTrace process;
  process.identity = identity;
  Loader(&process, segments, problems).Load(live);
  return process;
}

}  // namespace gpubound
