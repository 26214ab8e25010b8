// SPDX-License-Identifier: Apache-2.0
//
// Reads the facts of a process field by field. No state.
#include "analysis/reader/process_facts.h"

#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/whole_number.h"
#include "analysis/trace/plausible_time.h"
#include "proto/recording_end.h"
#include "proto/schema.h"
#include "proto/step_range.h"

namespace gpubound {
namespace {

std::string TextOf(const MetaRows& meta, const char* key) {
  const auto found = meta.find(key);
  return found == meta.end() ? std::string() : found->second;
}

std::optional<int64_t> IntOf(const MetaRows& meta, const char* key) {
  return ParseInt(TextOf(meta, key));
}

std::optional<int64_t> TimeOf(const MetaRows& meta, const char* key, ProcessTrace* process) {
  const std::optional<int64_t> time_ns = IntOf(meta, key);
  if (!time_ns || IsPlausibleTime(*time_ns)) return time_ns;
  ++process->Count(LedgerCounter::times_impossible);
  return std::nullopt;
}

std::vector<std::string> SplitAtNul(const std::string& text) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find('\0', begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// A line that is no such line is left out.
std::vector<CallEntries> CallEntriesFrom(const std::string& text) {
  std::vector<CallEntries> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    CallEntries of;
    CallEntries::Timed& first = of.behind_call;
    CallEntries::Timed& second = of.behind_work;
    words >> of.function >> first.calls >> first.mean_ns >> second.calls >> second.mean_ns;
    const bool makes_sense = std::min(first.mean_ns, second.mean_ns) >= 0 &&
                             std::isfinite(first.mean_ns + second.mean_ns);
    if (words && makes_sense) found.push_back(std::move(of));
  }
  return found;
}

void AddStackCounts(const MetaRows& meta, ProcessTrace* process) {
  const auto count = [&](const char* key, LedgerCounter counter) {
    process->Count(counter) +=
        static_cast<uint64_t>(std::max<int64_t>(0, IntOf(meta, key).value_or(0)));
  };
  count(kStackLooksFact, LedgerCounter::stack_looks);
  count(kStackLooksTornFact, LedgerCounter::stack_looks_torn);
  count(kFramesOverflowedFact, LedgerCounter::frames_overflowed);
  if (meta.contains(kStacksUnavailableFact)) ++process->Count(LedgerCounter::stacks_unavailable);
}

}  // namespace

void ReadFacts(const MetaRows& meta, ProcessTrace* process, RecordedSpan* span) {
  if (meta.empty()) return;
  process->boot_id = TextOf(meta, "boot_id");
  process->pid_namespace = IntOf(meta, "pid_namespace").value_or(0);
  const std::optional<int64_t> rank = IntOf(meta, "rank");
  const std::optional<int64_t> size = IntOf(meta, "world_size");
  if (rank && size && *rank >= 0 && *rank < *size) {
    process->job = {TextOf(meta, "rank_variable"), *rank, *size};
  }
  process->role = TextOf(meta, "role");
  process->parent_pid = IntOf(meta, "parent_pid").value_or(0);
  process->name = TextOf(meta, "name");
  process->command = SplitAtNul(TextOf(meta, "command"));
  process->version = TextOf(meta, "version");
  process->device_kind = TextOf(meta, "device_kind");
  process->cpu_model = TextOf(meta, "cpu_model");
  process->driver_version = TextOf(meta, "driver_version");
  process->cupti_version = TextOf(meta, "cupti_version");
  process->python_version = TextOf(meta, "python_version");
  process->cuda_runtime = TextOf(meta, "cuda_runtime");
  process->nvml_unavailable = TextOf(meta, "nvml_unavailable");
  AddStackCounts(meta, process);
  process->queries_not_counted = TextOf(meta, "queries_not_counted");
  process->call_entries = CallEntriesFrom(TextOf(meta, "call_entries"));
  process->imported_pids = TextOf(meta, "imported_pids");
  process->main_tid = static_cast<uint32_t>(IntOf(meta, "main_tid").value_or(0));
  process->first_iteration_counts = IntOf(meta, "first_iteration_counts").value_or(0) != 0;
  process->reporting_tid = static_cast<uint32_t>(IntOf(meta, "reporting_tid").value_or(0));
  process->python = IntOf(meta, "python").value_or(0) != 0;
  process->end_how = TextOf(meta, "end_how");
  const bool replaced = TextOf(meta, kPreloadFact) == kPreloadReplaced;
  process->Count(LedgerCounter::preload_replaced) = replaced ? 1 : 0;
  TimeOf(meta, "start_realtime_ns", process);  // part of the identity, which the segment has read
  span->begin_ns = TimeOf(meta, "start_monotonic_ns", process);
  span->end_ns = TimeOf(meta, "end_monotonic_ns", process);
  process->steps = TextOf(meta, "steps");
  span->steps_begin_ns = TimeOf(meta, "steps_begin_ns", process);
  span->steps_end_ns = TimeOf(meta, "steps_end_ns", process);
}

void ClipToSteps(const RecordedSpan& span, ProcessTrace* process) {
  const std::optional<StepRange> steps = ParseStepRange(process->steps);
  if (!steps) return;
  const bool begun = steps->begin == 0 || span.steps_begin_ns;
  const int64_t begin_ns =
      std::max(process->span_begin_ns, span.steps_begin_ns.value_or(INT64_MIN));
  if (span.steps_end_ns && *span.steps_end_ns <= process->span_end_ns) {
    process->span_end_ns = *span.steps_end_ns;
    process->span_end = SpanEnd::kAsked;
  }
  process->outside_steps = !begun || begin_ns >= process->span_end_ns;
  if (process->outside_steps) return;
  process->before_span_ns = begin_ns - process->span_begin_ns;
  process->span_begin_ns = begin_ns;
}

SpanEnd SpanEndOf(const ProcessTrace& process, const RecordedSpan& span) {
  if (!span.end_ns) return SpanEnd::kLastEvent;
  return EndsAsAsked(process.end_how) ? SpanEnd::kAsked : SpanEnd::kClosed;
}

void InferDeviceKind(ProcessTrace* process) {
  if (process->device_kind != "none" || !process->end_how.empty()) return;
  if (process->Counted(LedgerCounter::simulated_device) != 0) {
    process->device_kind = "simulated";
  } else if (!process->cupti_version.empty()) {
    process->device_kind = "real";
  }
}

void DropImpossibleRows(ProcessTrace* process) {
  uint64_t& dropped = process->Count(LedgerCounter::times_impossible);
  dropped += std::erase_if(process->unknown, [](const UnknownInterval& interval) {
    const bool open = interval.end_ns == kOpenEnded;
    return !IsPlausibleTime(interval.start_ns) || (!open && !IsPlausibleTime(interval.end_ns));
  });
  dropped += std::erase_if(process->clock_samples, [](const ClockSample& sample) {
    return !IsPlausibleTime(sample.monotonic_ns) || !IsPlausibleTime(sample.realtime_ns);
  });
}

}  // namespace gpubound
