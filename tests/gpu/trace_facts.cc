// SPDX-License-Identifier: Apache-2.0
//
// trace_facts RUN: what a run holds, counted, as JSON: work by kind and by name, graphs, calls by
// thread, the devices' busy time as a plain union, and how its times lie to those of the calls. It
// shares the reader with the report and nothing after it. Loads the run whole.
#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/reader/reader.h"

namespace gpubound {
namespace {

using Json = nlohmann::json;

const char* KindName(WorkKind kind) {
  switch (kind) {
    case WorkKind::kKernel:
      return "kernel";
    case WorkKind::kMemcpy:
      return "copy";
    case WorkKind::kMemset:
      return "set";
    case WorkKind::kGraph:
      return "graph";
    default:
      return "none";
  }
}

// The newest call for each correlation id: these runs are too short for the ids to wrap.
std::map<uint32_t, const Label*> CallsByCorrelation(const ProcessTrace& process) {
  std::map<uint32_t, const Label*> calls;
  for (const ThreadTrace& thread : process.threads) {
    for (const ApiCall& call : thread.calls) {
      calls[call.correlation] = &process.LabelOf(call.label);
    }
  }
  return calls;
}

int64_t BusyNs(const ProcessTrace& process) {
  std::vector<std::pair<int64_t, int64_t>> intervals;
  for (const DeviceWork& work : process.device_work) {
    intervals.emplace_back(work.start_ns, work.end_ns);
  }
  std::sort(intervals.begin(), intervals.end());
  int64_t busy_ns = 0;
  int64_t until_ns = INT64_MIN;
  for (const auto& [start_ns, end_ns] : intervals) {
    busy_ns += std::max<int64_t>(0, end_ns - std::max(start_ns, until_ns));
    until_ns = std::max(until_ns, end_ns);
  }
  return busy_ns;
}

// One number for each property of device work that a check asks about.
Json WorkFacts(const ProcessTrace& process) {
  const std::map<uint32_t, const Label*> calls = CallsByCorrelation(process);
  std::map<std::string, int64_t> kinds, kernels;
  int64_t in_graphs = 0;
  int64_t launched_by_graph = 0;
  int64_t without_call = 0;
  for (const DeviceWork& work : process.device_work) {
    const Work& what = process.WorkOf(work.work);
    ++kinds[KindName(what.info.kind)];
    if (what.info.kind == WorkKind::kKernel) ++kernels[what.name];
    if (work.graph != 0) ++in_graphs;
    const auto call = calls.find(work.correlation);
    if (call == calls.end()) {
      ++without_call;
    } else if (call->second->text.find("GraphLaunch") != std::string::npos) {
      ++launched_by_graph;
    }
  }
  return {{"kinds", kinds},
          {"kernels", kernels},
          {"in_graphs", in_graphs},
          {"launched_by_graph", launched_by_graph},
          {"without_call", without_call},
          {"busy_ns", BusyNs(process)}};
}

bool IsWait(const std::string& name) { return name.find("Synchronize") != std::string::npos; }

// For each ten seconds, of the kernels whose launch is followed by a wait on the same thread: how
// long after the begin of the launch the soonest began, and how long before the end of the wait the
// latest ended. Below 0: the clocks differ.
Json ClockFacts(const ProcessTrace& process) {
  constexpr int64_t kSliceNs = 10'000'000'000;
  struct Slice {
    int64_t kernels = 0;
    int64_t least_start_delay_ns = INT64_MAX;
    int64_t least_end_lead_ns = INT64_MAX;
  };
  std::map<uint32_t, const DeviceWork*> kernels;
  for (const DeviceWork& work : process.device_work) {
    if (process.WorkOf(work.work).info.kind == WorkKind::kKernel) kernels[work.correlation] = &work;
  }
  int64_t first_ns = INT64_MAX;
  std::map<int64_t, Slice> slices;
  for (const ThreadTrace& thread : process.threads) {
    for (size_t i = 0; i + 1 < thread.calls.size(); ++i) {
      const ApiCall& launch = thread.calls[i];
      const ApiCall& wait = thread.calls[i + 1];
      const auto kernel = kernels.find(launch.correlation);
      if (kernel == kernels.end() || !IsWait(process.LabelOf(wait.label).text)) continue;
      first_ns = std::min(first_ns, launch.start_ns);
      Slice& slice = slices[(launch.start_ns - first_ns) / kSliceNs];
      ++slice.kernels;
      slice.least_start_delay_ns =
          std::min(slice.least_start_delay_ns, kernel->second->start_ns - launch.start_ns);
      slice.least_end_lead_ns =
          std::min(slice.least_end_lead_ns, wait.end_ns - kernel->second->end_ns);
    }
  }
  Json facts = Json::array();
  for (const auto& [number, slice] : slices) {
    facts.push_back({{"kernels", slice.kernels},
                     {"least_start_delay_ns", slice.least_start_delay_ns},
                     {"least_end_lead_ns", slice.least_end_lead_ns}});
  }
  return facts;
}

Json ThreadsOf(const ProcessTrace& process) {
  Json threads = Json::array();
  for (const ThreadTrace& thread : process.threads) {
    std::map<std::string, int64_t> calls;
    for (const ApiCall& call : thread.calls) ++calls[process.LabelOf(call.label).text];
    threads.push_back({{"tid", thread.tid}, {"name", thread.name}, {"calls", calls}});
  }
  return threads;
}

Json FactsOf(const ProcessTrace& process) {
  std::map<std::string, int64_t> syncs;
  for (const Sync& sync : process.syncs) ++syncs[std::to_string(sync.type)];
  Json devices = Json::array();
  for (const Device& device : process.devices) {
    if (!device.uuid.empty()) devices.push_back({{"uuid", device.uuid}, {"name", device.name}});
  }
  return {{"pid", process.identity.pid},
          {"name", process.name},
          {"device_kind", process.device_kind},
          {"end_how", process.end_how},
          {"unknown_intervals", process.unknown.size()},
          {"work", WorkFacts(process)},
          {"threads", ThreadsOf(process)},
          {"syncs", syncs},
          {"clock", ClockFacts(process)},
          {"devices", devices}};
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: trace_facts RUN\n");
    return 2;
  }
  const gpubound::Result<gpubound::Run> run = gpubound::LoadRun(argv[1]);
  if (!run.ok()) {
    std::fprintf(stderr, "trace_facts: %s\n", run.error().ToString().c_str());
    return 3;
  }
  gpubound::Json processes = gpubound::Json::array();
  for (const gpubound::ProcessTrace& process : run.value().processes) {
    processes.push_back(gpubound::FactsOf(process));
  }
  std::printf("%s\n", processes.dump(1).c_str());
  return 0;
}
