// SPDX-License-Identifier: Apache-2.0
//
// Says it all in one line. No state.
#include "analysis/output/text/headline.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/report_sections.h"
#include "analysis/output/text/report_waits.h"
#include "analysis/output/text/what_if_text.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

// What NVML said, where it was asked, and the model. What a stand-in says of a simulated device is
// no claim of nvidia-smi's.
std::string SmiText(const ReportRun& run) {
  const std::string model = "model " + FormatShare(run.smi_model);
  if (!run.nvml_utilization) return "nvidia-smi " + model;
  return "nvidia-smi " + FormatShare(*run.nvml_utilization) + " (" + model + ")";
}

// Who was waited for while a GPU was idle for one cause.
struct Awaited {
  double share = 0;  // of the idle time of that cause
  std::set<int64_t> pids;
};

// The part of an operation's time that the headline is about.
double CoveredPart(const Report& report, const ReportProcess& process, const ReportOperation& row) {
  if (report.run.headline != "iterations") return 1;
  for (const ReportIterationOperation& covered : process.iterations->operations) {
    if (covered.operation == row.operation) return ShareOf(covered.wall_ns, row.wall_ns);
  }
  return 0;
}

int64_t TimeOf(const std::vector<CauseTime>& causes, const std::string& cause) {
  for (const CauseTime& time : causes) {
    if (time.cause == cause) return time.ns;
  }
  return 0;
}

// Waits are known by operation, not by instant: those of an operation explain no more than the time
// in which it waited while no device worked, on each device.
Awaited AwaitedWhileIdle(const Report& report, const ReportProcess& process,
                         const std::string& cause) {
  std::set<std::pair<std::string, uint32_t>> devices;
  for (const ReportDeviceShare& share : process.device_shares) {
    devices.insert({share.uuid, share.ordinal});
  }
  const std::vector<const ReportWait*> waits = WaitsThatExplain(process, cause);
  Awaited awaited;
  double cause_ns = 0;
  double waits_ns = 0;
  for (const ReportOperation& row : process.operations) {
    const double part = CoveredPart(report, process, row);
    const int64_t row_ns = TimeOf(row.device_idle, cause);
    if (part == 0 || row_ns == 0) continue;
    int64_t row_waits_ns = 0;
    for (const ReportWait* wait : waits) {
      if (wait->operation != row.operation) continue;
      row_waits_ns += wait->ns;
      awaited.pids.insert(wait->pids.begin(), wait->pids.end());
    }
    const auto count = static_cast<int64_t>(std::max<size_t>(devices.size(), 1));
    const int64_t idle_waits_ns = std::min(row_waits_ns, row.waiting_ns) * count;
    cause_ns += part * static_cast<double>(row_ns);
    waits_ns += part * static_cast<double>(std::min(row_ns, idle_waits_ns));
  }
  awaited.share = Ratio(waits_ns, cause_ns);
  return awaited;
}

// "8 env workers"
std::string AwaitedText(size_t count, bool simulate) {
  const char* what = simulate ? "env worker" : "process";
  return std::to_string(count) + " " + what + (count == 1 ? "" : simulate ? "s" : "es");
}

// How much of |idle_ns|, in which the devices of |process| had no work of its own, others' work ran
// on them, at most.
int64_t OthersAloneNs(const Report& report, const ReportProcess& process, int64_t idle_ns) {
  if (!SharesADevice(report, process)) return 0;
  const std::optional<double> own = OwnShare(report);
  if (!own) return idle_ns;
  const double others = std::max(0.0, report.run.gpu_busy_share - *own);
  const double device_ns =
      static_cast<double>(report.run.devices_used) * static_cast<double>(report.run.headline_ns);
  return std::min<int64_t>(idle_ns, std::llround(others * device_ns));
}

