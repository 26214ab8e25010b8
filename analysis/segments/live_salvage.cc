// SPDX-License-Identifier: Apache-2.0
//
// Reads a live mapping as bytes that may say anything. One object, one thread.
#include "analysis/segments/live_salvage.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <tuple>
#include <type_traits>

#include "analysis/base/plain_file.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

// Of the pages, until none has changed hands.
constexpr int kMostPasses = 16;

std::vector<std::byte> ReadFile(const std::string& path, bool* ok) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  *ok = file.good();
  if (!*ok) return {};
  std::vector<std::byte> bytes(static_cast<size_t>(std::max<std::streamoff>(0, file.tellg())));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

// A writer's page that goes on, or a free one that stays free.
bool IsSameUse(const LivePageHeader& before, const LivePageHeader& now) {
  return before.state == now.state && before.family == now.family && before.thread == now.thread &&
         before.first_sequence == now.first_sequence;
}

template <typename T>
bool ReadFrom(std::ifstream* file, size_t offset, T* value) {
  file->clear();
  file->seekg(static_cast<std::streamoff>(offset));
  file->read(reinterpret_cast<char*>(value), sizeof(T));
  return file->good();
}

std::string TextOf(const std::byte* bytes, size_t size) {
  return {reinterpret_cast<const char*>(bytes), size};
}

ClockConversion ConversionOf(const ProcessTrace& process, bool device_clock) {
  std::vector<ClockKnot> knots;
  for (const ClockSample& sample : process.clock_samples) {
    if (device_clock && sample.source_ns == 0) continue;
    const uint64_t clock = device_clock ? static_cast<uint64_t>(sample.source_ns) : sample.ticks;
    knots.push_back({clock, sample.monotonic_ns});
  }
  return ClockConversion(knots);
}

void SortSamples(std::vector<ClockSample>* samples) {
  const auto key = [](const ClockSample& s) { return std::tie(s.monotonic_ns, s.ticks); };
  std::sort(samples->begin(), samples->end(),
            [key](const ClockSample& a, const ClockSample& b) { return key(a) < key(b); });
  const auto last =
      std::unique(samples->begin(), samples->end(),
                  [key](const ClockSample& a, const ClockSample& b) { return key(a) == key(b); });
  samples->erase(last, samples->end());
}

}  // namespace

template <typename T>
bool LiveFile::ReadAt(size_t offset, T* value) const {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return false;
  std::memcpy(value, bytes_.data() + offset, sizeof(T));
  return true;
}

Result<LiveFile> LiveFile::Open(const std::string& path, const std::function<void()>& meanwhile) {
  const auto error = [&path](const std::string& found, const std::string& expected) {
    return Error{"salvaging the live mapping", path, found, expected,
                 "What the process's database holds is reported without it."};
  };
  if (IsNoPlainFile(path)) return error(kNoPlainFile, "a file");
  std::error_code ignored;
  const uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored && size > kLiveMostBytes) {
    return error(std::to_string(size) + " bytes", "at most " + std::to_string(kLiveMostBytes));
  }
  LiveFile live;
  bool ok = false;
  live.bytes_ = ReadFile(path, &ok);
  if (!ok) return error("a file that cannot be opened", "a readable file");
  // It is made of zeros, gets its header, and its magic number last.
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (std::all_of(live.bytes_.begin(), live.bytes_.end(), is_zero)) return live;
  if (!live.ReadAt(0, &live.header_)) {
    return error(std::to_string(live.bytes_.size()) + " bytes",
                 "at least " + std::to_string(sizeof(LiveHeader)));
  }
  const bool begins = live.header_.magic == 0 && live.header_.version == kLiveVersion;
  if (live.header_.magic != kLiveMagic && !begins) {
    return error("no live mapping", "its magic number");
  }
  if (live.header_.version != kLiveVersion) {
    return error("version " + std::to_string(live.header_.version),
                 "version " + std::to_string(kLiveVersion));
  }
  // A recorder announces the mapping before anything goes into a page, or a second transaction into
  // the database.
  if (begins && (live.transactions() > 1 || !live.PagesInOrder().empty())) {
    return error("events without its magic number", "its magic number");
  }
  if (meanwhile) meanwhile();
  live.CatchUp(path);
  return live;
}

uint64_t LiveFile::transactions() const {
  return header_.header_bytes >= sizeof(LiveHeader) ? header_.transactions : 0;
}

