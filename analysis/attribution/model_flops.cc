// SPDX-License-Identifier: Apache-2.0
//
// Sums over iterations. No state.
#include "analysis/attribution/model_flops.h"

#include <set>
#include <string>

#include "analysis/trace/counter_records.h"
#include "analysis/trace/device_kind.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

// A record holds from then on until the next; the first one also before it, since programs tell it
// once they know it.
double DoneBy(const std::vector<Iteration>& steady, const std::vector<CounterRecord>& records) {
  double done = 0;
  size_t at = 0;
  for (const Iteration& iteration : steady) {
    while (at + 1 < records.size() && records[at + 1].time_ns <= iteration.time.end_ns) ++at;
    done += records[at].value;
  }
  return done;
}

std::set<uint32_t> DevicesOf(const ReportProcess& report) {
  std::set<uint32_t> devices;
  for (const ReportDeviceShare& share : report.device_shares) devices.insert(share.ordinal);
  return devices;
}

// Of all |devices|; why it is not known where it is 0.
double PeakOfAll(const ProcessTrace& process, const std::set<uint32_t>& devices, double told,
                 std::string* why_not) {
  if (told > 0) return told * static_cast<double>(devices.size());
  double sum = 0;
  for (const uint32_t ordinal : devices) {
    std::string name = "device " + std::to_string(ordinal);
    for (const Device& device : process.devices) {
      if (device.info.index == ordinal && !device.name.empty()) name = device.name;
    }
    const DeviceKind* const peak = KindOfDevice(name);
    if (peak == nullptr) {
      *why_not =
          "nobody knows the peak of " + name + " (gpubound.flops(peak_per_second=) tells it)";
      return 0;
    }
    sum += peak->flops;
  }
  return sum;
}

int64_t UnknownNs(const ReportProcess& report) {
  int64_t unknown_ns = 0;
  if (!report.iterations) return 0;
  for (const ReportIterationOperation& row : report.iterations->operations) {
    unknown_ns += row.unknown_ns;
  }
  return unknown_ns;
}

}  // namespace

std::optional<ReportFlops> ModelFlops(const ProcessTrace& process,
                                      const std::vector<Iteration>& steady,
                                      const ReportProcess& report) {
  const auto records_of = [&process](const char* counter) {
    return ReadCounters(process, *SourceOf(process),
                        [counter](std::string_view name) { return name == counter; });
  };
  const std::vector<CounterRecord> records = records_of(kFlopsCounter);
  if (records.empty()) return std::nullopt;
  ReportFlops flops;
  const std::set<uint32_t> devices = DevicesOf(report);
  if (steady.empty()) {
    flops.why_not = "there is no iteration after warm-up (gpubound.step() ends one)";
    return flops;
  }
  flops.done = DoneBy(steady, records);
  for (const Iteration& iteration : steady) {
    flops.ns += iteration.time.length();
    flops.gpu_busy_ns += iteration.busy_ns;
  }
  if (devices.empty()) {
    flops.why_not = "no GPU work was recorded";
    return flops;
  }
  const std::vector<CounterRecord> peaks = records_of(kPeakCounter);
  flops.peak_per_second =
      PeakOfAll(process, devices, peaks.empty() ? 0 : peaks.back().value, &flops.why_not);
  if (flops.peak_per_second <= 0) return flops;
  const auto share_of = [&flops](int64_t ns) {
    constexpr double kNsPerSecond = 1e9;
    return flops.done * kNsPerSecond / (static_cast<double>(ns) * flops.peak_per_second);
  };
  if (flops.ns > 0) flops.mfu = share_of(flops.ns);
  if (devices.size() > 1) {
    flops.why_not = "the process works on several devices, and is not asked how long on each";
  } else if (UnknownNs(report) > 0) {
    flops.why_not = "GPU time is unknown in part";
  } else if (report.gpu_busy_is_upper_bound) {
    flops.why_not = "CUDA graphs were recorded as a whole, gaps included";
  } else if (flops.gpu_busy_ns == 0) {
    flops.why_not = "the GPU did nothing in the iterations";
  } else {
    flops.busy_mfu = share_of(flops.gpu_busy_ns);
  }
  return flops;
}

}  // namespace gpubound
