// SPDX-License-Identifier: Apache-2.0
//
// Looks for two counters. No state.
#include "analysis/trace/told_progress.h"

#include <bit>
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

ToldValues LastTold(const ProcessTrace& process, const EventSource& source,
                    const ToldValues& before, int64_t until_ns) {
  const LabelId done_label = CounterCalled(process, kDone);
  const LabelId total_label = CounterCalled(process, kTotal);
  if (done_label == LabelId{} || total_label == LabelId{}) return before;
  ToldValues told = before;
  for (uint32_t thread = 0; thread < process.threads.size(); ++thread) {
    const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(thread);
    ThreadBatch batch;
    while (cursor->Next(&batch)) {
      for (const ThreadEvent& event : batch.events) {
        if (event.kind != SlotKind::kCounter || event.time_ns >= until_ns) continue;
        if (event.label == done_label) {
          KeepFirst(event, &told.first_done);
          Keep(event, &told.done);
        }
        if (event.label == total_label) Keep(event, &told.total);
      }
    }
  }
  return told;
}

}  // namespace gpubound
