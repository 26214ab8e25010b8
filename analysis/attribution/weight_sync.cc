// SPDX-License-Identifier: Apache-2.0
//
// Looks at the scopes of every thread. No state.
#include "analysis/attribution/weight_sync.h"

#include <algorithm>
#include <memory>

#include "analysis/base/interval.h"
#include "analysis/trace/counter_records.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/name_lists.h"

namespace gpubound {
namespace {

std::vector<bool> SyncLabels(const ProcessTrace& process) {
  std::vector<bool> is_sync(process.labels.size());
  for (size_t id = 0; id < process.labels.size(); ++id) {
    const Label& label = process.labels[id];
    is_sync[id] = label.kind == LabelKind::kOperation && WeightSyncNames().Matches(label.text);
  }
  return is_sync;
}

// When |thread| was in any of them, one within another counting once. Where events are missing it
// was in none.
std::vector<Interval> TimesOf(const EventSource& source, uint32_t thread,
                              const std::vector<bool>& is_sync, int64_t span_end_ns) {
  std::vector<Interval> times;
  size_t depth = 0;
  int64_t begin_ns = 0;
  int64_t last_ns = INT64_MIN;
  const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(thread);
  ThreadBatch batch;
  const auto counts = [&is_sync](LabelId label) {
    return Raw(label) < is_sync.size() && is_sync[Raw(label)];
  };
  while (cursor->Next(&batch)) {
    if (batch.resync || batch.thinned) {
      if (depth > 0) times.push_back({begin_ns, last_ns});
      depth = static_cast<size_t>(std::count_if(batch.open.begin(), batch.open.end(), counts));
      begin_ns = batch.events.front().time_ns;
    }
    for (const ThreadEvent& event : batch.events) {
      last_ns = event.time_ns;
      if (!counts(event.label)) continue;
      if (event.kind == SlotKind::kBegin && depth++ == 0) begin_ns = event.time_ns;
      if (event.kind == SlotKind::kEnd && depth > 0 && --depth == 0) {
        times.push_back({begin_ns, event.time_ns});
      }
    }
  }
  if (depth > 0) times.push_back({begin_ns, span_end_ns});
  return times;
}

bool Overlap(const Interval& a, const Interval& b) {
  return a.begin_ns < b.end_ns && b.begin_ns < a.end_ns;
}

}  // namespace

std::optional<ReportWeightSync> WeightSync(const ProcessTrace& process, size_t primary,
                                           const std::vector<Iteration>& steady) {
  const std::vector<bool> is_sync = SyncLabels(process);
  if (std::find(is_sync.begin(), is_sync.end(), true) == is_sync.end()) return std::nullopt;
  const Interval window = steady.empty()
                              ? Interval{process.span_begin_ns, process.span_end_ns}
                              : Interval{steady.front().time.begin_ns, steady.back().time.end_ns};
  const std::shared_ptr<const EventSource> source = SourceOf(process);
  std::vector<Interval> exposed;
  std::vector<Interval> others;
  for (uint32_t thread = 0; thread < process.threads.size(); ++thread) {
    for (const Interval& time : TimesOf(*source, thread, is_sync, process.span_end_ns)) {
      const Interval inside = time.ClippedTo(window);
      if (!inside.empty()) (thread == primary ? exposed : others).push_back(inside);
    }
  }
  ReportWeightSync sync;
  sync.iterations = steady.size();
  sync.ns = window.length();
  // One that several threads have a part in is one.
  sync.count = exposed.size();
  for (const Interval& time : Union(others)) {
    sync.count += std::none_of(exposed.begin(), exposed.end(),
                               [&time](const Interval& other) { return Overlap(time, other); });
  }
  if (sync.count == 0) return std::nullopt;
  sync.exposed_ns = UnionLength(exposed);
  others.insert(others.end(), exposed.begin(), exposed.end());
  sync.hidden_ns = UnionLength(std::move(others)) - sync.exposed_ns;
  for (const CounterRecord& record : ReadCounters(
           process, *source, [](std::string_view name) { return name == kSyncBytesCounter; })) {
    if (record.time_ns < window.begin_ns || record.time_ns > window.end_ns) continue;
    sync.bytes = sync.bytes.value_or(0) + record.value;
  }
  return sync;
}

}  // namespace gpubound
