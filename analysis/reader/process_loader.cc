// SPDX-License-Identifier: Apache-2.0
//
// Reads a process's rows, then its chunks in the order of each writer's sequence, then what only
// the live mapping holds. One object, one thread.
#include "analysis/reader/process_loader.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/base/interval.h"
#include "analysis/base/whole_number.h"
#include "analysis/reader/missing_chunks.h"
#include "analysis/reader/place_threads.h"
#include "analysis/reader/process_facts.h"
#include "analysis/reader/process_presence.h"
#include "analysis/reader/stray_work.h"
#include "analysis/reader/writer_sequence.h"
#include "analysis/segments/chunk_source.h"
#include "analysis/segments/event_store.h"
#include "analysis/trace/plausible_time.h"
#include "analysis/trace/span_end.h"
#include "proto/chunk_decoder.h"

namespace gpubound {
namespace {

class Loader {
 public:
  Loader(ProcessTrace* process, std::vector<Segment>* segments, const ProcessSums* sums,
         std::vector<std::string>* problems)
      : process_(*process),
        segments_(*segments),
        sums_(sums),
        problems_(*problems),
        sequence_(sums) {}

  // Rows and a plan for the chunks; absent where the events have to be looked at to know what is
  // missing.
  std::optional<std::vector<PlannedChunk>> Open(bool growing) {
    ReadAllRows();
    NoteMissingSegments(/*may_go_on=*/growing);
    if (!span_.begin_ns || (!span_.end_ns && !growing) ||
        process_.Counted(LedgerCounter::device_records_dropped) != 0) {
      return std::nullopt;
    }
    process_.span_begin_ns = *span_.begin_ns;
    const std::vector<PlannedChunk> chunks = ChunksInOrder();
    if (!problems_.empty() || IsAnyDamaged()) return std::nullopt;
    std::vector<PlannedChunk> plan;
    for (PlannedChunk chunk : chunks) {
      const EventFamily family = chunk.head.row.family;
      if (family < EventFamily::kThread || family > kLastEventFamily) return std::nullopt;
      if (!Advance(&chunk)) continue;
      if (events_missing_) return std::nullopt;
      sequence_.Decoded(chunk.head.row);
      CountLate(chunk.head.row);
      plan.push_back(chunk);
    }
    process_.span_end_ns = std::max(*span_.begin_ns, span_.end_ns.value_or(kOpenEnded));
    process_.span_end = SpanEndOf(process_, span_);
    ClipToSteps(span_, &process_);
    InferDeviceKind(&process_);
    MarkThinnedTails(sequence_.ThinnedTails(), &process_);
    if (sums_ != nullptr) PlaceThreads(*sums_, &process_);
    return plan;
  }

  // |growing|: the process still writes, into its next segment or a mapping that is not read.
  void Load(const std::optional<LiveFile>& live, bool growing) {
    ReadAllRows();
    NoteMissingSegments(/*may_go_on=*/live.has_value() || growing);
    if (live) {
      live->MergeRows(&process_, /*closed=*/span_.end_ns.has_value());
      DropImpossibleRows(&process_);
      NoteLostTransactions(*live);
      const int64_t start_ns = live->header().start_monotonic_ns;
      if (!span_.begin_ns && IsPlausibleTime(start_ns)) span_.begin_ns = start_ns;
    }
    process_.span_begin_ns = span_.begin_ns.value_or(0);
    EventStore store(&process_);
    ReadChunks(&store);
    store.SkipThinned(sequence_.ThinnedTails());
    if (live) {
      const Salvaged salvaged = live->AddEvents(process_, sequence_.Stored(), &store);
      process_.Count(LedgerCounter::events_salvaged) += salvaged.events;
      // What a recorder gave up when it could not write had numbers: it has counted that itself.
      if (process_.Counted(LedgerCounter::sink_write_errors) == 0) {
        process_.Count(LedgerCounter::chunk_events_lost) += salvaged.missing;
      }
      work_missing_ = salvaged.work_missing;
    }
    store.Finish();
    if (live) PlaceStrayWork(&process_);
    CloseSpan();
    if (!span_.end_ns && !growing && !(live && live->whole())) NoteLostEnd();
    NoteDamage(live && live->whole());
    NoteUnknown();
    process_.device_work_lost =
        device_rows_cut_ || end_rows_cut_ || (never_written_ && !live && !growing);
    if (sums_ != nullptr) PlaceThreads(*sums_, &process_);
  }

