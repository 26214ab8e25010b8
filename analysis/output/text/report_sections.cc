// SPDX-License-Identifier: Apache-2.0
//
// Renders sections. No state.
#include "analysis/output/text/report_sections.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "analysis/base/demangle.h"
#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/cause_rules.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/output/text/headline.h"
#include "analysis/output/text/in_run_text.h"
#include "analysis/output/text/paint.h"
#include "analysis/output/text/pid_text.h"
#include "analysis/output/text/progress_text.h"
#include "analysis/output/text/table_legend.h"
#include "analysis/report/main_process.h"
#include "analysis/report/simulated_mark.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr double kWorthNaming = 0.01;  // of idle time, where sentences are short

std::string DeviceName(const std::string& uuid, uint32_t ordinal) {
  return uuid.empty() ? std::to_string(ordinal) : EscapeName(uuid);
}

std::string Table(const TextTable& table, const TextOptions& options) {
  return "\n" + table.RenderInParts(options.width, options.unicode);
}

enum class Use : uint8_t { kUsed, kUnused, kUnknown };

Use UseOf(const ReportDevice& device) {
  if (device.used) return Use::kUsed;
  return device.has_unknown_time || device.busy_is_lower_bound ? Use::kUnknown : Use::kUnused;
}

// "2 x NVIDIA H100, NVIDIA L4": the devices of the run of that |use|.
std::string DeviceNames(const Report& report, Use use) {
  std::map<std::string, int> counts;
  for (const ReportDevice& device : report.devices) {
    if (UseOf(device) == use) ++counts[device.name.empty() ? "unnamed device" : device.name];
  }
  std::string text;
  for (const auto& [name, count] : counts) {
    text += (text.empty() ? "" : ", ") + (count == 1 ? "" : std::to_string(count) + " x ") +
            EscapeName(name);
  }
  return text;
}

std::string FullName(const ReportDevice& device) {
  return EscapeName(device.name + (device.uuid.empty() ? "" : " " + device.uuid));
}

// What tables call the |i|-th device: its full name, or a number where that is longer than a name
// may be.
std::string DeviceLabel(const Report& report, size_t i) {
  const std::string full = FullName(report.devices[i]);
  return DisplayWidth(full) <= kLongestTableName ? full : "GPU " + std::to_string(i);
}

// Of rows that know the device by its uuid, or by the number that the process has for it.
std::string LabelOf(const Report& report, const std::string& uuid) {
  for (size_t i = 0; i < report.devices.size(); ++i) {
    if (uuid.empty() || report.devices[i].uuid != uuid) continue;
    const std::string label = DeviceLabel(report, i);
    return label == FullName(report.devices[i]) ? EscapeName(uuid) : label;
  }
  return EscapeName(uuid);
}

// What profiling added to the span of |process|, which is corrected, as a share of it without that.
double Slowdown(const ReportProcess& process) {
  const int64_t corrected_ns = process.corrected->process.span_ns;
  return ShareOf(process.span_ns - corrected_ns, corrected_ns);
}

// The span of |main| without the profiler, which is the run's wall time where they are as long.
std::string CorrectedWall(const Report& report, const ReportProcess& main,
                          const TextOptions& options) {
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  const CorrectedProcess& corrected = *main.corrected;
  const std::string name =
      "pid " + PidText(report.processes, options.unicode).Of(main.pid, main.host);
  return (main.span_ns == report.run.wall_ns ? "" : ", of " + name + " " + time(main.span_ns)) +
         ", without the profiler " + time(corrected.process.span_ns) + " (" +
         time(corrected.span.low) + " to " + time(corrected.span.high) +
         "): " + FormatShare(Slowdown(main)) + " slower";
}

}  // namespace

// How busy from the first to the last work, where that is not what the other figures say: a profile
// has time before and after in which nothing that it watches happens.
std::string WorkWindowText(const ReportRun& run, const TextOptions& options) {
  if (run.headline == "work" || run.work_ns == 0 || run.devices_used == 0) return {};
  const std::string busy = FormatShare(run.work_gpu_busy_share);
  const bool same =
      busy == FormatShare(run.headline == "span" ? run.gpu_busy_share : run.whole_gpu_busy_share);
  if (same) return {};
  return "from the first to the last GPU work, " + FormatTime(run.work_ns, options.raw) +
         ", busy " +
         Bounded(run.whole_gpu_busy_is_upper_bound,
                 run.work_unknown.share > 0 || run.gpu_busy_is_lower_bound, busy);
}

