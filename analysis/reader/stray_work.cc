// SPDX-License-Identifier: Apache-2.0
//
// Looks at all work once. No state.
#include "analysis/reader/stray_work.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"

namespace gpubound {
namespace {

constexpr char kStrayReason[] = "a kill left work of which nothing says on which device it ran";

// Rows begin with 1.
bool IsStray(const ProcessTrace& process, StreamId stream) {
  return Raw(process.StreamOf(stream).device) == 0;
}

// Those that it may be on: work needs a context, whose row is written as soon as it is created.
std::vector<DeviceId> CandidatesOf(const ProcessTrace& process) {
  std::set<uint32_t> with_context;
  for (const ContextInfo& context : process.contexts) with_context.insert(context.device);
  std::vector<DeviceId> all;
  std::vector<DeviceId> likely;
  for (uint32_t id = 1; id < process.devices.size(); ++id) {
    all.push_back(static_cast<DeviceId>(id));
    if (with_context.contains(process.devices[id].info.index)) likely.push_back(all.back());
  }
  return likely.empty() ? all : likely;
}

// Stray ids may be any number, so they get the next ones.
void GiveStreams(DeviceId device, ProcessTrace* process) {
  std::map<StreamId, StreamId> given;
  for (const DeviceWork& work : process->device_work) {
    if (IsStray(*process, work.stream)) given.try_emplace(work.stream);
  }
  process->streams.resize(std::max<size_t>(1, process->streams.size()));
  for (auto& [stray, stream] : given) {
    stream = static_cast<StreamId>(process->streams.size());
    process->streams.emplace_back().device = device;
  }
  for (DeviceWork& work : process->device_work) {
    const auto place = given.find(work.stream);
    if (place != given.end()) work.stream = place->second;
  }
}

void CallUnknown(ProcessTrace* process) {
  std::vector<Interval> times;
  for (const DeviceWork& work : process->device_work) {
    if (!IsStray(*process, work.stream)) continue;
    ++process->Count(LedgerCounter::chunk_events_lost);
    times.push_back({work.start_ns, work.end_ns});
  }
  std::erase_if(process->device_work,
                [process](const DeviceWork& work) { return IsStray(*process, work.stream); });
  for (const Interval& time : Union(std::move(times))) {
    process->unknown.push_back({time.begin_ns, time.end_ns, kStrayReason});
  }
}

}  // namespace

void PlaceStrayWork(ProcessTrace* process) {
  const bool any =
      std::any_of(process->device_work.begin(), process->device_work.end(),
                  [process](const DeviceWork& work) { return IsStray(*process, work.stream); });
  if (!any) return;
  const std::vector<DeviceId> candidates = CandidatesOf(*process);
  if (candidates.size() == 1) return GiveStreams(candidates.front(), process);
  if (candidates.size() > 1) CallUnknown(process);
}

}  // namespace gpubound