 private:
  void ReadAllRows() {
    for (Segment& segment : segments_) {
      segment.ReadRows(&process_);
      ReadFacts(segment.meta(), &process_, &span_);
      device_rows_cut_ |= segment.damage().HidesDeviceWork();
      // What it says of the end would stand there.
      end_rows_cut_ |= segment.damage().Has("meta");
      never_written_ |= segment.damage().never_written;
      const auto written = segment.meta().find("transactions");
      if (written == segment.meta().end()) continue;
      transactions_ = std::max(transactions_, ParseInt(written->second).value_or(0));
    }
    DropImpossibleRows(&process_);
    // What was recorded before was let go.
    if (span_.steps_begin_ns) sequence_.BeginAnywhere();
  }

  // Segments are numbered from 0 in a row, and one that is sealed has a successor unless the
  // process closed. Of a run that was summed, segments without events are gone.
  void NoteMissingSegments(bool may_go_on) {
    if (segments_.empty()) return;
    const Segment& last = segments_.back();
    const size_t expected = sums_ == nullptr ? last.number() + size_t{1} : 0;
    const size_t inner = expected - std::min(expected, segments_.size());
    const auto sealed = last.meta().find("sealed");
    last_is_missing_ = !may_go_on && sealed != last.meta().end() && sealed->second == "1" &&
                       !last.meta().contains("end_how");
    segments_missing_ = inner + (last_is_missing_ ? 1 : 0);
    if (segments_missing_ == 0) return;
    process_.Count(LedgerCounter::segments_missing) += segments_missing_;
    problems_.push_back(
        last.path() + ": files of this process beside it that are missing or cannot be read: " +
        std::to_string(segments_missing_) + (last_is_missing_ ? ", among them the last." : "."));
  }

  // A database that was cut together with its log is sound, and ends too early.
  void NoteLostTransactions(const LiveFile& live) {
    const uint64_t written = live.transactions();
    const auto found = static_cast<uint64_t>(std::max<int64_t>(0, transactions_));
    if (written <= found) return;
    ++process_.Count(LedgerCounter::tables_cut);
    process_.unknown.push_back({process_.span_begin_ns, kOpenEnded, "the database was cut"});
    device_rows_cut_ = true;
    problems_.push_back("The database of pid " + std::to_string(process_.identity.pid) +
                        " of host " + process_.identity.host + " lacks " +
                        std::to_string(written - found) + " of " + std::to_string(written) +
                        " transactions: it, or the -wal file beside it, was removed or cut. "
                        "What they held is lost. If it was copied, copy the whole directory again "
                        "from where it was recorded.");
  }

  // Of each writer in the order of its sequence numbers.
  std::vector<PlannedChunk> ChunksInOrder() {
    std::vector<PlannedChunk> chunks;
    std::vector<ChunkPlace> missing;
    for (size_t s = 0; s < segments_.size(); ++s) {
      const std::vector<ChunkHead> heads = segments_[s].ReadChunkHeads();
      for (const ChunkHead& head : heads) chunks.push_back({s, head});
      if (segments_[s].damage().Has("chunk")) MarkRestUnknown(chunks);
      // Of a run that was summed, chunks are gone that nobody misses.
      if (sums_ != nullptr) continue;
      for (const int64_t id : segments_[s].MissingChunks(heads)) missing.push_back({s, id});
    }
    std::stable_sort(
        chunks.begin(), chunks.end(), [](const PlannedChunk& a, const PlannedChunk& b) {
          return std::tie(a.head.row.family, a.head.row.thread, a.head.row.first_sequence) <
                 std::tie(b.head.row.family, b.head.row.thread, b.head.row.first_sequence);
        });
    NoteMissingChunks(chunks, missing, span_.steps_begin_ns.has_value(), &segments_, &process_);
    return chunks;
  }

  void ReadChunks(EventStore* store) {
    for (PlannedChunk& chunk : ChunksInOrder()) {
      if (!Advance(&chunk) || !Decode(&chunk, store)) continue;
      sequence_.Decoded(chunk.head.row);
      if (chunk.head.row.family != EventFamily::kDevice) continue;
      device_until_ns_ = std::max(device_until_ns_.value_or(INT64_MIN), chunk.head.row.max_ns);
    }
  }

  // The rest of a chunk table is unreadable: device work that began behind what was read of it may
  // be there. What threads did later says nothing of it: records come half a second late.
  void MarkRestUnknown(const std::vector<PlannedChunk>& places) {
    int64_t last_ns = process_.span_begin_ns;
    for (const PlannedChunk& place : places) {
      const ChunkRow& row = place.head.row;
      if (row.family == EventFamily::kDevice) last_ns = std::max(last_ns, row.max_ns);
    }
    process_.unknown.push_back({last_ns, kOpenEnded, "the rest of the segment cannot be read"});
  }

