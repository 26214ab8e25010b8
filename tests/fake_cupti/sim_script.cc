// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_cupti/sim_script.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

namespace gpubound::sim {
namespace {

using Json = nlohmann::json;
using Readers = std::map<std::string, std::function<void(const Json&)>>;

template <typename T>
std::function<void(const Json&)> Into(T* target) {
  return [target](const Json& value) { *target = value.get<T>(); };
}

// Hands each member of |object| to its reader; false and the key when one has none.
bool ReadObject(const Json& object, const Readers& readers, std::string* error) {
  for (const auto& [key, value] : object.items()) {
    const auto reader = readers.find(key);
    if (reader == readers.end()) {
      *error = "unknown key '" + key + "'";
      return false;
    }
    reader->second(value);
  }
  return true;
}

Readers DeviceReaders(DeviceModelConfig* device) {
  return {
      {"devices", Into(&device->devices)},
      {"compute_slots", Into(&device->compute_slots)},
      {"copy_engines", Into(&device->copy_engines)},
      {"queue_depth", Into(&device->queue_depth)},
      {"body_slots", Into(&device->body_slots)},
      {"launch_latency_ns", Into(&device->launch_latency_ns)},
      {"kernel_ns", Into(&device->kernel_ns)},
      {"copy_fixed_ns", Into(&device->copy_fixed_ns)},
      {"copy_bytes_per_ns", Into(&device->copy_bytes_per_ns)},
      {"memset_fixed_ns", Into(&device->memset_fixed_ns)},
      {"memset_bytes_per_ns", Into(&device->memset_bytes_per_ns)},
      {"kernels", Into(&device->kernel_duration_ns)},
  };
}

Readers FaultReaders(CuptiFaults* faults) {
  return {
      {"subscribe_error", Into(&faults->subscribe_error)},
      {"subscribe_error_in", Into(&faults->subscribe_error_in)},
      {"held_by", Into(&faults->held_by)},
      {"shared_by", Into(&faults->shared_by)},
      {"shared_graphs_whole", Into(&faults->shared_graphs_whole)},
      {"drop_every", Into(&faults->drop_every)},
      {"zero_timestamps_every", Into(&faults->zero_timestamps_every)},
      {"inverted_timestamps_every", Into(&faults->inverted_timestamps_every)},
      {"unknown_kind_every", Into(&faults->unknown_kind_every)},
      {"hidden_kind", Into(&faults->hidden_kind)},
      {"hidden_after", Into(&faults->hidden_after)},
      {"invalid_kind_every", Into(&faults->invalid_kind_every)},
      {"shuffle_records", Into(&faults->shuffle_records)},
      {"separate_graph_correlations", Into(&faults->separate_graph_correlations)},
      {"truncated_thread_ids", Into(&faults->truncated_thread_ids)},
      {"kernel_start_shift_ns", Into(&faults->kernel_start_shift_ns)},
      {"device_skew_ppm", Into(&faults->device_skew_ppm)},
      {"realtime_step_ns", Into(&faults->realtime_step_ns)},
      {"realtime_step_after_ns", Into(&faults->realtime_step_after_ns)},
      {"completion_delay_ms", Into(&faults->completion_delay_ms)},
      {"fatal_error_after", Into(&faults->fatal_error_after)},
      {"empty_flush_hangs", Into(&faults->empty_flush_hangs)},
  };
}

Readers NvmlReaders(NvmlFigures* nvml) {
  return {
      {"init_error", Into(&nvml->init_error)},
      {"gpu_percent", Into(&nvml->gpu_percent)},
      {"memory_percent", Into(&nvml->memory_percent)},
      {"memory_used_bytes", Into(&nvml->memory_used_bytes)},
      {"power_mw", Into(&nvml->power_mw)},
      {"sm_mhz", Into(&nvml->sm_mhz)},
      {"memory_mhz", Into(&nvml->memory_mhz)},
      {"lists_itself", Into(&nvml->lists_itself)},
      {"other_pid", Into(&nvml->other_pid)},
      {"mps_client_pid", Into(&nvml->mps_client_pid)},
  };
}

Readers CounterReaders(CounterFigures* counters) {
  return {
      {"sm_active", Into(&counters->sm_active)},
      {"warps_active", Into(&counters->warps_active)},
      {"dram_throughput", Into(&counters->dram_throughput)},
      {"error_in", Into(&counters->error_in)},
      {"error", Into(&counters->error)},
      {"unknown_metrics", Into(&counters->unknown_metrics)},
      {"own_pass", Into(&counters->own_pass)},
      {"infinite", Into(&counters->infinite)},
      {"has_timer", Into(&counters->has_timer)},
      {"overflow", Into(&counters->overflow)},
  };
}

// "11.8" .. "13.5", or CUPTI's own number.
bool ReadVersion(const Json& value, uint32_t* version) {
  static const std::map<std::string, uint32_t> kReleases = {
      {"11.8", 18},     {"12.0", 19},     {"12.2", 20},     {"12.3", 21},     {"12.4", 22},
      {"12.5", 23},     {"12.6", 24},     {"12.8", 26},     {"12.9", 27},     {"13.0", 130001},
      {"13.1", 130100}, {"13.2", 130200}, {"13.3", 130300}, {"13.4", 130400}, {"13.5", 130500}};
  if (value.is_number()) {
    *version = value.get<uint32_t>();
    return true;
  }
  const auto release = kReleases.find(value.get<std::string>());
  if (release == kReleases.end()) return false;
  *version = release->second;
  return true;
}

}  // namespace

bool ParseScript(const std::string& json, SimScript* script, std::string* error) {
  bool nested_ok = true;
  const auto nested = [&](const Readers& readers) {
    return [&nested_ok, readers, error](const Json& value) {
      nested_ok = ReadObject(value, readers, error) && nested_ok;
    };
  };
  const Readers readers = {
      {"device", nested(DeviceReaders(&script->device))},
      {"faults", nested(FaultReaders(&script->faults))},
      {"overhead", nested({{"api_ns", Into(&script->overhead.api_ns)},
                           {"launch_ns", Into(&script->overhead.launch_ns)},
                           {"cold_ns", Into(&script->overhead.cold_ns)},
                           {"entry_percent", Into(&script->overhead.entry_percent)},
                           {"functions", Into(&script->overhead.functions)},
                           {"process_ns", Into(&script->overhead.process_ns)},
                           {"flush_ns", Into(&script->overhead.flush_ns)}})},
      {"nvml", nested(NvmlReaders(&script->nvml))},
      {"counters", nested(CounterReaders(&script->counters))},
      {"cupti",
       [&](const Json& value) {
         if (ReadVersion(value, &script->cupti_version)) return;
         *error = "unknown CUPTI release " + value.dump();
         nested_ok = false;
       }},
      {"contexts", Into(&script->contexts)},
      {"mig", Into(&script->mig)},
      {"green_multiprocessors", Into(&script->green_multiprocessors)},
      {"correlation_start", Into(&script->correlation_start)},
      {"api_ns", Into(&script->api_ns)},
      {"driver_api", Into(&script->driver_api)},
  };
  try {
    return ReadObject(Json::parse(json), readers, error) && nested_ok;
  } catch (const Json::exception& failure) {
    *error = failure.what();
    return false;
  }
}

const SimScript& Script() {
  static const SimScript* const script = [] {
    auto* loaded = new SimScript();
    const char* given = std::getenv("GPUBOUND_SIM_SCRIPT");
    if (given == nullptr || *given == '\0') return loaded;
    std::string text = given;
    if (text[0] != '{') {
      std::ifstream file(text);
      std::stringstream content;
      content << file.rdbuf();
      text = content.str();
    }
    std::string error;
    if (!ParseScript(text, loaded, &error)) {
      std::fprintf(stderr, "gpubound-sim: GPUBOUND_SIM_SCRIPT=%s: %s\n", given, error.c_str());
      std::abort();
    }
    return loaded;
  }();
  return *script;
}

}  // namespace gpubound::sim
