// SPDX-License-Identifier: Apache-2.0
//
// Processes first, since iterations say where the devices' time is cut. No state.
#include "analysis/compact/run_summing.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/process_rounds.h"
#include "analysis/attribution/unknown_time.h"
#include "analysis/processes/device_usage.h"
#include "analysis/processes/run_frame.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

Status CheckOneHost(const Run& run) {
  for (const ProcessTrace& process : run.processes) {
    const std::string& first = run.processes.front().identity.host;
    if (process.identity.host == first) continue;
    return Error{"summing the run", run.path,
                 "processes of " + first + " and " + process.identity.host, "processes of one host",
                 "Runs of several hosts cannot be summed yet; keep their detail."};
  }
  return Ok{};
}

// |sums|: with what was summed before.
std::vector<SummedUtilization> UtilizationUntil(const ProcessTrace& process,
                                                const ProcessSums& sums,
                                                const std::vector<int64_t>& boundaries_ns,
                                                const Interval& added) {
  std::map<std::pair<std::string, int64_t>, SummedUtilization> parts;
  const auto add = [&](const std::string& uuid, int64_t time_ns, int64_t samples, int64_t percents,
                       int64_t memory_bytes) {
    const auto next = std::upper_bound(boundaries_ns.begin(), boundaries_ns.end(), time_ns);
    if (next == boundaries_ns.begin()) return;  // before the run
    const int64_t begin_ns = *std::prev(next);
    SummedUtilization& part = parts[{uuid, begin_ns}];
    part = {uuid, begin_ns, part.samples + samples, part.percents + percents,
            std::max(part.memory_peak_bytes, memory_bytes)};
  };
  for (const SummedUtilization& part : sums.utilization) {
    add(part.uuid, part.begin_ns, part.samples, part.percents, part.memory_peak_bytes);
  }
  for (const DeviceSample& read : process.utilization) {
    const UtilizationSample& sample = read.sample;
    if (sample.time_ns < added.begin_ns || sample.time_ns >= added.end_ns) continue;
    const bool has_percent = sample.gpu_percent >= 0;
    if (!has_percent && sample.memory_used_bytes < 0) continue;
    add(read.uuid, sample.time_ns, has_percent ? 1 : 0, has_percent ? sample.gpu_percent : 0,
        sample.memory_used_bytes);
  }
  std::vector<SummedUtilization> rows;
  for (auto& [key, part] : parts) rows.push_back(std::move(part));
  return rows;
}

// Whether |process| began later, and nothing of it has to be summed. What its devices did before it
// began, as far as clocks can be trusted, is time of the devices all the same.
bool IsLater(const ProcessTrace& process, int64_t until_ns) {
  if (process.span_begin_ns < until_ns) return false;
  const std::shared_ptr<const EventSource> source = SourceOf(process);
  const RecordStream<DeviceWork> work(source->Work());
  return work.Peek() == nullptr || work.Peek()->start_ns >= until_ns;
}

// Where the time of devices may have to be cut.
std::vector<int64_t> BoundariesOf(const SummedProcess* stepping, const Interval& span,
                                  int64_t until_ns) {
  std::vector<int64_t> boundaries_ns = {span.begin_ns};
  if (stepping != nullptr) {
    for (const int64_t time_ns : stepping->boundaries_ns) {
      boundaries_ns.push_back(std::clamp(time_ns, span.begin_ns, span.end_ns));
    }
  }
  if (span.end_ns < until_ns) boundaries_ns.push_back(span.end_ns);
  std::sort(boundaries_ns.begin(), boundaries_ns.end());
  boundaries_ns.erase(std::unique(boundaries_ns.begin(), boundaries_ns.end()), boundaries_ns.end());
  return boundaries_ns;
}

}  // namespace

Result<SummedRun> SumRun(const Run& run, const BreakdownOptions& options, int64_t until_ns) {
  const Status one_host = CheckOneHost(run);
  if (!one_host.ok()) return one_host.error();
  const RunFrame frame = FrameOf(run);
  Result<Outcomes<SummedProcess>> outcomes = ProcessesInRounds<SummedProcess>(
      run, frame.root, false,
      [&](const ProcessTrace& process, const ProcessContext& context) -> Result<SummedProcess> {
        if (IsLater(process, until_ns)) {
          SummedProcess later;
          later.sums.identity = process.identity;
          return later;
        }
        Result<SummedProcess> summed =
            SumProcess(process, *SourceOf(process), options, context, until_ns);
        if (summed.ok()) {
          const TreePeaks none;
          summed->sums.process_tree =
              PeaksOf(process, context.before == nullptr ? none : context.before->process_tree);
        }
        return summed;
      });
  if (!outcomes.ok()) return outcomes.error();

  std::vector<SummedProcess>& processes = outcomes->all;
  size_t stepping = SteppingProcess(processes, frame.root);
  // The first iteration of the root may have begun.
  if (stepping == processes.size()) stepping = frame.root;
  const SummedProcess* steps = stepping < processes.size() ? &processes[stepping] : nullptr;
  RunActivity activity;
  std::vector<std::vector<Interval>> pauses;
  for (SummedProcess& process : processes) {
    activity.push_back(process.activity);
    pauses.push_back(std::move(process.pauses));
  }
  const std::vector<int64_t> boundaries_ns = BoundariesOf(steps, frame.span, until_ns);
  Result<std::string> devices =
      SumDevices(run, activity, UnknownOf(run, pauses, std::vector<int64_t>(processes.size())),
                 boundaries_ns, until_ns);
  if (!devices.ok()) return devices.error();
  const Interval added{run.sums == nullptr ? frame.span.begin_ns : run.sums->until_ns, until_ns};
  for (size_t p = 0; p < processes.size(); ++p) {
    ProcessSums& sums = processes[p].sums;
    sums.utilization = UtilizationUntil(run.processes[p], sums, boundaries_ns, added);
  }

  SummedRun summed;
  if (steps != nullptr) summed.iterations = steps->steady;
  summed.sums.until_ns = until_ns;
  summed.sums.operations = options.operations;
  summed.sums.devices = std::move(*devices);
  for (SummedProcess& process : processes) {
    summed.sums.processes.push_back(std::move(process.sums));
  }
  return summed;
}

}  // namespace gpubound
