// SPDX-License-Identifier: Apache-2.0
//
// The worker's turn, as in delivery.h. No lock is held across a call into CUPTI; there is none.
#include "cupti_hooks/cupti/delivery.h"

#include <algorithm>
#include <utility>

#include "cupti_hooks/cupti/cupti_clock.h"

namespace gpubound {
namespace {

// CUPTI's smallest record: what one has at least, as long as none was read.
constexpr uint64_t kSmallestRecordBytes = 24;

constexpr char kLossReason[] = "CUPTI lost records of device work";

}  // namespace

Delivery::Delivery(const CuptiApi& api, ActivityBuffers* buffers, CallbackState* state,
                   DeviceHost* host, DeviceSink* sink, int64_t started_ns, int64_t (*now_ns)(),
                   const std::atomic<bool>& cupti_is_gone)
    : api_(api),
      buffers_(buffers),
      state_(state),
      host_(host),
      sink_(sink),
      now_ns_(now_ns),
      cupti_is_gone_(cupti_is_gone),
      converter_(api, host, sink, state),
      delivered_until_ns_(started_ns),
      last_flush_ns_(started_ns) {}

void Delivery::Drain() {
  ActivityBuffers::Completed completed;
  taken_.clear();
  while (buffers_->TakeCompleted(&completed)) taken_.push_back(completed);
  const bool timed = ConvertTimedCalls();
  if (taken_.empty() && !timed) return;
  // The newest is on top.
  for (auto next = taken_.rbegin(); next != taken_.rend(); ++next) {
    if (cupti_is_gone_.load(std::memory_order_acquire)) return;
    converter_.Convert(next->data, next->valid_bytes);
    bytes_since_flush_ += next->valid_bytes;
    bytes_read_ += next->valid_bytes;
    buffers_->Recycle(*next);
    ConvertTimedCalls();  // their queue is the shorter one
  }
  sink_->Publish();
  CountLosses();
}

bool Delivery::ConvertTimedCalls() {
  if (cupti_is_gone_.load(std::memory_order_acquire)) return false;
  TimedCall call;
  bool any = false;
  // Not for ever, however fast the program is.
  for (uint64_t i = 0; i < TimedCalls::kSize && state_->timed_calls.Take(&call); ++i) {
    converter_.Convert(call);
    any = true;
  }
  const uint64_t lost = state_->timed_calls.TakeLost();
  if (lost != 0) host_->Count(LedgerCounter::device_records_dropped, lost);
  const uint64_t inverted = state_->timed_calls.TakeInverted();
  if (inverted != 0) host_->Count(LedgerCounter::cupti_inverted_timestamps, inverted);
  return any;
}

void Delivery::CountLosses() {
  if (delivered_until_ns() >= end_ns_) converter_.untimed().Forget();
  const ConvertCounts counts = converter_.TakeCounts();
  const auto count = [this](LedgerCounter counter, uint64_t amount) {
    if (amount != 0) host_->Count(counter, amount);
  };
  count(LedgerCounter::cupti_zero_timestamps, counts.untimed + counts.untimed_calls);
  count(LedgerCounter::cupti_inverted_timestamps, counts.inverted + counts.inverted_work);
  count(LedgerCounter::cupti_unknown_records, counts.unknown_kinds);
  count(LedgerCounter::cupti_api_errors, counts.unreadable);
  count(LedgerCounter::graphs_recorded_whole, counts.whole_graphs);
  count(LedgerCounter::graph_launches_lost, counts.graphs_of_no_device);
  count(LedgerCounter::graphs_before_recording, counts.unseen_graphs);
  count(LedgerCounter::api_calls_suppressed, counts.skipped + state_->suppressed_calls.Take());
  count(LedgerCounter::foreign_thread_calls, counts.foreign_threads);
  if (counts.foreign_threads != 0 && !std::exchange(said_foreign_threads_, true)) {
    host_->Note(
        "CUPTI names threads otherwise than the system does: which thread and so which operation "
        "made a CUDA call is not known");
  }
  // Of bytes that nobody read, about as many as of those that were.
  records_read_ += counts.records + counts.skipped;
  const uint64_t record_bytes = records_read_ == 0
                                    ? kSmallestRecordBytes
                                    : std::max(kSmallestRecordBytes, bytes_read_ / records_read_);
  const uint64_t discarded_bytes = buffers_->TakeDiscardedBytes();
  const uint64_t discarded = (discarded_bytes + record_bytes - 1) / record_bytes;
  count(LedgerCounter::device_records_dropped, discarded);
  const uint64_t unknown_kinds = counts.unknown_kinds;
  if (counts.untimed + counts.inverted_work + counts.unreadable + unknown_kinds + discarded != 0) {
    lost_device_work_ = true;
  }
}

void Delivery::CountDropped() {
  size_t dropped = 0;
  if (api_.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) != CUPTI_SUCCESS) return;
  if (dropped == 0) return;
  host_->Count(LedgerCounter::cupti_records_dropped, dropped);
  lost_device_work_ = true;
}