void LiveFile::CatchUp(const std::string& path) {
  std::ifstream file;
  file.rdbuf()->pubsetbuf(nullptr, 0);  // each read is of what is there now
  file.open(path, std::ios::binary);
  bool changed = file.is_open();
  for (int pass = 0; changed && pass < kMostPasses; ++pass) {
    changed = Grow(path, &file);
    for (uint32_t i = 0; i < header_.page_count; ++i) {
      const size_t offset = header_.pages_offset + size_t{i} * kLivePageSize;
      LivePageHeader before;
      LivePageHeader now;
      if (!ReadAt(offset, &before) || !ReadFrom(&file, offset, &now)) break;
      if (IsSameUse(before, now)) continue;
      changed = true;
      file.seekg(static_cast<std::streamoff>(offset));
      file.read(
          reinterpret_cast<char*>(bytes_.data() + offset),
          static_cast<std::streamsize>(std::min<size_t>(kLivePageSize, bytes_.size() - offset)));
    }
  }
}

// Takes up pages that were added behind the others. True: there are some.
bool LiveFile::Grow(const std::string& path, std::ifstream* file) {
  LiveHeader now;
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error || !ReadFrom(file, 0, &now) || now.page_count <= header_.page_count) return false;
  if (size > bytes_.size()) bytes_.resize(size);
  header_.page_count = now.page_count;
  header_.file_size = now.file_size;
  return true;
}

void LiveFile::MergeRows(ProcessTrace* process, bool closed) const {
  for (uint32_t i = 0; i < kLiveMaxThreads; ++i) {
    LiveThread thread;
    if (!ReadAt(header_.threads_offset + size_t{i} * sizeof(LiveThread), &thread)) break;
    if (thread.tid == 0) continue;
    const auto ordinal = static_cast<ThreadId>(thread.ordinal);
    const bool known =
        std::any_of(process->threads.begin(), process->threads.end(),
                    [ordinal](const ThreadTrace& row) { return row.ordinal == ordinal; });
    if (known) continue;
    ThreadTrace& row = process->threads.emplace_back();
    row.ordinal = ordinal;
    row.tid = thread.tid;
    row.name.assign(thread.name, strnlen(thread.name, sizeof(thread.name)));
  }

  size_t offset = header_.labels_offset;
  LiveLabel label;
  while (ReadAt(offset, &label) && label.size != 0) {
    const uint64_t needed = sizeof(LiveLabel) + uint64_t{label.domain_bytes} + label.text_bytes;
    if (label.size < needed || label.size % 4 != 0 || label.size > bytes_.size() - offset) break;
    if (label.id != 0 && label.id < kMaxLabels) {
      if (label.id >= process->labels.size()) process->labels.resize(label.id + 1);
      const std::byte* text = bytes_.data() + offset + sizeof(LiveLabel);
      process->labels[label.id] = {
          static_cast<LabelKind>(label.kind), static_cast<Layer>(label.layer & 7),
          TextOf(text, label.domain_bytes), TextOf(text + label.domain_bytes, label.text_bytes)};
    }
    offset += label.size;
  }

  const uint32_t samples = std::min(header_.clock_sample_count, kLiveClockSamples);
  process->clock_samples.insert(process->clock_samples.end(), header_.clock_samples,
                                header_.clock_samples + samples);
  SortSamples(&process->clock_samples);
  for (size_t i = 0; i < kRecordedCounters; ++i) {
    process->ledger[i] = std::max(process->ledger[i], header_.ledger[i]);
  }
  if (!closed) MergeDelivery(process);
}

// The header knows of later deliveries than the database's row, whose place it takes.
void LiveFile::MergeDelivery(ProcessTrace* process) const {
  if (header_.delivered_until_ns == 0) return;
  for (UnknownInterval& interval : process->unknown) {
    if (interval.reason != kUndeliveredReason) continue;
    interval.start_ns = std::max(interval.start_ns, header_.delivered_until_ns);
    return;
  }
  process->unknown.push_back({header_.delivered_until_ns, kOpenEnded, kUndeliveredReason});
}

std::vector<LiveFile::Page> LiveFile::PagesInOrder() const {
  std::vector<Page> pages;
  for (uint32_t i = 0; i < header_.page_count; ++i) {
    const size_t offset = header_.pages_offset + size_t{i} * kLivePageSize;
    Page page;
    if (!ReadAt(offset, &page.header)) break;
    const auto state = static_cast<PageState>(page.header.state);
    if (state != PageState::kOwned && state != PageState::kFull) continue;
    page.body_offset = offset + kLivePageHeaderBytes;
    pages.push_back(page);
  }
  std::sort(pages.begin(), pages.end(), [](const Page& a, const Page& b) {
    return std::tie(a.header.family, a.header.thread, a.header.first_sequence) <
           std::tie(b.header.family, b.header.thread, b.header.first_sequence);
  });
  return pages;
}