  bool IsAnyDamaged() const {
    return std::any_of(segments_.begin(), segments_.end(),
                       [](const Segment& segment) { return segment.damage().Any(); });
  }

  // After everything was read: the bodies of chunks come last, and a gap may tell what is lost. A
  // process that was killed while it began a segment has what was to be in it in its mapping; where
  // the segment could not be written, the process has counted that.
  void NoteDamage(bool has_mapping) {
    const uint64_t lost = process_.Counted(LedgerCounter::chunk_events_lost);
    const bool could_write = process_.Counted(LedgerCounter::sink_write_errors) == 0;
    for (const Segment& segment : segments_) {
      if (!segment.damage().Any()) continue;
      if (segment.damage().never_written && has_mapping && could_write) continue;
      problems_.push_back(NoteOn(segment.path(), segment.damage(), lost));
      CountDamage(segment.damage(), &process_);
    }
  }

  // Follows the writer's sequence up to |chunk| and counts what is missing before it. False for one
  // that is stored twice, at a segment's end.
  bool Advance(PlannedChunk* chunk) {
    const ChunkRow& row = chunk->head.row;
    const WriterSequence::Step step = sequence_.To(row, process_.span_begin_ns);
    if (step.repeated) return false;
    chunk->gap = step.gap;
    chunk->thinned = step.thinned;
    after_ns_ = step.after_ns;
    if (step.missing == 0) return true;
    events_missing_ = true;
    process_.Count(LedgerCounter::chunk_events_lost) += step.missing;
    NoteLost(row, step.after_ns, row.min_ns, "chunks of device work are missing");
    return true;
  }