std::string SimulatedLine(const Report& report, const TextOptions& options) {
  const std::string mark = SimulatedMark(report);
  if (mark.empty()) return {};
  const std::string line = Wrap(mark, options.width, 2);
  const size_t end = line.find(':');
  return Painted(line.substr(0, end), Paint::kWarning, options) + line.substr(end);
}

std::string HeadlineScope(const Report& report, const TextOptions& options) {
  const ReportRun& run = report.run;
  const double whole_unknown = run.whole_unknown.share;
  if (run.devices_used == 0 && whole_unknown == 0) return {};
  const bool more = run.unknown.share > 0 || run.gpu_busy_is_lower_bound;
  std::string line;
  for (const auto& [name, share] : {std::pair{"compute", run.compute_share},
                                    {"comm", run.comm_share},
                                    {"copy", run.copy_share}}) {
    if (share > 0)
      line += (line.empty() ? "" : ", ") + std::string(name) + " " +
              Bounded(run.gpu_busy_is_upper_bound, more, FormatShare(share));
  }
  if (run.headline == "work") {
    line += (line.empty() ? "" : ", ") + std::string("from the first to the last GPU work, ") +
            FormatTime(run.headline_ns, options.raw);
  } else if (run.headline != "span") {
    const ReportProcess* stepping = SteppingProcess(report);
    const bool is_other = stepping != nullptr && stepping != MainProcess(report);
    const PidText pids(report.processes, options.unicode);
    const bool warm =
        stepping == nullptr || !stepping->iterations || stepping->iterations->warm_up > 0;
    line += (line.empty() ? "in" : ", in") + std::string(" the iterations") +
            (is_other ? " of pid " + pids.Of(stepping->pid, stepping->host) : "") +
            (warm ? " after warm-up, " : ", ") + FormatTime(run.headline_ns, options.raw);
  }
  if (run.headline != "span") {
    line += "; in the whole span ";
    if (run.devices_used > 0) {
      line += "busy " +
              Bounded(run.whole_gpu_busy_is_upper_bound,
                      whole_unknown > 0 || run.gpu_busy_is_lower_bound,
                      FormatShare(run.whole_gpu_busy_share)) +
              (whole_unknown > 0 ? ", " : "");
    }
    if (whole_unknown > 0) line += UnknownText(run.whole_unknown);
  }
  const std::string work = WorkWindowText(run, options);
  if (!work.empty()) line += (line.empty() ? "" : "; ") + work;
  if (run.gpu_limited_share) {
    line += std::string(line.empty()             ? ""
                        : run.headline == "span" ? "; "
                                                 : ", ") +
            "GPU-limited " +
            Bounded(run.whole_gpu_busy_is_upper_bound, whole_unknown > 0,
                    FormatShare(*run.gpu_limited_share)) +
            ": what an infinitely fast GPU would save";
  }
  return line.empty() ? "" : Wrap("GPU: " + line + ".", options.width, 2);
}

std::string FailureLine(const Report& report, const TextOptions& options) {
  const ReportRun& run = report.run;
  std::string line;
  if (run.signal) {
    line = "Signal " + std::to_string(*run.signal) +
           " ended the program: all figures are of what it did until then.";
  } else if (run.exit_code.value_or(0) != 0) {
    line = "The program failed with exit status " + std::to_string(*run.exit_code) +
           ": all figures are of a failed program.";
  }
  return line.empty() ? line : Wrap(line, options.width, 2);
}

std::string LoopLine(const Report& report, const TextOptions& options) {
  const ReportProcess* const process = SteppingProcess(report);
  if (process == nullptr) return {};
  const ReportIterations& all = *process->iterations;
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  const PidText pids(report.processes, options.unicode);
  std::string line = process == MainProcess(report)
                         ? "Start-up "
                         : "Pid " + pids.Of(process->pid, process->host) + ": start-up ";
  const int64_t loop_ns = all.warm_up_ns + all.total_ns;
  const int64_t between_ns = process->span_ns - all.start_up_ns - all.shutdown_ns - loop_ns;
  line += time(all.start_up_ns) + ", loop " + time(loop_ns) +
          (between_ns > 0 ? ", between its iterations " + time(between_ns) : "") + ", shutdown " +
          time(all.shutdown_ns) + ".";
  return Wrap(line, options.width, 2);
}

