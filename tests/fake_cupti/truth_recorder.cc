// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_cupti/truth_recorder.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "tests/fake_cupti/gpu_runtime.h"

namespace gpubound::sim {
namespace {

using Json = nlohmann::json;

std::string ExpandPid(std::string path) {
  if (const size_t at = path.find("%p"); at != std::string::npos) {
    path.replace(at, 2, std::to_string(getpid()));
  }
  return path;
}

std::pair<TimeNs, TimeNs> ClockPair() {
  timespec monotonic{};
  clock_gettime(CLOCK_MONOTONIC, &monotonic);
  return {RealtimeNs(), TimeNs{monotonic.tv_sec} * 1'000'000'000 + monotonic.tv_nsec};
}

// Length of the union of |intervals|.
TimeNs UnionNs(std::vector<std::pair<TimeNs, TimeNs>> intervals) {
  std::sort(intervals.begin(), intervals.end());
  TimeNs total = 0;
  TimeNs covered_until = INT64_MIN;
  for (const auto& [start, end] : intervals) {
    if (end <= covered_until) continue;
    total += end - std::max(start, covered_until);
    covered_until = end;
  }
  return total;
}

}  // namespace

TruthRecorder& TruthRecorder::Get() {
  static auto* const recorder = new TruthRecorder();
  return *recorder;
}

TruthRecorder::TruthRecorder() {
  const char* path = std::getenv("GPUBOUND_SIM_TRUTH");
  if (path == nullptr || *path == '\0') return;
  enabled_ = true;
  path_ = ExpandPid(path);
  pid_ = getpid();
  streaming_ = path_.size() > 6 && path_.substr(path_.size() - 6) == ".jsonl";
  if (streaming_) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  }
}

void TruthRecorder::DumpAtExit() {
  if (!enabled_) return;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    clock_.push_back(ClockPair());
  }
  if (!streaming_) std::atexit([] { Get().Dump(); });
}

void TruthRecorder::AppendLine(const std::string& line) {
  if (write(descriptor_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
    std::fprintf(stderr, "gpubound-sim: cannot write %s\n", path_.c_str());
  }
}

void TruthRecorder::AddOp(const Op& op) {
  if (!enabled_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (streaming_) {
    AppendLine(Json{{"op",
                     {{"kind", OpKindName(op.kind)},
                      {"name", op.name},
                      {"device", op.device},
                      {"correlation", op.correlation},
                      {"tid", op.tid},
                      {"start_ns", op.start_ns},
                      {"end_ns", op.end_ns}}}}
                   .dump() +
               "\n");
    return;
  }
  ops_.push_back({op.kind, op.name, op.device, op.stream, op.correlation, op.tid, op.graph,
                  op.bytes, op.submit_ns, op.start_ns, op.end_ns});
}

void TruthRecorder::AddApi(const ApiInfo& call, uint32_t tid, TimeNs injected_overhead_ns) {
  if (!enabled_) return;
  std::lock_guard<std::mutex> lock(mutex_);
  if (streaming_) {
    AppendLine(Json{{"api",
                     {{"name", call.name},
                      {"tid", tid},
                      {"correlation", call.correlation},
                      {"start_ns", call.start_ns},
                      {"end_ns", call.end_ns}}}}
                   .dump() +
               "\n");
    return;
  }
  api_.push_back(
      {call.name, tid, call.correlation, call.start_ns, call.end_ns, injected_overhead_ns});
}

void TruthRecorder::Dump() {
  if (getpid() != pid_) return;  // a fork child that leaves through exit()
  const bool idle = GpuRuntime::Get().WithModel([](SimDevice& model) { return model.Idle(); });
  std::lock_guard<std::mutex> lock(mutex_);
  clock_.push_back(ClockPair());
  std::unordered_map<uint32_t, const ApiTruth*> by_correlation;
  Json api = Json::array();
  for (const ApiTruth& call : api_) {
    by_correlation[call.correlation] = &call;
    api.push_back({{"name", call.name},
                   {"tid", call.tid},
                   {"correlation", call.correlation},
                   {"start_ns", call.start_ns},
                   {"end_ns", call.end_ns},
                   {"injected_overhead_ns", call.injected_overhead_ns}});
  }
  Json ops = Json::array();
  std::map<uint32_t, std::vector<std::pair<TimeNs, TimeNs>>> intervals;  // by device
  for (const OpTruth& op : ops_) {
    Json entry = {{"kind", OpKindName(op.kind)},
                  {"name", op.name},
                  {"device", op.device},
                  {"stream", op.stream},
                  {"correlation", op.correlation},
                  {"tid", op.tid},
                  {"graph", op.graph},
                  {"bytes", op.bytes},
                  {"submit_ns", op.submit_ns},
                  {"start_ns", op.start_ns},
                  {"end_ns", op.end_ns}};
    if (const auto call = by_correlation.find(op.correlation); call != by_correlation.end()) {
      entry["api_start_ns"] = call->second->start_ns;
      entry["api_end_ns"] = call->second->end_ns;
    }
    ops.push_back(std::move(entry));
    intervals[op.device].emplace_back(op.start_ns, op.end_ns);
  }
  TimeNs busy_ns = 0;
  Json busy_by_device = Json::object();
  for (const auto& [device, busy] : intervals) {
    const TimeNs device_ns = UnionNs(busy);
    busy_by_device[std::to_string(device)] = device_ns;
    busy_ns += device_ns;
  }
  Json clock = Json::array();
  for (const auto& [realtime, monotonic] : clock_) {
    clock.push_back({{"realtime_ns", realtime}, {"monotonic_ns", monotonic}});
  }
  const Json truth = {{"format", "gpubound.sim.truth.v1"},
                      {"pid", pid_},
                      {"initialised_ns", GpuRuntime::Get().initialised_ns()},
                      {"clock", clock},
                      {"busy_ns", busy_ns},
                      {"busy_by_device_ns", busy_by_device},
                      {"incomplete", !idle},
                      {"ops", std::move(ops)},
                      {"api", std::move(api)}};
  std::ofstream(path_) << truth.dump(1) << "\n";
}

}  // namespace gpubound::sim