  bool Decode(PlannedChunk* place, EventStore* store) {
    ChunkRow& row = place->head.row;
    CountLate(row);
    if (!segments_[place->segment].ReadChunkBody(&place->head)) {
      CountLostChunk(row);
      return false;
    }
    ChunkStatus status;
    switch (row.family) {
      case EventFamily::kThread:
        status = decoder_.Decode(row, &thread_events_);
        if (status.ok()) {
          if (place->thinned) store->SkipThinned({row.thread});
          store->AddThreadEvents(thread_events_, place->gap || thread_events_.dropped_before != 0);
        }
        break;
      case EventFamily::kApi:
        status = DecodeRecords(row, &api_events_, store);
        break;
      case EventFamily::kDevice:
        status = DecodeRecords(row, &device_events_, store);
        if (status.ok() && device_events_.dropped_before != 0) {
          NoteLost(row, after_ns_, row.min_ns, "device records were dropped");
        }
        break;
      case EventFamily::kSync:
        status = DecodeRecords(row, &sync_events_, store);
        break;
      case EventFamily::kOverhead:
        status = DecodeRecords(row, &overhead_events_, store);
        break;
      case EventFamily::kCpuTime:
        status = DecodeRecords(row, &cpu_time_events_, store);
        break;
      case EventFamily::kStack:
        status = DecodeRecords(row, &stack_events_, store);
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
    problems_.push_back(NoteOnChunk(segments_[place.segment].path(), place.head.id, row, why));
    CountLostChunk(row);
  }

  void CountLostChunk(const ChunkRow& row) {
    process_.Count(LedgerCounter::chunk_events_lost) += row.event_count;
    NoteLost(row, row.min_ns, row.max_ns, "a chunk of device work is lost");
  }

  // Events of |row|'s writer are missing between two times; |why| device work is then unknown. Of
  // records that come in the order of delivery the later ones may lie earlier.
  void NoteLost(const ChunkRow& row, int64_t a_ns, int64_t b_ns, const char* why) {
    const Interval time{std::min(a_ns, b_ns), std::max(a_ns, b_ns)};
    if (row.family == EventFamily::kDevice) {
      process_.unknown.push_back({time.begin_ns, time.end_ns, why});
    } else if (row.family == EventFamily::kThread) {
      const auto thread = static_cast<ThreadId>(row.thread);
      process_.lost_scopes.push_back({thread, time.begin_ns, time.end_ns});
    }
  }

  void CountLate(const ChunkRow& row) {
    process_.Count(LedgerCounter::events_behind_sums) += sequence_.LateEvents(row);
  }

  void CloseSpan() {
    const Interval known = KnownLifeOf(process_);
    const bool has_events = known.begin_ns != kOpenEnded;
    process_.begin_is_known = span_.begin_ns.has_value();
    const int64_t begin_ns = has_events ? known.begin_ns : span_.end_ns.value_or(0);
    process_.span_begin_ns = span_.begin_ns.value_or(begin_ns);
    // Without either, samples do not say for how long it had run.
    const int64_t end_ns = span_.begin_ns || has_events ? known.end_ns : process_.span_begin_ns;
    process_.span_end_ns = std::max(process_.span_begin_ns, span_.end_ns.value_or(end_ns));
    process_.span_end = SpanEndOf(process_, span_);
    ClipToSteps(span_, &process_);
    InferDeviceKind(&process_);
    if (!span_.end_ns && !end_rows_cut_) process_.Count(LedgerCounter::process_not_closed) = 1;
  }

  // Of a second before a kill, and of everything since a disk was full. What was open before it may
  // have ended in it.
  void NoteLostEnd() {
    if (!end_rows_cut_) process_.Count(LedgerCounter::live_mapping_unavailable) = 1;
    work_missing_ |= process_.device_kind != "none";
    LostScopes lost{kNoThreadKnown, KnownLifeOf(process_).end_ns, kOpenEnded, /*certain=*/false};
    process_.lost_scopes.push_back(lost);
    for (const ThreadTrace& thread : process_.threads) {
      lost.thread = thread.ordinal;
      process_.lost_scopes.push_back(lost);
    }
  }

  // What rows and segments that are not there could have told of device work.
  void NoteUnknown() {
    const int64_t begin_ns = process_.span_begin_ns;
    if (device_rows_cut_) {
      process_.unknown.push_back({begin_ns, kOpenEnded, "rows about device work cannot be read"});
    }
    // Of a segment between others a gap in the numbers tells, unless it held all device work.
    if (work_missing_ || last_is_missing_ || (segments_missing_ != 0 && !device_until_ns_)) {
      process_.unknown.push_back(
          {device_until_ns_.value_or(begin_ns), kOpenEnded, "device work is missing"});
    }
  }

  ProcessTrace& process_;
  std::vector<Segment>& segments_;
  const ProcessSums* sums_;
  std::vector<std::string>& problems_;
  RecordedSpan span_;
  bool device_rows_cut_ = false;
  bool end_rows_cut_ = false;
  bool never_written_ = false;
  int64_t transactions_ = 0;  // in the segments that are there
  size_t segments_missing_ = 0;
  bool last_is_missing_ = false;
  bool work_missing_ = false;  // between the database and the mapping

  WriterSequence sequence_;
  bool events_missing_ = false;
  int64_t after_ns_ = 0;                    // the end of what is there before the chunk
  std::optional<int64_t> device_until_ns_;  // the end of the last device work that is there

  ChunkDecoder decoder_;
  ThreadEvents thread_events_;
  ApiEvents api_events_;
  DeviceEvents device_events_;
  SyncEvents sync_events_;
  OverheadEvents overhead_events_;
  CpuTimeEvents cpu_time_events_;
  StackEvents stack_events_;
};

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

ProcessTrace LoadedProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                           const std::optional<LiveFile>& live, const ProcessSums* sums,
                           bool growing, std::vector<std::string>* problems) {
  ProcessTrace process;
  process.identity = identity;
  Loader(&process, segments, sums, problems).Load(live, growing);
  return process;
}

}  // namespace

ProcessTrace LoadProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                         const std::optional<LiveFile>& live, const ProcessSums* sums,
                         std::vector<std::string>* problems) {
  const bool growing = !live && PresenceOf(identity) == Presence::kThere;  // on a network's disk
  return LoadedProcess(identity, segments, live, sums, growing, problems);
}

ProcessTrace OpenProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                         const std::optional<LiveFile>& live, const ProcessSums* sums,
                         std::vector<std::string>* problems) {
  auto process = live ? std::nullopt : StreamedProcess(identity, segments, sums, /*growing=*/false);
  if (process) return std::move(*process);
  return LoadProcess(identity, segments, live, sums, problems);
}

ProcessTrace OpenGrowingProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                                const ProcessSums* sums, std::vector<std::string>* problems) {
  std::optional<ProcessTrace> process = StreamedProcess(identity, segments, sums, /*growing=*/true);
  if (process) return std::move(*process);
  auto loaded = LoadedProcess(identity, segments, std::nullopt, sums, /*growing=*/true, problems);
  if (!IsClosed(loaded.span_end)) loaded.span_end_ns = kOpenEnded;
  return loaded;
}

}  // namespace gpubound