// Those that ended, which may be fewer than were asked for.
std::string StepsLine(const Report& report, const TextOptions& options) {
  if (report.run.steps.empty()) return {};
  const auto ends_some = [](const ReportProcess& process) {
    return process.iterations && !process.iterations->every.empty();
  };
  const auto any = std::find_if(report.processes.begin(), report.processes.end(), ends_some);
  std::string which = "no iteration that ended";
  if (any != report.processes.end()) {
    const ReportProcess& main = *MainProcess(report);
    const ReportProcess& process = ends_some(main) ? main : *any;
    const std::vector<ReportIteration>& every = process.iterations->every;
    const std::string first = std::to_string(every.front().number);
    const std::string last = std::to_string(every.back().number);
    which = every.size() == 1 ? "iteration " + first : "iterations " + first + " to " + last;
  }
  return Wrap("Recorded: " + which + " (--steps " + report.run.steps +
                  "); all figures are about their time.",
              options.width, 2);
}

std::string WallTimeLine(const Report& report, const TextOptions& options) {
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  std::string line = "Wall time " + time(report.run.wall_ns);
  const ReportProcess* main = MainProcess(report);
  if (main != nullptr && !main->corrected_why_not.empty()) {
    std::string why = report.device_kind == "imported" ? "another tool recorded it"
                                                       : EscapeName(main->corrected_why_not);
    if (why.ends_with('.')) why.pop_back();
    line += ", not corrected for profiling (" + why + ")";
  } else if (main != nullptr && main->corrected != nullptr) {
    line += CorrectedWall(report, *main, options);
  }
  const ReportProcess* stepping = SteppingProcess(report);
  const ReportProcess* told = stepping != nullptr ? stepping : main;
  if (told != nullptr) line += ProgressText(report.run, *told, options);
  return Wrap(line + ".", options.width, 2);
}

std::string DeviceLine(const Report& report) {
  const size_t processes = report.processes.size();
  std::string line = std::to_string(processes) + (processes == 1 ? " process" : " processes");
  const std::string used = DeviceNames(report, Use::kUsed);
  const std::string unused = DeviceNames(report, Use::kUnused);
  const std::string unknown = DeviceNames(report, Use::kUnknown);
  if (!used.empty()) line += ", " + used;
  if (!unused.empty()) line += "; visible but unused: " + unused;
  if (!unknown.empty()) line += "; visible, use unknown: " + unknown;
  return line + ".";
}

namespace {

// How many gaps of these causes there are, where they are worth naming.
std::string QueuedText(const ReportProcess& process, const TextOptions& options) {
  int64_t idle_ns = 0;
  for (const ReportDeviceShare& share : process.device_shares) idle_ns += share.idle_ns;
  std::string text;
  const auto say = [&](const ReportQueuedGaps& gaps, const std::string& what) {
    if (gaps.count == 0 || ShareOf(gaps.ns, idle_ns) < kWorthNaming) return;
    text += " " + FormatCount(gaps.count) + (gaps.count == 1 ? " gap " : " gaps ") + what +
            (gaps.count == 1 ? " takes " : " take ") + FormatTime(gaps.mean_ns, options.raw) +
            (gaps.count == 1 ? "." : " each on average.");
  };
  say(process.queued_gaps, "between queued work");
  say(process.event_wait_gaps, "before work that waits for another stream");
  return text;
}

// How far launches run ahead.
std::string LaunchText(const ReportProcess& process, const TextOptions& options) {
  const ReportLaunches& launches = process.launches;
  if (launches.count == 0) return {};
  std::string text = " The GPU begins work " + FormatTime(*launches.lead_median_ns, options.raw) +
                     " after its launch (median), with " +
                     FormatCount(static_cast<uint64_t>(std::llround(*launches.depth_mean))) +
                     " launches queued before it (mean)";
  if (launches.shorter_kernels_share) {
    text += "; " + FormatShare(*launches.shorter_kernels_share) +
            " of the kernels are shorter than their launch call";
  }
  return text + ".";
}

}  // namespace