Salvaged LiveFile::AddEvents(const ProcessTrace& process, const Coverage& coverage,
                             EventStore* store) const {
  const ClockConversion ticks = ConversionOf(process, false);
  const ClockConversion device = ConversionOf(process, true);
  Coverage next = coverage;
  Salvaged salvaged;
  for (const Page& page : PagesInOrder()) {
    const auto family = static_cast<EventFamily>(page.header.family);
    const uint64_t first = page.header.first_sequence;
    // What came before the iterations that were to be recorded was let go.
    const uint64_t begin = process.steps.empty() ? 0 : first;
    uint64_t& expected =
        next.try_emplace(std::pair(family, page.header.thread), begin).first->second;
    const uint64_t skip = expected > first ? expected - first : 0;
    const bool gap = first > expected || (page.header.dropped_before != 0 && skip == 0);
    if (first > expected) {
      salvaged.missing += first - expected;
      salvaged.work_missing |= family == EventFamily::kDevice;
    }
    uint64_t taken = 0;  // of sequence numbers
    switch (family) {
      case EventFamily::kThread:
        taken = AddThreadPage(page, skip, gap, ticks, store, &salvaged.events);
        break;
      case EventFamily::kApi:
        taken = AddRecordPage<ApiRecord>(page, skip, device, store, &salvaged.events);
        break;
      case EventFamily::kDevice:
        taken = AddRecordPage<DeviceRecord>(page, skip, device, store, &salvaged.events);
        break;
      case EventFamily::kSync:
        taken = AddRecordPage<SyncRecord>(page, skip, device, store, &salvaged.events);
        break;
      case EventFamily::kOverhead:
        taken = AddRecordPage<OverheadRecord>(page, skip, device, store, &salvaged.events);
        break;
      case EventFamily::kCpuTime:
        taken = AddRecordPage<CpuTimeRecord>(page, skip, {}, store, &salvaged.events);
        break;
      case EventFamily::kStack:
        taken = AddRecordPage<StackRecord>(page, skip, {}, store, &salvaged.events);
        break;
      case EventFamily::kNone:
        break;
    }
    expected = std::max(expected, first + skip + taken);
  }
  return salvaged;
}

uint64_t LiveFile::AddThreadPage(const Page& page, uint64_t skip, bool gap,
                                 const ClockConversion& clock, EventStore* store,
                                 uint64_t* added) const {
  ClockCursor cursor(clock);
  std::vector<ThreadEvent> events;
  uint64_t slot_index = 0;
  const auto slot_at = [&](uint64_t index, Slot* slot) {
    return index < kSlotsPerPage && ReadAt(page.body_offset + index * sizeof(Slot), slot);
  };
  Slot slot = 0;
  while (slot_at(slot_index, &slot) && slot != 0) {
    ThreadEvent event;
    event.kind = KindOf(slot);
    event.label = LabelOf(slot);
    event.time_ns = cursor.ToMonotonic(page.header.base_ticks + TicksOf(slot));
    const uint64_t slots = HasPayload(event.kind) ? 2 : 1;
    if (slots == 2 && !slot_at(slot_index + 1, &event.payload)) break;
    if (slot_index >= skip) events.push_back(event);
    slot_index += slots;
  }
  std::vector<LabelId> open;
  const uint32_t depth = std::min(page.header.open_depth, kMaxOpenScopes);
  for (uint32_t i = 0; i < depth; ++i) {
    open.push_back(static_cast<LabelId>(page.header.open_labels[i]));
  }
  *added += events.size();
  store->AddThreadEvents(page.header.thread, std::move(events), open, gap);
  return slot_index > skip ? slot_index - skip : 0;
}

template <typename Record>
uint64_t LiveFile::AddRecordPage(const Page& page, uint64_t skip, const ClockConversion& clock,
                                 EventStore* store, uint64_t* added) const {
  ClockCursor cursor(clock);
  const uint64_t count =
      std::min<uint64_t>(page.header.record_count, kPageBodyBytes / sizeof(Record));
  uint64_t taken = 0;
  for (uint64_t i = skip; i < count; ++i) {
    Record record;
    if (!ReadAt(page.body_offset + i * sizeof(Record), &record)) break;
    const int64_t start_ns = cursor.ToMonotonic(record.start_ns);
    const int64_t end_ns = cursor.ToMonotonic(record.end_ns);
    record.start_ns = static_cast<uint64_t>(start_ns);
    record.end_ns = static_cast<uint64_t>(std::max(start_ns, end_ns));
    store->Add(record);
    ++taken;
  }
  *added += taken;
  return taken;
}

}  // namespace gpubound