void Delivery::Flush(bool forced) {
  const int64_t asked_ns = now_ns_();
  if (buffers_->requests() == 0) {
    Drain();
    return Advance(asked_ns);
  }

  const uint32_t flags = forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0;
  if (api_.cuptiActivityFlushAll(flags) != CUPTI_SUCCESS) {
    host_->Count(LedgerCounter::cupti_api_errors, 1);
  }
  if (cupti_is_gone_.load(std::memory_order_acquire)) return;  // the flush took too long
  Drain();
  CountLosses();
  CountDropped();
  SettleUnknown(now_ns_());
  // Whether anything was lost is told by what is still to come.
  if (converter_.untimed().IsOpen()) return;
  // What a buffer still holds began after the buffer was requested.
  Advance(std::min(asked_ns, buffers_->OldestOutstanding(0)));
  AdaptBufferSize(asked_ns);
  // As often as there are twice as many, so that of a process that is killed they are known too.
  TellEntryTimes(2 * entries_told_);
}

void Delivery::TellEntryTimes(uint64_t at_least) {
  const uint64_t count = state_->entry_times.count();
  if (count < at_least || count == entries_told_) return;
  entries_told_ = count;
  const ApiFunctions& functions = state_->functions;
  host_->Fact("call_entries", state_->entry_times.Text([&functions](uint32_t id) {
    return functions.NameOf(CUPTI_CB_DOMAIN_RUNTIME_API, id);
  }));
}

void Delivery::EndAt(int64_t end_ns) {
  end_ns_ = end_ns;
  if (end_ns == INT64_MAX) return;
  // A moment later, on the clock of the records. Without it nothing is known to run behind the end.
  int64_t now_ns = 0;
  const bool is_known = ReadCuptiClock(api_, &now_ns);
  converter_.untimed().EndAt(is_known ? static_cast<uint64_t>(now_ns) : UntimedWork::kNoTime);
}

void Delivery::Finish() {
  const int64_t now = now_ns_();
  converter_.untimed().Settle();
  CountLosses();
  // Buffers that came after the last flush may have losses of their own.
  if (buffers_->requests() != 0) CountDropped();
  SettleUnknown(now);
  if (EverythingDelivered()) Advance(now);
  if (unknown_is_open_) host_->MarkUnknown(unknown_from_ns_, unknown_to_ns_, kLossReason);
  unknown_is_open_ = false;
  TellEntryTimes(0);
}

void Delivery::SettleUnknown(int64_t flushed_ns) {
  if (lost_device_work_) {
    if (!unknown_is_open_) {
      unknown_from_ns_ = delivered_until_ns();
      unknown_is_open_ = true;
      host_->MarkUnknown(unknown_from_ns_, INT64_MAX, kLossReason);
    }
    unknown_to_ns_ = flushed_ns;
  } else if (unknown_is_open_) {
    host_->MarkUnknown(unknown_from_ns_, unknown_to_ns_, kLossReason);
    unknown_is_open_ = false;
  }
  lost_device_work_ = false;
}

void Delivery::Advance(int64_t until_ns) {
  if (until_ns <= delivered_until_ns()) return;
  delivered_until_ns_.store(until_ns, std::memory_order_relaxed);
  host_->DeliveredUntil(until_ns);
}

void Delivery::AdaptBufferSize(int64_t now) {
  const int64_t elapsed_ns = now - last_flush_ns_;
  if (elapsed_ns < 100'000'000) return;
  const uint64_t per_second =
      bytes_since_flush_ * 1'000'000'000 / static_cast<uint64_t>(elapsed_ns);
  buffers_->set_preferred_bytes(PreferredBufferBytes(per_second, SIZE_MAX));
  bytes_since_flush_ = 0;
  last_flush_ns_ = now;
}

}  // namespace gpubound
