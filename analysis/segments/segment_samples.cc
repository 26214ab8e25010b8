// SPDX-License-Identifier: Apache-2.0
//
// Rows of a segment that were sampled beside the events: devices, who is on them, hardware
// counters, the process tree.
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/segments/segment.h"
#include "analysis/trace/plausible_time.h"

namespace gpubound {
namespace {

uint32_t U32(int64_t value) { return static_cast<uint32_t>(value); }

std::tuple<std::string, uint32_t, int64_t> KeyOf(const DeviceClientSeen& seen) {
  return {seen.uuid, seen.client.pid, seen.client.first_ns};
}

}  // namespace

// Every segment has those that were known when it began, and a later one knows more of them.
void Segment::ReadDeviceClients(ProcessTrace* process) {
  if (!HasTable("device_client")) return;
  std::map<std::tuple<std::string, uint32_t, int64_t>, size_t> places;
  for (const DeviceClientSeen& known : process->device_clients) {
    places.try_emplace(KeyOf(known), places.size());
  }
  Query query = database_.Prepare(
      "SELECT uuid, pid, name, through_mps, first_ns, last_ns FROM device_client");
  while (query.Step()) {
    DeviceClientSeen read;
    read.uuid = query.Text(0);
    read.name = query.Text(2);
    read.client = {U32(query.Int(1)), query.Int(3) != 0, query.Int(4), query.Int(5)};
    const bool has_gone = read.client.last_ns != INT64_MAX;
    if (!IsPlausibleTime(read.client.first_ns)) continue;
    if (has_gone && !IsPlausibleTime(read.client.last_ns)) continue;
    const auto [place, is_new] = places.try_emplace(KeyOf(read), process->device_clients.size());
    if (is_new) {
      process->device_clients.push_back(std::move(read));
    } else {
      process->device_clients[place->second] = std::move(read);
    }
  }
  CheckEnd(query, "device_client");
}

void Segment::ReadUtilization(ProcessTrace* process) {
  if (!HasTable("utilization")) return;
  Query query = database_.Prepare(
      "SELECT time_ns, uuid, gpu_percent, memory_percent, memory_used_bytes, power_mw, sm_mhz, "
      "memory_mhz FROM utilization ORDER BY time_ns");
  while (query.Step()) {
    DeviceSample& read = process->utilization.emplace_back();
    read.uuid = query.Text(1);
    UtilizationSample& sample = read.sample;
    sample.time_ns = query.Int(0);
    sample.gpu_percent = static_cast<int32_t>(query.Int(2));
    sample.memory_percent = static_cast<int32_t>(query.Int(3));
    sample.memory_used_bytes = query.Int(4);
    sample.power_mw = static_cast<int32_t>(query.Int(5));
    sample.sm_mhz = static_cast<int32_t>(query.Int(6));
    sample.memory_mhz = static_cast<int32_t>(query.Int(7));
  }
  CheckEnd(query, "utilization");
}

void Segment::ReadProcessTree(ProcessTrace* process) {
  if (!HasTable("process_tree")) return;
  Query query = database_.Prepare(
      "SELECT time_ns, processes, cpu_ns, resident_bytes, run_delay_ns FROM process_tree "
      "ORDER BY time_ns");
  while (query.Step()) {
    process->process_tree.push_back(
        {query.Int(0), U32(query.Int(1)), query.Int(2), query.Int(3), query.Int(4)});
  }
  CheckEnd(query, "process_tree");
}

void Segment::ReadCounters(ProcessTrace* process) {
  if (!HasTable("counter_sample")) return;
  Query query = database_.Prepare(
      "SELECT device, begin_ns, end_ns, ifnull(sm_active, -1), ifnull(warps_active, -1), "
      "ifnull(dram_throughput, -1) FROM counter_sample ORDER BY begin_ns");
  while (query.Step()) {
    process->counters.push_back({U32(query.Int(0)),
                                 query.Int(1),
                                 query.Int(2),
                                 {query.Real(3), query.Real(4), query.Real(5)}});
  }
  CheckEnd(query, "counter_sample");
}

}  // namespace gpubound
