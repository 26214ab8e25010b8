// SPDX-License-Identifier: Apache-2.0
//
// Sums a process until some instant. No state.
#include "analysis/attribution/process_summing.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "analysis/attribution/sweep_setup.h"
#include "analysis/trace/told_progress.h"

namespace gpubound {
namespace {

// By number, those without a row last.
std::vector<SummedThread> ThreadsOf(const ProcessTrace& process, const EventSource& source) {
  std::vector<SummedThread> threads;
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    const ThreadTrace& thread = process.threads[t];
    threads.push_back({thread.ordinal, thread.tid, thread.began_ns});
    const std::unique_ptr<ThreadCursor> events = source.ThreadEvents(t);
    ThreadBatch first;
    if (events->Next(&first)) {
      threads.back().began_ns = std::min(threads.back().began_ns, first.events.front().time_ns);
    }
  }
  for (const uint32_t tid : source.FurtherThreads()) threads.push_back({ThreadId{}, tid});
  return threads;
}

}  // namespace

ProcessWaits WaitsOf(const std::vector<PeerWait>& waits, const std::vector<Peer>& peers,
                     const LabelRoles& roles) {
  ProcessWaits told;
  if (waits.empty()) return told;
  told.operations = roles.operations();
  std::vector<size_t> count(peers.size());
  for (const PeerWait& wait : waits) ++count[wait.peer];
  std::vector<size_t> group_of(peers.size());
  for (size_t peer = 0; peer < peers.size(); ++peer) {
    if (count[peer] == 0) continue;
    group_of[peer] = told.groups.size();
    told.groups.push_back({peers[peer].pids, {}});
    told.groups.back().times.reserve(count[peer]);
  }
  for (const PeerWait& wait : waits) {
    told.groups[group_of[wait.peer]].times.push_back({wait.time, wait.operation});
  }
  return told;
}

std::vector<SummedWait> SumOf(const std::vector<SummedWait>& before,
                              std::span<const PeerWait> waits, const std::vector<Peer>& peers,
                              const LabelRoles& roles) {
  std::map<std::pair<PeerIndex, OperationIndex>, int64_t> by_index;  // of few names, many waits
  for (const PeerWait& wait : waits) by_index[{wait.peer, wait.operation}] += wait.time.length();
  std::map<std::pair<std::vector<int64_t>, std::string>, int64_t> sums;
  for (const SummedWait& wait : before) sums[{wait.pids, wait.operation}] += wait.ns;
  for (const auto& [key, ns] : by_index) {
    sums[{peers[key.first].pids, roles.operations()[key.second]}] += ns;
  }
  std::vector<SummedWait> rows;
  for (const auto& [key, ns] : sums) rows.push_back({key.first, key.second, ns});
  return rows;
}

Result<SummedProcess> SumProcess(const ProcessTrace& process, const EventSource& source,
                                 const BreakdownOptions& options, const ProcessContext& context,
                                 int64_t until_ns) {
  const SweepSetup setup(process, source, options, context);
  Result<SweepStop> stop = SweepUntil(setup.input(), until_ns);
  if (!stop.ok()) return stop.error();

  SummedProcess summed;
  ProcessSums& sums = summed.sums;
  if (context.before != nullptr) sums = *context.before;
  sums.identity = process.identity;
  sums.threads = ThreadsOf(process, source);
  sums.simulates = context.simulates;
  sums.until_ns = until_ns;
  sums.operations = setup.roles().operations();
  sums.phases = setup.roles().phases();
  sums.labels = process.labels.size();
  sums.roles = setup.RolesUntil(sums.labels);
  sums.scan = setup.scan();
  sums.opens_operations = setup.opens_operations();
  sums.inherits = setup.inherits();
  sums.progress = LastTold(process, setup.source(), sums.progress, until_ns);
  // A wait that is not over will be told again.
  const size_t over = stop->waits.size() - (stop->last_wait_goes_on ? 1 : 0);
  sums.waits = SumOf(sums.waits, std::span(stop->waits).first(over), context.peers, setup.roles());
  sums.sweep = std::move(stop->state);
  summed.waits = WaitsOf(stop->waits, context.peers, setup.roles());
  summed.any_operation = setup.scan().any_operation;
  summed.inherits = !summed.any_operation && !context.left.empty();
  summed.boundaries_ns = std::move(stop->boundaries_ns);
  summed.warm_up = stop->warm_up;
  summed.steady = std::move(stop->steady);
  summed.activity = std::move(stop->activity);
  summed.pauses = std::move(stop->pauses);
  return summed;
}

}  // namespace gpubound