std::string IdleSentence(const Report& report, const ReportProcess& process,
                         const TextOptions& options) {
  const std::map<std::string, int64_t> sums = IdleByCause(process);
  int64_t idle_ns = 0;
  for (const auto& [cause, ns] : sums) idle_ns += ns;
  if (idle_ns == 0) return {};
  std::vector<std::pair<std::string, int64_t>> causes(sums.begin(), sums.end());
  std::stable_sort(causes.begin(), causes.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  // Of the time of all devices that it used.
  const int64_t whole_ns = process.span_ns * DeviceCount(process);
  std::string line = SharesADevice(report, process) ? "Without GPU work of its own " : "GPU idle ";
  line += FormatTime(idle_ns, options.raw) + ", " + FormatShare(ShareOf(idle_ns, whole_ns)) +
          " of the whole span: ";
  for (size_t i = 0; i < causes.size(); ++i) {
    line += (i == 0 ? "" : ", ") + CauseText(causes[i].first, BlamesPython(report, process)) + " " +
            FormatShare(ShareOf(causes[i].second, whole_ns));
  }
  line += "." + QueuedText(process, options) + LaunchText(process, options);
  return Wrap(line, options.width, 2);
}

std::string IterationSentence(const ReportProcess& process, const TextOptions& options) {
  if (!process.iterations) return {};
  const ReportIterations& all = *process.iterations;
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  std::string line = "Iterations: " + FormatCount(all.count);
  if (all.warm_up > 0) line += " after " + FormatCount(all.warm_up) + " of warm-up";
  if (all.count != 0) {
    line += "; mean " + time(all.mean_ns) + ", median " + time(all.median_ns) + ", p95 " +
            time(all.p95_ns) + ", slowest number " + std::to_string(all.slowest.front().number) +
            " with " + time(all.slowest.front().ns);
  }
  line += "; start-up " + time(all.start_up_ns) + ", warm-up " + time(all.warm_up_ns) +
          ", shutdown " + time(all.shutdown_ns) + ".";
  return Wrap(line, options.width, 2);
}

std::string CorrectionSentence(const ReportProcess& process, const TextOptions& options,
                               bool has_gpu) {
  if (process.corrected == nullptr) return {};
  const CorrectedProcess& corrected = *process.corrected;
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  std::string line = "Without the profiler: span " + time(corrected.process.span_ns) + " (" +
                     time(corrected.span.low) + " to " + time(corrected.span.high) + ", 95 %)";
  if (has_gpu) {
    line += ", GPU busy " + Bounded(process.gpu_busy_is_upper_bound, process.unknown_ns > 0,
                                    time(corrected.process.gpu_busy_ns));
  }
  if (corrected.process.span_ns > 0) {
    line += ", so profiling took " + FormatShare(Slowdown(process)) + " more time";
  }
  line += ".";
  const CheckWords words = {.raw = options.raw, .has_iterations = process.iterations.has_value()};
  if (const std::string check = CheckText(corrected.in_run, words); !check.empty()) {
    line += " " + EscapeName(check);
  }
  return Wrap(line, options.width, 2);
}

std::string IterationTables(const ReportProcess& process, const TextOptions& options) {
  if (!process.iterations || process.iterations->count == 0) return {};
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  const auto count = static_cast<int64_t>(process.iterations->count);
  const auto busy = [&](int64_t ns, bool more) {
    return Bounded(process.gpu_busy_is_upper_bound && ns > 0, more, time(ns));
  };
  bool more = false;
  TextTable operations({"Per iteration", "wall", "GPU busy", "unknown"});
  for (const ReportIterationOperation& row : process.iterations->operations) {
    operations.AddRow({ShownName(row.operation), time(row.wall_ns / count),
                       busy(row.gpu_busy_ns / count, row.unknown_ns > 0),
                       time(row.unknown_ns / count)});
    more |= row.unknown_ns > 0;
  }
  TextTable slowest({"Slowest iteration", "begin", "wall", "GPU busy"});
  for (const ReportIteration& row : process.iterations->slowest) {
    slowest.AddRow({std::to_string(row.number), time(row.begin_ns), time(row.ns),
                    busy(row.gpu_busy_ns, more)});
  }
  return Table(operations, options) + Table(slowest, options);
}

std::string GapTable(const Report& report, const ReportProcess& process,
                     const TextOptions& options) {
  if (process.gaps.empty()) return {};
  const bool several = std::count_if(report.devices.begin(), report.devices.end(),
                                     [](const ReportDevice& device) { return device.used; }) > 1;
  std::string text = SharesADevice(report, process)
                         ? "\nLongest times without GPU work of its own\n"
                         : "\nLongest GPU idle gaps\n";
  for (const ReportGap& gap : process.gaps) {
    const auto side = [&options](const std::string& operation, const std::string& layer,
                                 const std::string& work) {
      const auto name = [&options](const std::string& of) {
        return ShortName(ShownName(of), kNameInSentence, options.unicode);
      };
      return name(operation) + " in " + layer +
             (work.empty() ? "" : " (" + name(Demangled(work)) + ")");
    };
    text += Wrap(FormatTime(gap.ns, options.raw) + " at " + FormatTime(gap.begin_ns, options.raw) +
                     (several ? " on " + DeviceName(gap.uuid, gap.ordinal) : "") + ", mostly " +
                     CauseText(gap.cause, BlamesPython(report, process)) + ": from " +
                     side(gap.operation_at_begin, gap.layer_at_begin, gap.work_before) + " to " +
                     side(gap.operation_at_end, gap.layer_at_end, gap.work_after),
                 options.width, 2);
  }
  return text;
}

std::string LaneTables(const ReportProcess& process, const TextOptions& options) {
  std::string text;
  for (const ReportLane& lane : process.lanes) {
    TextTable table({"Thread " + EscapeName(lane.thread) + " " + std::to_string(lane.tid), "wall",
                     "GPU busy", "cpu only", "idle"});
    for (const ReportOperation& row : lane.operations) {
      const std::string mark(row.scopes_missing ? kScopesMissing : "");
      const bool handed_over = lane.handed_over && row.operation != kNoOperation;
      table.AddRow({ShownName(row.operation) + (handed_over ? " (handed over)" : ""),
                    mark + FormatTime(row.wall_ns, options.raw),
                    Bounded(row.gpu_busy_is_upper_bound, row.unknown_ns > 0,
                            FormatTime(row.gpu_busy_ns, options.raw)),
                    FormatTime(row.cpu_only_ns, options.raw),
                    FormatTime(row.idle_ns + row.waiting_ns, options.raw)});
    }
    text += Table(table, options);
  }
  return text.empty() ? "\nNo thread but the primary one has operations.\n" : text;
}

std::string MemoryText(const ReportDevice& device) {
  if (!device.memory_peak_bytes) return "";
  const std::string of_all =
      device.memory_bytes ? " of " + FormatBytes(*device.memory_bytes) : std::string();
  return "at most " + FormatBytes(*device.memory_peak_bytes) + of_all +
         " of memory was in use at once, by all that ran there";
}

std::string DeviceTables(const Report& report, const TextOptions& options) {
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  TextTable devices({"Device", "busy", "span", "share", "nvidia-smi", "smi model", "inflation"});
  TextTable bands({"Process on device", "alone", "contended", "at most"});
  const PidText pids(report.processes, options.unicode);
  bool shared = false;
  for (size_t i = 0; i < report.devices.size(); ++i) {
    const ReportDevice& device = report.devices[i];
    const std::string name = DeviceLabel(report, i);
    std::string inflation = "-";
    if (device.inflation) {
      const auto tenths = std::llround(*device.inflation * 10);
      const char* bound = device.busy_is_lower_bound ? "" : ">= ";
      inflation = (device.busy_is_upper_bound ? bound : "") + std::to_string(tenths / 10) + "." +
                  std::to_string(tenths % 10) + "x";
    }
    const auto busy = [&device](const std::string& figure) {
      return Bounded(device.busy_is_upper_bound,
                     device.has_unknown_time || device.busy_is_lower_bound, figure);
    };
    devices.AddRow({name, busy(time(device.busy_ns)), time(device.span_ns),
                    busy(FormatShare(ShareOf(device.busy_ns, device.span_ns))),
                    device.nvml_utilization ? FormatShare(*device.nvml_utilization) : "-",
                    FormatShare(device.smi_model), inflation});
    shared |= device.processes.size() > 1;
    for (const ReportDeviceBand& band : device.processes) {
      bands.AddRow({EscapeName(band.name) + " " + pids.With(band.pid, band.host, name),
                    time(band.alone_ns), time(band.contended_ns),
                    time(band.alone_ns + band.contended_ns)});
    }
  }
  TextTable operations({"Operation on device", "wall", "busy", "idle", "unknown"});
  for (const ReportOperationDevice& row : report.operation_devices) {
    operations.AddRow({ShownName(row.operation) + " on " + LabelOf(report, row.device),
                       time(row.wall_ns),
                       Bounded(row.busy_is_upper_bound, row.unknown_ns > 0, time(row.busy_ns)),
                       time(row.idle_ns), time(row.unknown_ns)});
  }
  std::string text = Table(devices, options);
  for (size_t i = 0; i < report.devices.size(); ++i) {
    const std::string label = DeviceLabel(report, i);
    const std::string full = FullName(report.devices[i]);
    if (label != full) text += Wrap(label + ": " + full, options.width, 2);
    if (const std::string memory = MemoryText(report.devices[i]); !memory.empty()) {
      text += Wrap(label + ": " + memory + ".", options.width, 2);
    }
  }
  if (shared) text += Table(bands, options);
  if (!report.operation_devices.empty()) text += Table(operations, options);
  return text;
}

}  // namespace gpubound
