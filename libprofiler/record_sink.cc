// SPDX-License-Identifier: Apache-2.0
//
// Fills record pages. Dropping works as in thread_buffer.cc.
#include "libprofiler/record_sink.h"

#include <cstring>

namespace gpubound {

template <typename Record>
void RecordSink::AppendTo(EventFamily family, const Record& record) {
  constexpr uint32_t kCapacity = kPageBodyBytes / sizeof(Record);
  Family* state = &families_[static_cast<int>(family)];
  if (state->page != kNoPage && state->count == kCapacity) SubmitPage(state);
  if (state->page == kNoPage && !StartPage(family, state)) return;
  char* place = context_->mapping->body(state->page) + size_t{state->count} * sizeof(Record);
  std::memcpy(place, &record, sizeof(Record));
  ++state->count;
}

bool RecordSink::StartPage(EventFamily family, Family* state) {
  const bool flusher = family == EventFamily::kCpuTime || family == EventFamily::kStack;
  if (!flusher && context_->finished.load(std::memory_order_relaxed)) return false;
  if (!state->dropping || context_->pool->MayHavePage()) {
    state->page = context_->pool->Acquire(/*may_wait=*/!flusher && !state->dropping);
  }
  state->dropping = state->page == kNoPage;
  if (state->dropping) {
    ++state->dropped;
    // A time that has no CPU time is seen by the reader; of stacks the flusher tells.
    if (!flusher) context_->ledger->Add(LedgerCounter::device_records_dropped, 1);
    if (family == EventFamily::kStack) ++dropped_stacks_;
    return false;
  }
  LivePageHeader* header = context_->mapping->page(state->page);
  header->family = static_cast<uint32_t>(family);
  header->thread = Raw(thread_);
  header->open_depth = 0;
  header->base_ticks = 0;
  header->first_sequence = state->first_sequence;
  header->dropped_before = state->dropped;
  header->record_count = 0;
  std::atomic_ref<uint32_t>(header->state)
      .store(static_cast<uint32_t>(PageState::kOwned), std::memory_order_release);
  state->count = 0;
  state->dropped = 0;
  return true;
}

void RecordSink::PublishPage(const Family& state) {
  std::atomic_ref<uint32_t>(context_->mapping->page(state.page)->record_count)
      .store(state.count, std::memory_order_release);
}

void RecordSink::SubmitPage(Family* state) {
  PublishPage(*state);
  context_->pool->Submit(state->page, state->count);
  state->first_sequence += state->count;
  state->page = kNoPage;
}

void RecordSink::Publish() {
  for (const Family& state : families_) {
    if (state.page != kNoPage) PublishPage(state);
  }
}

void RecordSink::Append(const ApiRecord& record) { AppendTo(EventFamily::kApi, record); }
void RecordSink::Append(const DeviceRecord& record) { AppendTo(EventFamily::kDevice, record); }
void RecordSink::Append(const SyncRecord& record) { AppendTo(EventFamily::kSync, record); }
void RecordSink::Append(const OverheadRecord& record) { AppendTo(EventFamily::kOverhead, record); }
void RecordSink::Append(const CpuTimeRecord& record) { AppendTo(EventFamily::kCpuTime, record); }
void RecordSink::Append(const StackRecord& record) { AppendTo(EventFamily::kStack, record); }

}  // namespace gpubound
