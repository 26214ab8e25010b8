// SPDX-License-Identifier: Apache-2.0
//
// Reads a process's rows, then its chunks in the order of each writer's sequence, then what only
// the live mapping holds. One object, one thread.
#include "analysis/process_loader.h"

#include <algorithm>
#include <charconv>
#include <tuple>
#include <utility>

#include "analysis/chunk_source.h"
#include "analysis/event_store.h"
#include "analysis/place_threads.h"
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
  Loader(ProcessTrace* process, std::vector<Segment>* segments, const ProcessSums* sums,
         std::vector<std::string>* problems)
      : process_(*process), segments_(*segments), sums_(sums), problems_(*problems) {}

  // Rows and a plan for the chunks; absent where the events have to be looked at to know what is
  // missing.
  std::optional<std::vector<PlannedChunk>> Open(bool growing) {
    ReadAllRows();
    if (!begin_ns_ || (!end_ns_ && !growing) ||
        process_.Counted(LedgerCounter::device_records_dropped) != 0) {
      return std::nullopt;
    }
    const std::vector<PlannedChunk> chunks = ChunksInOrder();
    if (!problems_.empty()) return std::nullopt;
    std::vector<PlannedChunk> plan;
    for (PlannedChunk chunk : chunks) {
      const bool known = chunk.head.row.family >= EventFamily::kThread &&
                         chunk.head.row.family <= EventFamily::kOverhead;
      if (!known) return std::nullopt;
      if (!Advance(&chunk)) continue;
      decoded_until_ = chunk.head.row.first_sequence + chunk.head.row.sequence_count;
      CountLate(chunk.head.row);
      plan.push_back(chunk);
    }
    process_.span_begin_ns = *begin_ns_;
    process_.span_end_ns = std::max(*begin_ns_, end_ns_.value_or(kOpenEnded));
    process_.span_end = end_ns_ ? SpanEnd::kClosed : SpanEnd::kLastEvent;
    if (sums_ != nullptr) PlaceThreads(*sums_, &process_);
    return plan;
  }

  void Load(const std::optional<LiveFile>& live) {
    ReadAllRows();
    if (live) {
      live->MergeRows(&process_);
      if (!begin_ns_) begin_ns_ = live->header().start_monotonic_ns;
    }
    process_.span_begin_ns = begin_ns_.value_or(0);
    EventStore store(&process_);
    ReadChunks(&store);
    if (sums_ != nullptr) {
      for (const SummedWriter& writer : sums_->writers) {
        uint64_t& covered = coverage_[std::pair(writer.family, writer.thread)];
        covered = std::max(covered, writer.gone_until);
      }
    }
    if (live) {
      process_.Count(LedgerCounter::events_salvaged) +=
          live->AddEvents(process_, coverage_, &store);
    }
    store.Finish();
    CloseSpan();
    if (sums_ != nullptr) PlaceThreads(*sums_, &process_);
  }

 private:
  void ReadAllRows() {
    for (Segment& segment : segments_) {
      segment.ReadRows(&process_, &problems_);
      ReadMeta(segment.meta());
    }
  }

  void ReadMeta(const MetaRows& meta) {
    if (meta.empty()) return;
    process_.parent_pid = IntOf(meta, "parent_pid").value_or(0);
    process_.name = TextOf(meta, "name");
    process_.command = SplitAtNul(TextOf(meta, "command"));
    process_.version = TextOf(meta, "version");
    process_.device_kind = TextOf(meta, "device_kind");
    process_.cpu_model = TextOf(meta, "cpu_model");
    process_.driver_version = TextOf(meta, "driver_version");
    process_.cupti_version = TextOf(meta, "cupti_version");
    process_.python_version = TextOf(meta, "python_version");
    process_.in_run_calibration = TextOf(meta, "in_run_calibration");
    process_.cupti_not_suspended = TextOf(meta, "cupti_not_suspended");
    process_.main_tid = static_cast<uint32_t>(IntOf(meta, "main_tid").value_or(0));
    process_.reporting_tid = static_cast<uint32_t>(IntOf(meta, "reporting_tid").value_or(0));
    process_.python = IntOf(meta, "python").value_or(0) != 0;
    begin_ns_ = IntOf(meta, "start_monotonic_ns");
    end_ns_ = IntOf(meta, "end_monotonic_ns");
    process_.end_how = TextOf(meta, "end_how");
  }

  // Of each writer in the order of its sequence numbers.
  std::vector<PlannedChunk> ChunksInOrder() {
    std::vector<PlannedChunk> chunks;
    for (size_t s = 0; s < segments_.size(); ++s) {
      const size_t problems_before = problems_.size();
      for (Segment::ChunkHead& head : segments_[s].ReadChunkHeads(&problems_)) {
        chunks.push_back({s, head});
      }
      if (problems_.size() != problems_before) NoteCutTable(chunks);
    }
    std::stable_sort(
        chunks.begin(), chunks.end(), [](const PlannedChunk& a, const PlannedChunk& b) {
          return std::tie(a.head.row.family, a.head.row.thread, a.head.row.first_sequence) <
                 std::tie(b.head.row.family, b.head.row.thread, b.head.row.first_sequence);
        });
    return chunks;
  }

  void ReadChunks(EventStore* store) {
    for (PlannedChunk& chunk : ChunksInOrder()) {
      if (!Advance(&chunk) || !Decode(&chunk, store)) continue;
      decoded_until_ = chunk.head.row.first_sequence + chunk.head.row.sequence_count;
      last_end_ns_ = chunk.head.row.max_ns;
    }
  }

  // The rest of a chunk table is unreadable: how much it held is unknown.
  void NoteCutTable(const std::vector<PlannedChunk>& places) {
    int64_t last_ns = process_.span_begin_ns;
    for (const PlannedChunk& place : places) last_ns = std::max(last_ns, place.head.row.max_ns);
    ++process_.Count(LedgerCounter::chunks_corrupt);
    process_.unknown.push_back({last_ns, kOpenEnded, "the rest of the segment cannot be read"});
  }

  // Follows the writer's sequence up to |chunk| and says whether something is missing before it.
  // False for one that is stored twice, at a segment's end.
  bool Advance(PlannedChunk* chunk) {
    const ChunkRow& row = chunk->head.row;
    const std::pair writer(row.family, row.thread);
    if (writer != writer_) {
      writer_ = writer;
      decoded_until_ = 0;
      last_end_ns_ = process_.span_begin_ns;
    }
    uint64_t& covered = coverage_[writer];
    const uint64_t next = row.first_sequence + row.sequence_count;
    if (next <= covered && row.sequence_count != 0) return false;
    covered = std::max(covered, next);
    const SummedWriter* summed = WriterInSums(row);
    const bool follows_gone = summed != nullptr && row.first_sequence == summed->gone_until;
    chunk->gap = row.first_sequence > decoded_until_ && !follows_gone;
    return true;
  }

  const SummedWriter* WriterInSums(const ChunkRow& row) const {
    if (sums_ == nullptr) return nullptr;
    for (const SummedWriter& writer : sums_->writers) {
      if (writer.family == row.family && writer.thread == row.thread) return &writer;
    }
    return nullptr;
  }

  // A chunk that was written after the time that some of its events belong to had been summed. How
  // many they are is not looked up: at most all.
  void CountLate(const ChunkRow& row) {
    if (sums_ == nullptr || row.min_ns >= sums_->until_ns) return;
    const SummedWriter* summed = WriterInSums(row);
    if (summed != nullptr && row.first_sequence < summed->seen_until) return;
    process_.Count(LedgerCounter::events_behind_sums) += row.event_count;
  }

  bool Decode(PlannedChunk* place, EventStore* store) {
    ChunkRow& row = place->head.row;
    CountLate(row);
    if (!segments_[place->segment].ReadChunkBody(&place->head)) {
      NoteLostChunk(*place, "its body cannot be read");
      return false;
    }
    ChunkStatus status;
    switch (row.family) {
      case EventFamily::kThread:
        status = decoder_.Decode(row, &thread_events_);
        if (status.ok()) {
          store->AddThreadEvents(thread_events_, place->gap || thread_events_.dropped_before != 0);
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

  void NoteLostChunk(const PlannedChunk& place, const std::string& why) {
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
  const ProcessSums* sums_;
  std::vector<std::string>& problems_;
  std::optional<int64_t> begin_ns_;
  std::optional<int64_t> end_ns_;

  Coverage coverage_;
  std::pair<EventFamily, uint32_t> writer_{EventFamily::kNone, 0};
  uint64_t decoded_until_ = 0;  // of this writer
  int64_t last_end_ns_ = 0;

  ChunkDecoder decoder_;
  ThreadEvents thread_events_;
  ApiEvents api_events_;
  DeviceEvents device_events_;
  SyncEvents sync_events_;
  OverheadEvents overhead_events_;
};

// The main thread reports even if nothing but its API calls was recorded, which would leave it
// without a row.
void AddMainThread(ProcessTrace* process) {
  const uint32_t tid =
      process->main_tid != 0 ? process->main_tid : static_cast<uint32_t>(process->identity.pid);
  const bool known = std::any_of(process->threads.begin(), process->threads.end(),
                                 [tid](const ThreadTrace& thread) { return thread.tid == tid; });
  if (known) return;
  process->threads.emplace_back();
  process->threads.back().tid = tid;
}

// Absent where the events have to be looked at.
std::optional<ProcessTrace> StreamedProcess(const ProcessIdentity& identity,
                                            std::vector<Segment>* segments, const ProcessSums* sums,
                                            bool growing) {
  ProcessTrace process;
  process.identity = identity;
  std::vector<std::string> unsound;
  const auto plan = Loader(&process, segments, sums, &unsound).Open(growing);
  if (!plan || !unsound.empty()) return std::nullopt;
  AddMainThread(&process);
  process.source = std::make_shared<ChunkSource>(
      std::make_unique<ChunkStore>(process, std::move(*segments), *plan));
  segments->clear();
  return process;
}

}  // namespace

ProcessTrace LoadProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                         const std::optional<LiveFile>& live, const ProcessSums* sums,
                         std::vector<std::string>* problems) {
  ProcessTrace process;
  process.identity = identity;
  Loader(&process, segments, sums, problems).Load(live);
  return process;
}

ProcessTrace OpenProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                         const std::optional<LiveFile>& live, const ProcessSums* sums,
                         std::vector<std::string>* problems) {
  if (!live) {
    std::optional<ProcessTrace> process =
        StreamedProcess(identity, segments, sums, /*growing=*/false);
    if (process) return std::move(*process);
  }
  return LoadProcess(identity, segments, live, sums, problems);
}

ProcessTrace OpenGrowingProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                                const ProcessSums* sums, std::vector<std::string>* problems) {
  std::optional<ProcessTrace> process = StreamedProcess(identity, segments, sums, /*growing=*/true);
  if (process) return std::move(*process);
  ProcessTrace loaded = LoadProcess(identity, segments, std::nullopt, sums, problems);
  if (loaded.span_end != SpanEnd::kClosed) loaded.span_end_ns = kOpenEnded;
  return loaded;
}

}  // namespace gpubound
