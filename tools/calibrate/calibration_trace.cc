// SPDX-License-Identifier: Apache-2.0
#include "tools/calibrate/calibration_trace.h"

#include <cstdint>
#include <string_view>

#include "analysis/calibration/calibration.h"

namespace gpubound {

CalibrationTrace::CalibrationTrace(const Run& run, CalibrationProgram program) {
  for (const ProcessTrace& process : run.processes) {
    if (process.python != (program == CalibrationProgram::kPython)) continue;
    for (const ThreadTrace& thread : process.threads) Add(process, thread);
    entries_.insert(entries_.end(), process.call_entries.begin(), process.call_entries.end());
  }
}

Estimate CalibrationTrace::DurationOf(const CalibrationWorkload& workload) const {
  if (workload.label == nullptr) return {};
  const auto found = durations_.find({workload.within, workload.label});
  return found == durations_.end() ? Estimate() : TrimmedMean(found->second);
}

double CalibrationTrace::EntryNsOf(const CalibrationWorkload& workload) const {
  const bool behind_work = workload.condition == std::string_view(kAfterOtherWork);
  for (const CallEntries& entries : entries_) {
    if (entries.function != workload.label) continue;
    return (behind_work ? entries.behind_work : entries.behind_call).mean_ns;
  }
  return 0;
}

// Of the scopes none nests in one of its own label, and calls lie in one or in none.
void CalibrationTrace::Add(const ProcessTrace& process, const ThreadTrace& thread) {
  std::map<LabelId, int64_t> begin_ns;
  auto call = thread.calls.begin();
  const auto add_calls = [&](int64_t until_ns, const std::string& within) {
    for (; call != thread.calls.end() && call->start_ns < until_ns; ++call) {
      AddLength(within, process.LabelOf(call->label).text, call->end_ns - call->start_ns);
    }
  };
  for (const ThreadEvent& event : thread.events) {
    const std::string& label = process.LabelOf(event.label).text;
    if (event.kind == SlotKind::kBegin) {
      add_calls(event.time_ns, "");
      begin_ns[event.label] = event.time_ns;
    } else if (event.kind == SlotKind::kEnd && begin_ns.contains(event.label)) {
      add_calls(event.time_ns, label);
      AddLength("", label, event.time_ns - begin_ns[event.label]);
    }
  }
  add_calls(INT64_MAX, "");
}

void CalibrationTrace::AddLength(const std::string& within, const std::string& label, int64_t ns) {
  durations_[{within, label}].push_back(static_cast<double>(ns));
}

}  // namespace gpubound