std::string IdleText(const Report& report) {
  const auto [idle_ns, causes, others_ns] = HeadlineIdle(report);
  if (causes.empty()) return {};
  const CauseTime& first = causes.front();
  const Awaited awaited = AwaitedWhileIdle(report, *HeadlineProcess(report), first.cause);
  const double first_share = ShareOf(first.ns, idle_ns);
  const auto others = static_cast<double>(others_ns);
  const double waits_share =
      Ratio(awaited.share * (static_cast<double>(first.ns) + others) - others,
            static_cast<double>(idle_ns));
  const double second_share = causes.size() > 1 ? ShareOf(causes[1].ns, idle_ns) : 0;
  const bool waits =
      awaited.share > 0.5 && waits_share >= second_share && (others_ns == 0 || waits_share > 0.5);
  const std::string what =
      waits ? "waiting for " + AwaitedText(awaited.pids.size(), first.cause == "simulation")
            : CauseText(first.cause, BlamesPython(report, *HeadlineProcess(report)));
  const double share = waits ? waits_share : first_share;
  if (share >= 0.9) return ": " + what;
  if (share > 0.5) return ": mostly " + what;
  if (others_ns > 0) return {};  // another may come first
  return ": first of all " + what + " (" + FormatShare(share) + " of it)";
}

// The replay tells it of the whole run.
std::string WhatIfText(const ReportWhatIf& what_if, bool headline_is_part, bool unicode) {
  const std::string faster = std::isinf(what_if.speedup) ? "infinitely fast"
                             : what_if.speedup == 2      ? "twice as fast"
                                                         : "faster";
  const std::string part = FormatRatio({what_if.part, what_if.part_low, what_if.part_high});
  return "; " + faster + " " + ShortName(ShownName(what_if.operation), kNameInSentence, unicode) +
         " would take " + part + (headline_is_part ? " the whole run's time" : " the time");
}

// "; inference takes the largest part of the loop, 61 %", of the run where it has no loop.
std::string LargestPart(const Report& report, bool unicode) {
  const ReportProcess* stepping = SteppingProcess(report);
  const bool loops = stepping != nullptr && stepping->iterations->count > 0;
  const ReportProcess* process = loops ? stepping : ToldProcess(report);
  if (process == nullptr) return {};
  std::string largest;
  int64_t largest_ns = 0;
  const auto look = [&](const std::string& operation, int64_t wall_ns) {
    if (wall_ns <= largest_ns) return;
    largest = operation;
    largest_ns = wall_ns;
  };
  if (loops) {
    for (const auto& row : process->iterations->operations) look(row.operation, row.wall_ns);
  } else {
    for (const ReportOperation& row : process->operations) {
      if (!row.other_threads_only) look(row.operation, row.wall_ns);
    }
  }
  if (largest_ns == 0) return {};
  const int64_t whole_ns = loops ? process->iterations->total_ns : process->span_ns;
  const std::string name = largest == kNoOperation
                               ? "time in no operation"
                               : ShortName(ShownName(largest), kNameInSentence, unicode);
  return "; " + name + " takes the largest part of the " + (loops ? "loop, " : "run, ") +
         FormatShare(ShareOf(largest_ns, whole_ns));
}

std::string WithoutWorkText(const Report& report, bool unicode) {
  const double unknown = report.run.unknown.share;
  if (unknown == 0) return "No GPU work was recorded" + LargestPart(report, unicode) + ".";
  const std::string idle = unknown < 1 ? ", idle " + FormatShare(1 - unknown) : "";
  return "GPU unknown " + FormatShare(unknown) + idle +
         ": no work was recorded, but some could have run.";
}

// What is left of bounds on GPU busy and on what is unknown.
std::string IdleBound(const ReportRun& run) {
  const bool at_least = run.gpu_busy_is_upper_bound || run.unknown.is_upper_bound;
  if (run.gpu_busy_is_lower_bound) return at_least ? "about " : "at most ";
  return at_least ? ">= " : "";
}

}  // namespace

bool UsesNoGpu(const Report& report) {
  const ReportRun& run = report.run;
  return run.devices_used == 0 && run.unknown.share == 0 && run.whole_unknown.share == 0 &&
         std::all_of(report.processes.begin(), report.processes.end(),
                     [](const ReportProcess& process) {
                       return process.gpu_busy_ns == 0 && process.unknown_ns == 0;
                     });
}

const ReportProcess* HeadlineProcess(const Report& report) {
  return report.run.headline == "iterations" ? SteppingProcess(report) : MainProcess(report);
}

std::string UnknownText(const ReportUnknown& unknown) {
  return std::string("unknown ") + (unknown.is_upper_bound ? "<= " : "") +
         FormatShare(unknown.share);
}

