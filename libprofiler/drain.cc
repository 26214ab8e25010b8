// SPDX-License-Identifier: Apache-2.0
//
// Moves pages into the trace.
#include "libprofiler/drain.h"

#include <algorithm>
#include <new>
#include <span>

#include "proto/recording_end.h"

namespace gpubound {
namespace {

// Full pages per transaction, a few ms of work. Large enough that a commit costs little per event;
// small enough that the pages are still in the second-level cache when they are zeroed for the next
// writer (48 cost 2 ns a scope more, bench/scope_bench), and that writers get pages back meanwhile.
constexpr size_t kMaxPagesPerRound = 24;

constexpr int64_t kSampleIntervalNs = 100'000'000;
constexpr int64_t kStoreSampleNs = 1'000'000'000;
// How far a clock may be off its line, beyond what the brackets explain, before it is a step.
constexpr int64_t kStepNs = 20'000;
// Beyond that, of a source's clock: its reading is a call into a foreign library.
constexpr int64_t kSourceSlackNs = 1'000'000;
constexpr int64_t kTickJumpNs = 100'000'000;  // the TSC does not step; a suspended machine does

template <typename Record>
std::span<const Record> RecordsOf(LiveMapping* mapping, uint32_t page, uint32_t from,
                                  uint32_t end) {
  const Record* records = reinterpret_cast<const Record*>(mapping->body(page));
  return {records + from, records + end};
}

uint32_t CountRepeated(std::span<const uint32_t> labels) {
  uint32_t repeated = 0;
  for (size_t i = 1; i < labels.size(); ++i) {
    const auto before = labels.first(i);
    repeated += std::find(before.begin(), before.end(), labels[i]) != before.end() ? 1 : 0;
  }
  return repeated;
}

uint64_t CountEvents(std::span<const Slot> slots) {
  uint64_t events = 0;
  for (size_t i = 0; i < slots.size(); i += HasPayload(KindOf(slots[i])) ? 2 : 1) ++events;
  return events;
}

}  // namespace

Drain::Drain(RecordingContext* context, TraceWriter* writer, Clock* clock,
             ChunkCompression compression)
    : context_(context),
      writer_(writer),
      clock_(clock),
      encoder_(compression),
      progress_(
          static_cast<Progress*>(std::calloc(context->mapping->most_pages(), sizeof(Progress)))) {
  if (progress_ == nullptr) throw std::bad_alloc();
  const size_t pages = context->mapping->most_pages();
  full_.reserve(kMaxPagesPerRound);
  owned_.reserve(pages);
  live_.reserve(pages);
  before_.reserve(pages);
  SampleClocks(/*force=*/true);
  writer_->ConvertTicksBy(&ticks_track_.conversion());
}

void Drain::SetDeliveredUntil(int64_t until_ns) {
  delivered_until_ns_.store(until_ns, std::memory_order_relaxed);
  // After the records it speaks of, which lie in pages of the same mapping.
  std::atomic_ref<int64_t>(context_->mapping->header()->delivered_until_ns)
      .store(until_ns, std::memory_order_release);
}

// Samples often at first, since the slope is only as good as its base line is long, then ten times
// a second.
void Drain::SampleClocks(bool force) {
  const int64_t now_ns = clock_->MonotonicNs();
  const int64_t age_ns = now_ns - last_sample_.monotonic_ns;
  const int64_t due_ns = std::min(kSampleIntervalNs, (now_ns - first_sample_ns_) / 2);
  DeviceSource* source = source_.load(std::memory_order_acquire);
  // Records of a source cannot be converted before its clock has been read once.
  const bool new_source = source != nullptr && source_track_.sample_count() == 0;
  if (!force && !new_source && sample_count_ > 1 && age_ns < due_ns) return;

  const ClockSample sample = clock_->Sample(source);
  const int64_t width_ns = static_cast<int64_t>(sample.width_ns);
  context_->ledger->Raise(LedgerCounter::clock_error_bound_ns, sample.width_ns);
  if (sample_count_ == 0) {
    first_sample_ns_ = sample.monotonic_ns;
  } else {
    const int64_t tolerance = kStepNs + width_ns + static_cast<int64_t>(last_sample_.width_ns);
    const int64_t elapsed_ns = sample.monotonic_ns - last_sample_.monotonic_ns;
    const auto stepped = [&](int64_t before_ns, int64_t after_ns, int64_t slack_ns) {
      const int64_t off_ns = after_ns - before_ns - elapsed_ns;
      return off_ns > tolerance + slack_ns || off_ns < -tolerance - slack_ns;
    };
    // The source's clock is the system's on most machines: one step of both is one.
    const bool has_source = sample.source_ns != 0 && last_sample_.source_ns != 0;
    if (stepped(last_sample_.realtime_ns, sample.realtime_ns, 0) ||
        (has_source && stepped(last_sample_.source_ns, sample.source_ns, kSourceSlackNs))) {
      context_->ledger->Add(LedgerCounter::clock_steps, 1);
    }
  }
  if (clock_->ticks_are_tsc()) {
    ticks_track_.AddSample(sample.ticks, sample.monotonic_ns, kTickJumpNs);
  }
  if (sample.source_ns != 0) {
    source_track_.AddSample(static_cast<uint64_t>(sample.source_ns), sample.monotonic_ns,
                            kStepNs + width_ns + kSourceSlackNs);
  }
  last_sample_ = sample;
  const bool store =
      sample_count_ == 0 || sample.monotonic_ns - unstored_sample_.monotonic_ns >= kStoreSampleNs;
  if (store && !has_unstored_sample_) {
    unstored_sample_ = sample;
    has_unstored_sample_ = true;
  }
  ++sample_count_;
  context_->mapping->AddClockSample(sample);
}

uint32_t Drain::WrittenSlots(uint32_t page, uint32_t from) const {
  Slot* slots = context_->mapping->slots(page);
  uint32_t end = from;
  while (end < kSlotsPerPage) {
    const Slot slot = std::atomic_ref<Slot>(slots[end]).load(std::memory_order_acquire);
    if (slot == 0) break;
    end += HasPayload(KindOf(slot)) ? 2 : 1;
  }
  return end;
}

// Notes how far each owned page is written, before the clock is read and anything is encoded: the
// encoder must not see slots change under it.
void Drain::MeasureOwnedPages() {
  live_.clear();
  for (const uint32_t page : owned_) {
    const LivePageHeader* header = context_->mapping->page(page);
    const uint32_t state =
        std::atomic_ref<const uint32_t>(header->state).load(std::memory_order_acquire);
    if (state == static_cast<uint32_t>(PageState::kFree)) continue;  // its writer is at the header
    const uint32_t from = progress_[page].consumed;
    const bool slots = header->family == static_cast<uint32_t>(EventFamily::kThread);
    const uint32_t end =
        slots
            ? WrittenSlots(page, from)
            : std::atomic_ref<const uint32_t>(header->record_count).load(std::memory_order_acquire);
    if (end > from) live_.push_back({page, end});
  }
}

bool Drain::RunOnce(bool live) noexcept {
  try {
    return Round(live);
  } catch (const std::exception& failure) {
    GiveUp(failure);
  }
  return context_->pool->HasFullPages();
}

// The program's end is not to wait for a thread that such an exception has ended, and what it
// records from here on is to be counted: so the thread goes on, as behind an error of the disk.
void Drain::GiveUp(const std::exception& failure) noexcept {
  TakeRoundBack();
  GiveUpPages();
  const bool memory = dynamic_cast<const std::bad_alloc*>(&failure) != nullptr;
  writer_->GiveUp(memory ? "there is no memory left" : failure.what());
}

bool Drain::Round(bool live) {
  full_.clear();
  owned_.clear();
  before_.clear();
  context_->pool->TakeFull(kMaxPagesPerRound, &full_, live ? &owned_ : nullptr);
  MeasureOwnedPages();
  SampleClocks(/*force=*/false);
  if (writer_->failed()) {
    GiveUpPages();
    return context_->pool->HasFullPages();
  }
  const bool rows = writer_->CollectRows();
  const int64_t delivered_ns = delivered_until_ns_.load(std::memory_order_relaxed);
  const bool delivered = live && delivered_ns != delivered_until_written_ns_;
  // A clock sample, one a second, says that the process is there, whatever it does.
  const bool alive = live && has_unstored_sample_;
  const bool begins = writer_->window_begins();
  if (full_.empty() && live_.empty() && !rows && !delivered && !alive && !begins) {
    writer_->Maintain(/*busy=*/!IsQuiet(0));
    return false;
  }

  writer_->Begin();
  for (const PagePool::FullPage& full : full_) EncodePage(full.page, full.used);
  for (const LivePart& part : live_) EncodePage(part.page, part.end);
  if (delivered) {
    writer_->PutDeliveredUntil(delivered_ns);
    delivered_until_written_ns_ = delivered_ns;
  }
  if (has_unstored_sample_) writer_->PutClock(unstored_sample_);
  has_unstored_sample_ = false;
  if (!writer_->Commit()) {
    TakeRoundBack();
    GiveUpPages();
    return context_->pool->HasFullPages();
  }
  // What is in the database by now: where a reader finds less, some of it was lost.
  std::atomic_ref<uint64_t>(context_->mapping->header()->transactions)
      .store(writer_->transactions(), std::memory_order_relaxed);
  before_.clear();
  const size_t pages_taken = full_.size();
  for (const PagePool::FullPage& full : full_) progress_[full.page].consumed = 0;
  RecycleFull();
  const bool more = context_->pool->HasFullPages();
  writer_->Maintain(/*busy=*/!IsQuiet(pages_taken));
  return more;
}

// Whether events come so slowly that the pool outlasts a wait for the disk of a second or more.
// Looks once per interval; in between the answer is no.
bool Drain::IsQuiet(size_t pages_taken) {
  constexpr int64_t kIntervalNs = 200'000'000;
  recent_pages_ += pages_taken;
  const int64_t now_ns = clock_->MonotonicNs();
  const int64_t interval_ns = now_ns - recent_since_ns_;
  if (interval_ns < kIntervalNs) return false;
  const bool quiet = recent_pages_ * 8 * kIntervalNs <=
                     context_->mapping->page_count() * static_cast<uint64_t>(interval_ns);
  recent_pages_ = 0;
  recent_since_ns_ = now_ns;
  return quiet;
}

// Nothing of a transaction that failed is in the trace, so what it held is still to be counted.
void Drain::TakeRoundBack() {
  for (const Stored& stored : before_) progress_[stored.page].consumed = stored.consumed;
  before_.clear();
}

// The trace cannot be written: what the pages hold is lost and counted, and the program goes on.
void Drain::GiveUpPages() {
  for (const PagePool::FullPage& full : full_) {
    const LivePageHeader& header = *context_->mapping->page(full.page);
    const uint32_t from = std::min(progress_[full.page].consumed, full.used);
    const Slot* slots = context_->mapping->slots(full.page);
    const bool thread = header.family == static_cast<uint32_t>(EventFamily::kThread);
    CountLost(header, thread ? CountEvents({slots + from, slots + full.used}) : full.used - from);
    progress_[full.page].consumed = 0;
  }
  RecycleFull();
}

void Drain::RecycleFull() {
  context_->pool->Recycle(full_);
  full_.clear();
}

void Drain::CountLost(const LivePageHeader& header, uint64_t events) {
  const auto family = static_cast<EventFamily>(header.family);
  if (family == EventFamily::kCpuTime || family == EventFamily::kStack) return;  // record_sink.cc
  const bool thread = header.family == static_cast<uint32_t>(EventFamily::kThread);
  context_->ledger->Add(
      thread ? LedgerCounter::scope_events_dropped : LedgerCounter::device_records_dropped, events);
}

void Drain::EncodePage(uint32_t page, uint32_t end) {
  const LivePageHeader& header = *context_->mapping->page(page);
  Progress* progress = &progress_[page];
  if (end <= progress->consumed) return;
  before_.push_back({page, progress->consumed});
  if (header.thread >= writers_.size()) writers_.resize(header.thread + 1);
  const bool thread = header.family == static_cast<uint32_t>(EventFamily::kThread);
  const EncodedChunk chunk =
      thread ? EncodeSlots(header, page, end) : EncodeRecords(header, page, end);
  StoreChunk(header, chunk, end - progress->consumed);
  progress->consumed = end;
}

EncodedChunk Drain::EncodeSlots(const LivePageHeader& header, uint32_t page, uint32_t end) {
  Progress* progress = &progress_[page];
  Writer* writer = &writers_[header.thread];
  const bool first = progress->consumed == 0;
  const ChunkMeta meta{.thread = header.thread,
                       .first_sequence = header.first_sequence + progress->consumed,
                       .dropped_before = first ? header.dropped_before : 0,
                       .not_before_ns = writer->max_ns};
  const std::span<const uint32_t> open =
      first ? std::span(header.open_labels, header.open_depth)
            : std::span<const uint32_t>(progress->open_labels, progress->open_depth);
  const Slot* slots = context_->mapping->slots(page);
  const EncodedChunk chunk =
      encoder_.EncodeThread(meta, header.base_ticks, open,
                            {slots + progress->consumed, slots + end}, ticks_track_.conversion());
  if (!chunk.ok) return chunk;
  progress->open_depth =
      static_cast<uint32_t>(std::min<size_t>(chunk.open_labels_after.size(), kMaxOpenScopes));
  std::copy_n(chunk.open_labels_after.begin(), progress->open_depth, progress->open_labels);
  writer->open_depth = progress->open_depth;
  writer->repeated = CountRepeated({progress->open_labels, progress->open_depth});
  if (chunk.event_count != 0) writer->max_ns = std::max(writer->max_ns, chunk.max_ns);
  return chunk;
}

EncodedChunk Drain::EncodeRecords(const LivePageHeader& header, uint32_t page, uint32_t end) {
  const uint32_t from = progress_[page].consumed;
  const ChunkMeta meta{.thread = header.thread,
                       .first_sequence = header.first_sequence + from,
                       .dropped_before = from == 0 ? header.dropped_before : 0};
  LiveMapping* mapping = context_->mapping;
  const ClockConversion& conversion = source_track_.conversion();
  switch (static_cast<EventFamily>(header.family)) {
    case EventFamily::kApi:
      return encoder_.EncodeApi(meta, RecordsOf<ApiRecord>(mapping, page, from, end), conversion);
    case EventFamily::kDevice:
      return encoder_.EncodeDevice(meta, RecordsOf<DeviceRecord>(mapping, page, from, end),
                                   conversion);
    case EventFamily::kSync:
      return encoder_.EncodeSync(meta, RecordsOf<SyncRecord>(mapping, page, from, end), conversion);
    case EventFamily::kCpuTime:
      return encoder_.EncodeCpuTime(meta, RecordsOf<CpuTimeRecord>(mapping, page, from, end), {});
    case EventFamily::kStack:
      return encoder_.EncodeStack(meta, RecordsOf<StackRecord>(mapping, page, from, end), {});
    default:
      return encoder_.EncodeOverhead(meta, RecordsOf<OverheadRecord>(mapping, page, from, end),
                                     conversion);
  }
}

void Drain::StoreChunk(const LivePageHeader& header, const EncodedChunk& chunk, uint32_t taken) {
  if (!chunk.ok) return CountLost(header, taken);  // out of memory
  Ledger* ledger = context_->ledger;
  if (chunk.clock_backwards != 0) {
    ledger->Add(LedgerCounter::clock_backwards, chunk.clock_backwards);
  }
  if (chunk.inverted_records != 0) {
    ledger->Add(LedgerCounter::cupti_inverted_timestamps, chunk.inverted_records);
  }
  if (chunk.sequence_count != 0) writer_->PutChunk(chunk);
}

void Drain::Finish(const char* how) noexcept {
  try {
    PutEnd(how);
  } catch (const std::exception& failure) {
    GiveUp(failure);
  }
}

void Drain::PutEnd(const char* how) {
  while (RunOnce(/*live=*/true)) {
  }
  uint64_t open = 0;
  uint64_t repeated = 0;
  for (const Writer& writer : writers_) {
    open += writer.open_depth;
    repeated += writer.repeated;
  }
  open -= std::min(open, context_->ended_threads.load(std::memory_order_relaxed));
  // Those of a program that goes on are no scopes that it left open.
  if (open != 0 && !EndsAsAsked(how)) {
    context_->ledger->Add(LedgerCounter::scopes_open_at_end, open);
    // Left by longjmp, more likely than in the middle of a recursion.
    context_->ledger->Add(LedgerCounter::unbalanced_scopes, repeated);
  }
  SampleClocks(/*force=*/true);
  if (writer_->failed()) return;
  writer_->CollectRows();
  writer_->Begin();
  if (has_unstored_sample_) writer_->PutClock(unstored_sample_);
  writer_->PutClock(last_sample_);
  writer_->PutEnd(how, clock_->MonotonicNs());
  writer_->Commit();
}

}  // namespace gpubound
