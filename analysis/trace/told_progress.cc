// SPDX-License-Identifier: Apache-2.0
//
// Looks for counters by their names. No state.
#include "analysis/trace/told_progress.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace gpubound {
namespace {

constexpr char kDone[] = "progress_done";
constexpr char kTotal[] = "progress_total";

void Keep(const ThreadEvent& event, ToldValue* told) {
  if (event.time_ns >= told->time_ns) *told = {event.time_ns, std::bit_cast<double>(event.payload)};
}

void KeepFirst(const ThreadEvent& event, ToldValue* told) {
  if (told->time_ns != INT64_MIN && told->time_ns <= event.time_ns) return;
  *told = {event.time_ns, std::bit_cast<double>(event.payload)};
}

LabelId CounterCalled(const ProcessTrace& process, const char* name) {
  for (size_t id = 0; id < process.labels.size(); ++id) {
    const Label& label = process.labels[id];
    if (label.kind == LabelKind::kCounter && label.text == name) return static_cast<LabelId>(id);
  }
  return LabelId{};
}

}  // namespace

void WorkCounted::Add(const ToldValue& record) {
  if (!std::isfinite(record.value)) return;
  if (count++ == 0) {
    first = last = record;
    return;
  }
  grows = grows && record.value > last.value;
  since_first += record.value;
  last = record;
}

ToldValues LastTold(const ProcessTrace& process, const EventSource& source,
                    const ToldValues& before, int64_t until_ns) {
  const LabelId done_label = CounterCalled(process, kDone);
  const LabelId total_label = CounterCalled(process, kTotal);
  std::array<LabelId, kWorkCounters.size()> work_labels;
  bool any = done_label != LabelId{} && total_label != LabelId{};
  for (size_t i = 0; i < kWorkCounters.size(); ++i) {
    work_labels[i] = CounterCalled(process, kWorkCounters[i]);
    any |= work_labels[i] != LabelId{};
  }
  if (!any) return before;
  ToldValues told = before;
  for (uint32_t thread = 0; thread < process.threads.size(); ++thread) {
    const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(thread);
    ThreadBatch batch;
    while (cursor->Next(&batch)) {
      for (const ThreadEvent& event : batch.events) {
        if (event.kind != SlotKind::kCounter || event.time_ns >= until_ns) continue;
        if (event.label == done_label && event.label != LabelId{}) {
          KeepFirst(event, &told.first_done);
          Keep(event, &told.done);
        }
        if (event.label == total_label && event.label != LabelId{}) Keep(event, &told.total);
        for (size_t i = 0; i < kWorkCounters.size(); ++i) {
          if (event.label == LabelId{} || event.label != work_labels[i]) continue;
          told.work[i].Add({event.time_ns, std::bit_cast<double>(event.payload)});
        }
      }
    }
  }
  return told;
}

}  // namespace gpubound
