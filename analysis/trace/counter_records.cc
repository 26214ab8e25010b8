// SPDX-License-Identifier: Apache-2.0
//
// Picks counters out of the events of all threads. No state.
#include "analysis/trace/counter_records.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <set>

#include "analysis/base/in_parallel.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {

std::vector<CounterRecord> ReadCounters(const ProcessTrace& process, const EventSource& source,
                                        const std::function<bool(std::string_view)>& wanted) {
  std::vector<bool> is_wanted(process.labels.size());
  bool any = false;
  for (size_t id = 0; id < process.labels.size(); ++id) {
    const Label& label = process.labels[id];
    is_wanted[id] = label.kind == LabelKind::kCounter && wanted(label.text);
    any |= is_wanted[id];
  }
  std::vector<CounterRecord> records;
  if (!any) return records;
  for (uint32_t thread = 0; thread < process.threads.size(); ++thread) {
    const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(thread);
    ThreadBatch batch;
    bool after_loss = false;
    while (cursor->Next(&batch)) {
      after_loss |= batch.resync || batch.thinned;
      for (const ThreadEvent& event : batch.events) {
        if (event.kind != SlotKind::kCounter || Raw(event.label) >= is_wanted.size() ||
            !is_wanted[Raw(event.label)]) {
          continue;
        }
        const auto value = std::bit_cast<double>(event.payload);
        if (!std::isfinite(value) || event.time_ns < process.span_begin_ns ||
            event.time_ns > process.span_end_ns) {
          continue;
        }
        records.push_back({event.time_ns, value, event.label, thread, after_loss});
        after_loss = false;
      }
    }
  }
  std::stable_sort(records.begin(), records.end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  return records;
}

std::vector<std::vector<CounterRecord>> ReadCountersOfAll(
    const Run& run, const std::function<bool(std::string_view)>& wanted) {
  std::vector<std::vector<CounterRecord>> records(run.processes.size());
  ForEachInParallel(run.processes.size(), [&](size_t p) {
    const ProcessTrace& process = run.processes[p];
    records[p] = ReadCounters(process, *SourceOf(process), wanted);
  });
  return records;
}

std::vector<std::string> CounterNames(const ProcessTrace& process) {
  std::set<std::string> names;
  for (const Label& label : process.labels) {
    if (label.kind == LabelKind::kCounter) names.insert(label.text);
  }
  return {names.begin(), names.end()};
}

}  // namespace gpubound
