// SPDX-License-Identifier: Apache-2.0
//
// Joins what the processes of each host saw. No state.
#include "analysis/attribution/unprofiled_use.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/trace/most_notes.h"

namespace gpubound {
namespace {

constexpr char kMpsServer[] = "nvidia-cuda-mps-server";
constexpr size_t kCommLength = 15;  // of a name in /proc
// Of all time; NVML's own windows are up to a second, which a short run does not average out.
constexpr double kMoreThanRecorded = 0.10;
constexpr int64_t kLongEnoughNs = 10'000'000'000;

bool IsMpsServer(const std::string& name) {
  return !name.empty() && name == std::string(kMpsServer).substr(0, kCommLength);
}

bool ListsItself(const ProcessTrace& process) {
  return std::any_of(process.device_clients.begin(), process.device_clients.end(),
                     [&process](const DeviceClientSeen& seen) {
                       return seen.client.pid == static_cast<uint64_t>(process.identity.pid);
                     });
}

// Those that are lost were profiled too.
std::set<std::pair<std::string, int64_t>> ProfiledPids(const Run& run) {
  std::set<std::pair<std::string, int64_t>> pids;
  for (const ProcessIdentity& lost : run.lost) pids.insert({lost.host, lost.pid});
  for (const ProcessTrace& process : run.processes) {
    pids.insert({process.identity.host, process.identity.pid});
  }
  return pids;
}

void NoteUse(const UnprofiledUse& use, const ReportDevice& device, Report* report) {
  report->notes.push_back(
      "pid " + std::to_string(use.pid) + (use.name.empty() ? "" : " (" + use.name + ")") + " on " +
      use.host + " was on " + (device.name.empty() ? "" : device.name + " ") + device.uuid +
      " for " + FormatTime(use.time.length()) + " meanwhile and is not part of the run.");
}

// Of the time in which NVML was asked, had all recorded work run then.
double ExplainedShare(const ReportDevice& device) {
  const double explained = device.smi_model * static_cast<double>(device.span_ns);
  return std::min(1.0, explained / static_cast<double>(device.nvml_sampled_ns));
}

// |device| worked more while NVML was asked than recorded work explains.
bool WorkedUnseen(const ReportDevice& device) {
  if (!device.used || device.simulated || !device.nvml_utilization) return false;
  return device.nvml_sampled_ns >= kLongEnoughNs &&
         *device.nvml_utilization - ExplainedShare(device) >= kMoreThanRecorded;
}

}  // namespace

DeviceCompany CompanyOf(const Run& run, const std::vector<size_t>& processes,
                        const Interval& span) {
  const std::set<std::pair<std::string, int64_t>> profiled = ProfiledPids(run);
  DeviceCompany company;
  std::map<std::tuple<std::string, std::string, int64_t>, UnprofiledUse> uses;
  for (const size_t p : processes) {
    const ProcessTrace& process = run.processes[p];
    if (!ListsItself(process)) continue;
    const std::string& host = process.identity.host;
    for (const DeviceClientSeen& seen : process.device_clients) {
      const int64_t pid = seen.client.pid;
      const bool is_server = IsMpsServer(seen.name);
      if (seen.client.through_mps || is_server) company.mps_uuids.insert(seen.uuid);
      if (is_server || profiled.contains({host, pid})) continue;
      // A context that is there for one sample is one that comes or goes.
      if (seen.client.last_ns == seen.client.first_ns) continue;
      const int64_t last_ns = std::min(seen.client.last_ns, process.span_end_ns);
      const Interval time =
          Interval{seen.client.first_ns, std::max(last_ns, seen.client.first_ns + 1)}.ClippedTo(
              span);
      if (time.empty()) continue;
      const auto [entry, is_new] = uses.try_emplace(
          {host, seen.uuid, pid}, UnprofiledUse{host, seen.uuid, pid, seen.name, time});
      if (is_new) continue;
      Interval& known = entry->second.time;
      known = {std::min(known.begin_ns, time.begin_ns), std::max(known.end_ns, time.end_ns)};
    }
  }
  for (auto& [key, use] : uses) company.uses.push_back(std::move(use));
  return company;
}

void NoteCompany(const DeviceCompany& company, Ledger* ledger, Report* report) {
  std::set<std::pair<std::string, int64_t>> processes;
  const bool all_known =
      !report->run.gpu_busy_is_lower_bound &&
      std::all_of(report->processes.begin(), report->processes.end(),
                  [](const ReportProcess& process) { return process.unknown_ns == 0; });
  for (ReportDevice& device : report->devices) {
    if (!device.used || device.uuid.empty()) continue;
    for (const UnprofiledUse& use : company.uses) {
      if (use.uuid != device.uuid) continue;
      device.not_profiled.push_back({use.host, use.pid, use.name, use.time.length()});
      if (processes.insert({use.host, use.pid}).second && processes.size() <= kMostNotes) {
        NoteUse(use, device, report);
      }
    }
    device.busy_is_lower_bound |= !device.not_profiled.empty();
    report->run.gpu_busy_is_lower_bound |= device.busy_is_lower_bound;
    if (company.mps_uuids.contains(device.uuid)) {
      report->notes.push_back(device.uuid +
                              " is shared through MPS: kernels of several processes run at once.");
    }
    if (all_known && WorkedUnseen(device)) {
      ++(*ledger)[static_cast<size_t>(LedgerCounter::utilization_above_busy)];
      report->notes.push_back("nvidia-smi said " + FormatShare(*device.nvml_utilization) + " of " +
                              device.uuid + " while it was asked; recorded work explains " +
                              FormatShare(ExplainedShare(device)) + " at most.");
    }
  }
  (*ledger)[static_cast<size_t>(LedgerCounter::processes_not_profiled)] += processes.size();
}

}  // namespace gpubound
