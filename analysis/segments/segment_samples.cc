// SPDX-License-Identifier: Apache-2.0
//
// Rows of a segment that were sampled beside the events: devices, who is on them, hardware
// counters, the process tree, what stacks consist of.
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/segments/row_at.h"
#include "analysis/segments/segment.h"
#include "analysis/trace/plausible_time.h"
#include "analysis/trace/python_frames.h"

namespace gpubound {
namespace {

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
    read.client = {query.Uint32(1), query.Int(3) != 0, query.Int(4), query.Int(5)};
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
        {query.Int(0), query.Uint32(1), query.Int(2), query.Int(3), query.Int(4)});
  }
  CheckEnd(query, "process_tree");
}

void Segment::ReadCounters(ProcessTrace* process) {
  if (!HasTable("counter_sample")) return;
  Query query = database_.Prepare(
      "SELECT device, begin_ns, end_ns, ifnull(sm_active, -1), ifnull(warps_active, -1), "
      "ifnull(dram_throughput, -1) FROM counter_sample ORDER BY begin_ns");
  while (query.Step()) {
    process->counters.push_back({query.Uint32(0),
                                 query.Int(1),
                                 query.Int(2),
                                 {query.Real(3), query.Real(4), query.Real(5)}});
  }
  CheckEnd(query, "counter_sample");
}

// A frame without its callers or its function would show a stack that nobody saw: it is not taken,
// and neither are those that it called. Both tables as of one instant, as they may be growing.
void Segment::ReadFrames(ProcessTrace* process) {
  if (!HasTable("function") || !HasTable("frame")) return;
  database_.Prepare("BEGIN").Step();
  Query functions = database_.Prepare("SELECT id, file, name FROM function");
  while (functions.Step()) {
    Function* function = RowAt(&process->functions, functions.Int(0));
    if (function != nullptr) *function = {functions.Text(1), functions.Text(2)};
  }
  CheckEnd(functions, "function");
  std::string refused;
  Query frames = database_.Prepare(
      "SELECT id, caller, function, line, function IN (SELECT id FROM function) FROM frame "
      "ORDER BY id");
  while (frames.Step()) {
    const int64_t id = frames.Int(0);
    const int64_t caller = frames.Int(1);
    const int64_t function = frames.Int(2);
    const bool has_caller = MayHaveCaller(id, caller, *process);
    const bool has_function = frames.Int(4) != 0 && function > 0 && function <= kMaxRowId;
    Frame* frame = has_caller && has_function ? RowAt(&process->frames, id) : nullptr;
    if (frame != nullptr) {
      *frame = {static_cast<FrameId>(caller), static_cast<FunctionId>(function), frames.Uint32(3)};
    } else if (refused.empty()) {
      refused = "row " + std::to_string(id) + ": " +
                (!has_caller     ? "its caller " + std::to_string(caller)
                 : !has_function ? "its function " + std::to_string(function)
                                 : "a frame with that id") +
                " cannot be";
    }
  }
  CheckEnd(frames, "frame");
  if (!refused.empty() && !damage_.Has("frame")) damage_.tables.push_back({"frame", refused});
  database_.Prepare("COMMIT").Step();
}

}  // namespace gpubound