bool HeadlineIsPart(const Report& report) {
  constexpr double kNearlyAll = 0.95;  // what this leaves out no figure shows
  return report.run.headline != "span" &&
         ShareOf(report.run.headline_ns, report.run.wall_ns) < kNearlyAll;
}

IdleExplained HeadlineIdle(const Report& report) {
  const ReportProcess* process = HeadlineProcess(report);
  // Causes are known of the whole time, that before and after all work among it.
  if (process == nullptr || report.run.headline == "work") return {};
  std::map<std::string, int64_t> sums;
  if (report.run.headline == "iterations") {
    for (const auto& [cause, idle_ns] : process->iterations->series.idle_ns) {
      for (const int64_t ns : idle_ns) sums[cause] += ns;
    }
  } else {
    for (const ReportOperation& row : process->operations) {
      for (const CauseTime& cause : row.device_idle) sums[cause.cause] += cause.ns;
    }
  }
  IdleExplained idle;
  for (const auto& [cause, ns] : sums) idle.idle_ns += ns;
  idle.others_ns = OthersAloneNs(report, *process, idle.idle_ns);
  idle.idle_ns -= idle.others_ns;
  for (const auto& [cause, ns] : sums) {
    if (ns > idle.others_ns) idle.causes.push_back({cause, ns - idle.others_ns});
  }
  std::stable_sort(idle.causes.begin(), idle.causes.end(),
                   [](const CauseTime& a, const CauseTime& b) { return a.ns > b.ns; });
  return idle;
}

bool SharesADevice(const Report& report, const ReportProcess& process) {
  const auto is_its = [&process](const ReportDeviceBand& band) {
    return band.host == process.host && band.pid == process.pid;
  };
  return std::any_of(report.devices.begin(), report.devices.end(), [&](const ReportDevice& device) {
    return device.used && device.processes.size() > 1 &&
           std::any_of(device.processes.begin(), device.processes.end(), is_its);
  });
}

std::optional<double> OwnShare(const Report& report) {
  const ReportProcess* process = HeadlineProcess(report);
  if (process == nullptr || process->gpu_busy_ns == 0) return std::nullopt;
  const bool shared = std::any_of(
      report.devices.begin(), report.devices.end(),
      [](const ReportDevice& device) { return device.used && device.processes.size() > 1; });
  if (!shared) return std::nullopt;
  const double device_ns =
      static_cast<double>(report.run.devices_used) * static_cast<double>(report.run.headline_ns);
  if (report.run.headline != "iterations") {  // all work lies within
    int64_t busy_ns = 0;
    for (const ReportDeviceShare& share : process->device_shares) busy_ns += share.busy_ns;
    return Ratio(static_cast<double>(busy_ns), device_ns);
  }
  // Busy time within iterations is kept for all devices of the process together.
  if (report.run.devices_used != 1) return std::nullopt;
  // Nor is it known by instant: what there is of it behind the end of the run.
  if (process->iterations->total_ns > report.run.headline_ns) return std::nullopt;
  return Ratio(static_cast<double>(process->iterations->gpu_busy_ns), device_ns);
}

std::string HeadlineText(const Report& report, bool unicode) {
  const ReportRun& run = report.run;
  const double unknown = run.unknown.share;
  if (run.devices_used == 0) return WithoutWorkText(report, unicode);
  const std::optional<double> own = OwnShare(report);
  const bool bound = run.gpu_busy_is_upper_bound;
  // What is unknown, or of processes that were not recorded, may be more; what is called busy may
  // be less.
  const bool others = run.gpu_busy_is_lower_bound && !own;
  const bool more = unknown > 0 || others;
  const char* how = more && bound ? "about " : more ? "at least " : bound ? "<= " : "";
  std::string line =
      SmiText(report.run) + ", GPU really " + how + FormatShare(own.value_or(run.gpu_busy_share));
  if (own) line += " (peers " + FormatShare(std::max(0.0, run.gpu_busy_share - *own)) + ")";
  if (unknown > 0) line += ", " + UnknownText(run.unknown);
  const double idle = 1 - run.gpu_busy_share - unknown;
  line += ", idle " + IdleBound(run) + FormatShare(std::max(0.0, idle));
  if (idle >= 0.005) line += IdleText(report);
  if (run.what_if) line += WhatIfText(*run.what_if, HeadlineIsPart(report), unicode);
  return line;
}

}  // namespace gpubound
