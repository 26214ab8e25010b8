// SPDX-License-Identifier: Apache-2.0
//
// The catalogue of figures. No state.
#include "analysis/output/check/figure_catalogue.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "analysis/base/text_table.h"
#include "analysis/output/text/headline.h"
#include "analysis/report/main_process.h"
#include "analysis/report/report_training.h"

namespace gpubound {
namespace {

double Number(int64_t value) { return static_cast<double>(value); }

// |low|, and up to |unknown| more.
Figure AtLeast(FigureKind kind, double low, double unknown, double whole = 0) {
  return {kind, low, low + unknown, whole, {}};
}

// Of the run's GPU time, that in which more could have run than was recorded: what is unknown, all
// where others used the devices too.
double UnseenShare(const Report& report) {
  return report.run.gpu_busy_is_lower_bound ? 1 : report.run.unknown.share;
}

// Of the run's span, in which waits may have been for work that was not recorded: of the devices'
// time that may be less, as where it is that of one of several.
double MostUnknown(const Report& report) {
  double most = report.run.whole_unknown.share;
  for (const ReportProcess& process : report.processes) {
    most = std::max(most, Ratio(Number(process.unknown_ns), Number(report.run.wall_ns)));
  }
  return most;
}

// |share| of the run's GPU time, with what is unseen, and less where CUDA graphs were recorded as a
// whole.
Figure BusyShare(const Report& report, double share) {
  const ReportRun& run = report.run;
  const double high = std::min(1.0, share + UnseenShare(report));
  return {FigureKind::kShare, run.gpu_busy_is_upper_bound ? 0 : share, high, 0, {}};
}

// A time in which a process's GPU worked, or did not.
Figure Busy(const ReportProcess& process, int64_t ns) {
  Figure figure =
      AtLeast(FigureKind::kTime, Number(ns), Number(process.unknown_ns), Number(process.span_ns));
  if (process.gpu_busy_is_upper_bound) figure.low = 0;
  return figure;
}

// What nvidia-smi would have shown where all that is unseen had been kernels. A few milliseconds of
// it may fill a window.
double MostSmi(const Report& report) {
  const ReportRun& run = report.run;
  const bool no_device = run.devices_used == 0 && report.devices.empty() && run.unknown.share > 0;
  return run.gpu_busy_is_lower_bound || no_device ? 1 : run.most_smi_model;
}

// Of |busy|, a share. Unknown time may hold work that nvidia-smi would have seen too, up to |most|.
Figure Inflation(double smi, const Figure& busy, double most) {
  if (busy.high <= 0 || (busy.low <= 0 && smi <= 0)) return NotKnown(FigureKind::kRatio);
  const double high = busy.low > 0 ? most / busy.low : std::numeric_limits<double>::infinity();
  return {FigureKind::kRatio, smi / busy.high, high, 0, {}};
}

// Work a second, as the process that steps counts it.
Figure Throughput(const Report& report, const char* counter) {
  const ReportProcess* const stepping = SteppingProcess(report);
  const ReportProcess* const process = stepping != nullptr ? stepping : ToldProcess(report);
  if (process == nullptr) return NotKnown(FigureKind::kCount);
  for (const ReportThroughput& row : process->throughput) {
    if (row.counter == counter) return Exact(FigureKind::kCount, row.per_second);
  }
  return NotKnown(FigureKind::kCount);
}

template <typename Value>
Figure IfKnown(FigureKind kind, const std::optional<Value>& value) {
  return value ? Exact(kind, static_cast<double>(*value)) : NotKnown(kind);
}

const ProcessTraining* TrainingOf(const Report& report) {
  const ReportProcess* const stepping = SteppingProcess(report);
  const ReportProcess* const process = stepping != nullptr ? stepping : ToldProcess(report);
  return process == nullptr ? nullptr : process->training.get();
}

// Not known where it cannot be: a requirement must not hold by a mistake of the program's.
Figure Mfu(const Report& report, std::optional<double> ReportFlops::*mfu) {
  const ProcessTraining* const training = TrainingOf(report);
  if (training == nullptr || !training->flops || training->flops->IsImpossible()) {
    return NotKnown(FigureKind::kShare);
  }
  return IfKnown(FigureKind::kShare, *training->flops.*mfu);
}

Figure OfSamples(const Report& report, FigureKind kind, std::optional<double> ReportSamples::*of) {
  const auto& training = report.run.training;
  if (training == nullptr || !training->samples) return NotKnown(kind);
  return IfKnown(kind, *training->samples.*of);
}

Figure OfWork(const Report& report, const char* counter, std::optional<double> ReportWork::*of) {
  if (report.run.training == nullptr) return NotKnown(FigureKind::kCount);
  for (const ReportWork& work : report.run.training->work) {
    if (work.counter == counter) return IfKnown(FigureKind::kCount, work.*of);
  }
  return NotKnown(FigureKind::kCount);
}

Figure WeightSyncTime(const Report& report, int64_t ReportWeightSync::*ns) {
  const ProcessTraining* const training = TrainingOf(report);
  if (training == nullptr || !training->weight_sync) return NotKnown(FigureKind::kTime);
  const ReportWeightSync& sync = *training->weight_sync;
  return Exact(FigureKind::kTime, Number(sync.*ns), Number(sync.ns));
}

const ReportRoles* RolesOf(const Report& report) {
  const auto& training = report.run.training;
  return training == nullptr || !training->roles ? nullptr : &*training->roles;
}

// The share of GPU time that |role| held and that was idle. What is not known may have been either, and
// so may what others than the run used.
Figure BubbleRatio(const Report& report, const char* role) {
  const ReportRoles* const roles = RolesOf(report);
  if (roles == nullptr) return NotKnown(FigureKind::kShare);
  for (const ReportRole& row : roles->roles) {
    if (row.role != role || row.held_ns == 0) continue;
    const double held = Number(row.held_ns);
    Figure figure =
        AtLeast(FigureKind::kShare, Number(row.idle_ns) / held, Number(row.unknown_ns) / held);
    if (report.run.gpu_busy_is_lower_bound) figure.low = 0;
    if (report.run.gpu_busy_is_upper_bound) figure.high = 1;
    return figure;
  }
  return NotKnown(FigureKind::kShare);
}

// The share of the time in which both roles, and perhaps others, were active.
Figure RolloutAndTrain(const Report& report) {
  const ReportRoles* const roles = RolesOf(report);
  if (roles == nullptr || roles->ns == 0) return NotKnown(FigureKind::kShare);
  int64_t ns = 0;
  for (const ReportRoleOverlap& row : roles->overlap) {
    const auto has = [&row](const char* role) {
      return std::find(row.roles.begin(), row.roles.end(), role) != row.roles.end();
    };
    if (has("rollout") && has("train")) ns += row.ns;
  }
  return Exact(FigureKind::kShare, Number(ns) / Number(roles->ns));
}

Figure TailShare(const Report& report) {
  const ReportRoles* const roles = RolesOf(report);
  if (roles == nullptr || !roles->tail) return NotKnown(FigureKind::kShare);
  return Exact(FigureKind::kShare,
               Ratio(Number(roles->tail->tail_ns), Number(roles->tail->rollout_ns)));
}

constexpr std::array<RunFigure, 31> kRunFigures{{
    {"gpu_busy", FigureKind::kShare,
     [](const Report& report) { return BusyShare(report, report.run.gpu_busy_share); }},
    {"gpu_compute", FigureKind::kShare,
     [](const Report& report) { return BusyShare(report, report.run.compute_share); }},
    {"gpu_comm", FigureKind::kShare,
     [](const Report& report) { return BusyShare(report, report.run.comm_share); }},
    {"gpu_copy", FigureKind::kShare,
     [](const Report& report) { return BusyShare(report, report.run.copy_share); }},
    {"idle", FigureKind::kShare,
     [](const Report& report) {
       const Figure busy = BusyShare(report, report.run.gpu_busy_share);
       return Figure{FigureKind::kShare, 1 - busy.high, 1 - busy.low, 0, {}};
     }},
    {"unknown", FigureKind::kShare,
     [](const Report& report) {
       const ReportUnknown& unknown = report.run.unknown;
       return AtLeast(FigureKind::kShare, unknown.is_upper_bound ? 0 : unknown.share,
                      unknown.is_upper_bound ? unknown.share : 0);
     }},
    {"smi_model", FigureKind::kShare,
     [](const Report& report) {
       return Figure{FigureKind::kShare, report.run.smi_model, MostSmi(report), 0, {}};
     }},
    {"inflation", FigureKind::kRatio,
     [](const Report& report) {
       return Inflation(report.run.smi_model, BusyShare(report, report.run.gpu_busy_share),
                        MostSmi(report));
     }},
    {"gpu_limited", FigureKind::kShare,
     [](const Report& report) {
       const std::optional<double>& share = report.run.gpu_limited_share;
       if (!share) return NotKnown(FigureKind::kShare);
       const double low = report.run.whole_gpu_busy_is_upper_bound ? 0 : *share;
       return Figure{FigureKind::kShare, low, std::min(1.0, *share + MostUnknown(report)), 0, {}};
     }},
    {"wall", FigureKind::kTime,
     [](const Report& report) { return Exact(FigureKind::kTime, Number(report.run.wall_ns)); }},
    {"devices_used", FigureKind::kCount,
     [](const Report& report) {
       return Exact(FigureKind::kCount, Number(report.run.devices_used));
     }},
    {"env_steps_per_second", FigureKind::kCount,
     [](const Report& report) { return Throughput(report, "env_steps"); }},
    {"samples_per_second", FigureKind::kCount,
     [](const Report& report) { return Throughput(report, "samples"); }},
    {"tokens_per_second", FigureKind::kCount,
     [](const Report& report) { return Throughput(report, "tokens"); }},
    {"mfu", FigureKind::kShare,
     [](const Report& report) { return Mfu(report, &ReportFlops::mfu); }},
    {"busy_mfu", FigureKind::kShare,
     [](const Report& report) { return Mfu(report, &ReportFlops::busy_mfu); }},
    {"discarded_share", FigureKind::kShare,
     [](const Report& report) {
       return OfSamples(report, FigureKind::kShare, &ReportSamples::discarded_share);
     }},
    {"goodput", FigureKind::kShare,
     [](const Report& report) {
       return OfSamples(report, FigureKind::kShare, &ReportSamples::goodput);
     }},
    {"versions_behind", FigureKind::kCount,
     [](const Report& report) {
       return OfSamples(report, FigureKind::kCount, &ReportSamples::mean_behind);
     }},
    {"env_steps_per_simulation_second", FigureKind::kCount,
     [](const Report& report) {
       return OfWork(report, "env_steps", &ReportWork::per_simulation_second);
     }},
    {"env_steps_per_simulation_and_inference_second", FigureKind::kCount,
     [](const Report& report) {
       return OfWork(report, "env_steps", &ReportWork::per_simulation_and_inference_second);
     }},
    {"gpu_seconds_per_million_env_steps", FigureKind::kCount,
     [](const Report& report) {
       return OfWork(report, "env_steps", &ReportWork::gpu_seconds_per_million);
     }},
    {"weight_sync_exposed", FigureKind::kTime,
     [](const Report& report) { return WeightSyncTime(report, &ReportWeightSync::exposed_ns); }},
    {"weight_sync_hidden", FigureKind::kTime,
     [](const Report& report) { return WeightSyncTime(report, &ReportWeightSync::hidden_ns); }},
    {"rollout_bubble", FigureKind::kShare,
     [](const Report& report) { return BubbleRatio(report, "rollout"); }},
    {"train_bubble", FigureKind::kShare,
     [](const Report& report) { return BubbleRatio(report, "train"); }},
    {"reward_bubble", FigureKind::kShare,
     [](const Report& report) { return BubbleRatio(report, "reward"); }},
    {"rollout_and_train", FigureKind::kShare, RolloutAndTrain},
    {"rollout_tail", FigureKind::kShare, TailShare},
    {"perfect_overlap_saves", FigureKind::kShare,
     [](const Report& report) {
       const ReportRoles* const roles = RolesOf(report);
       if (roles == nullptr) return NotKnown(FigureKind::kShare);
       return Exact(FigureKind::kShare, roles->PerfectOverlapSaves());
     }},
    {"processes", FigureKind::kCount,
     [](const Report& report) {
       return Exact(FigureKind::kCount, static_cast<double>(report.processes.size()));
     }},
}};

constexpr std::array<ProcessFigure, 8> kProcessFigures{{
    {"gpu_busy", FigureKind::kTime,
     [](const ReportProcess& process) { return Busy(process, process.gpu_busy_ns); }},
    {"gpu_wait", FigureKind::kTime,
     [](const ReportProcess& process) { return Busy(process, process.gpu_wait_ns); }},
    {"gpu_sum", FigureKind::kTime,
     [](const ReportProcess& process) {
       // Nodes of a graph may run at once, and gaps between them count.
       const bool bound = process.gpu_busy_is_upper_bound;
       const bool open = bound || process.unknown_ns > 0;
       return AtLeast(FigureKind::kTime, bound ? 0 : Number(process.gpu_sum_ns),
                      open ? std::numeric_limits<double>::infinity() : 0, Number(process.span_ns));
     }},
    {"idle", FigureKind::kTime,
     [](const ReportProcess& process) {
       const Figure busy = Busy(process, process.gpu_busy_ns);
       return Figure{
           FigureKind::kTime, busy.whole - busy.high, busy.whole - busy.low, busy.whole, {}};
     }},
    {"unknown", FigureKind::kTime,
     [](const ReportProcess& process) {
       return Exact(FigureKind::kTime, Number(process.unknown_ns), Number(process.span_ns));
     }},
    {"wall", FigureKind::kTime,
     [](const ReportProcess& process) {
       return Exact(FigureKind::kTime, Number(process.span_ns), Number(process.span_ns));
     }},
    {"smi_model", FigureKind::kShare,
     [](const ReportProcess& process) {
       return Figure{FigureKind::kShare, process.smi_model, process.most_smi_model, 0, {}};
     }},
    {"inflation", FigureKind::kRatio,
     [](const ReportProcess& process) {
       const double span = Number(process.span_ns);
       Figure busy = Busy(process, process.gpu_busy_ns);
       busy.low = Ratio(busy.low, span);
       busy.high = Ratio(busy.high, span);
       return Inflation(process.smi_model, busy, process.most_smi_model);
     }},
}};

constexpr std::array<OperationFigure, 16> kOperationFigures{{
    {"wall", &ReportOperation::wall_ns, Touch::kNothing},
    {"cpu_only", &ReportOperation::cpu_only_ns, Touch::kUnknown},
    {"cpu_gpu", &ReportOperation::cpu_gpu_ns, Touch::kUnknown},
    {"gpu_only", &ReportOperation::gpu_only_ns, Touch::kUnknown},
    {"waiting", &ReportOperation::waiting_ns, Touch::kUnknown},
    {"idle", &ReportOperation::idle_ns, Touch::kUnknown},
    {"unknown", &ReportOperation::unknown_ns, Touch::kNothing},
    {"gpu_busy", &ReportOperation::gpu_busy_ns, Touch::kUnknown},
    {"gpu_compute", &ReportOperation::gpu_compute_ns, Touch::kUnknown},
    {"gpu_comm", &ReportOperation::gpu_comm_ns, Touch::kUnknown},
    {"gpu_copy", &ReportOperation::gpu_copy_ns, Touch::kUnknown},
    {"gpu_wait", &ReportOperation::gpu_wait_ns, Touch::kUnknown},
    {"gpu_caused", &ReportOperation::gpu_caused_ns, Touch::kUnbounded},
    {"gpu_sum", &ReportOperation::gpu_sum_ns, Touch::kUnbounded},
    {"sm_filled", &ReportOperation::sm_filled_ns, Touch::kUnknown},
    {"inclusive_wall", &ReportOperation::inclusive_wall_ns, Touch::kNothing},
}};

constexpr std::array<LaunchFigure, 8> kLaunchFigures{{
    {"launches", FigureKind::kCount,
     [](const ReportLaunches& all) {
       return Exact(FigureKind::kCount, static_cast<double>(all.count));
     }},
    {"launch_lead_mean", FigureKind::kTime,
     [](const ReportLaunches& all) { return IfKnown(FigureKind::kTime, all.lead_mean_ns); }},
    {"launch_lead_median", FigureKind::kTime,
     [](const ReportLaunches& all) { return IfKnown(FigureKind::kTime, all.lead_median_ns); }},
    {"launch_lead_p95", FigureKind::kTime,
     [](const ReportLaunches& all) { return IfKnown(FigureKind::kTime, all.lead_p95_ns); }},
    {"queue_depth_mean", FigureKind::kCount,
     [](const ReportLaunches& all) { return IfKnown(FigureKind::kCount, all.depth_mean); }},
    {"queue_depth_median", FigureKind::kCount,
     [](const ReportLaunches& all) { return IfKnown(FigureKind::kCount, all.depth_median); }},
    {"queue_depth_p95", FigureKind::kCount,
     [](const ReportLaunches& all) { return IfKnown(FigureKind::kCount, all.depth_p95); }},
    {"shorter_kernels", FigureKind::kShare,
     [](const ReportLaunches& all) {
       return IfKnown(FigureKind::kShare, all.shorter_kernels_share);
     }},
}};

constexpr std::array<IterationFigure, 8> kIterationFigures{{
    {"median", &ReportIterations::median_ns},
    {"mean", &ReportIterations::mean_ns},
    {"p95", &ReportIterations::p95_ns},
    {"total", &ReportIterations::total_ns},
    {"start_up", &ReportIterations::start_up_ns},
    {"warm_up", &ReportIterations::warm_up_ns},
    {"shutdown", &ReportIterations::shutdown_ns},
    {"gpu_busy", &ReportIterations::gpu_busy_ns},
}};

bool IsWithoutGpu(int64_t ReportOperation::*ns) {
  return ns == &ReportOperation::cpu_only_ns || ns == &ReportOperation::waiting_ns ||
         ns == &ReportOperation::idle_ns;
}

}  // namespace

std::span<const RunFigure> RunFigures() { return kRunFigures; }
std::span<const ProcessFigure> ProcessFigures() { return kProcessFigures; }
std::span<const OperationFigure> OperationFigures() { return kOperationFigures; }
std::span<const LaunchFigure> LaunchFigures() { return kLaunchFigures; }
std::span<const IterationFigure> IterationFigures() { return kIterationFigures; }

Figure Exact(FigureKind kind, double value, double whole) {
  return {kind, value, value, whole, {}};
}

Figure NotKnown(FigureKind kind) { return Exact(kind, std::numeric_limits<double>::quiet_NaN()); }

Figure OperationTime(const ReportProcess& process, const ReportOperation& row,
                     const OperationFigure& figure) {
  double more = 0;
  if (figure.touch == Touch::kUnknown) more = Number(row.unknown_ns);
  // Work that was launched here could have run at any unknown time of the process.
  if (figure.touch == Touch::kUnbounded && process.unknown_ns > 0) {
    more = std::numeric_limits<double>::infinity();
  }
  double whole = Number(row.wall_ns);
  if (figure.ns == &ReportOperation::wall_ns || figure.ns == &ReportOperation::inclusive_wall_ns) {
    whole = Number(process.span_ns);
  }
  if (figure.ns == &ReportOperation::sm_filled_ns) whole = Number(row.gpu_busy_ns);
  Figure time = AtLeast(FigureKind::kTime, Number(row.*figure.ns), more, whole);
  if (figure.ns == &ReportOperation::gpu_caused_ns) {
    if (row.gpu_caused_is_lower_bound) time.high = std::numeric_limits<double>::infinity();
    if (row.gpu_caused_is_upper_bound) time.low = 0;
  } else if (row.gpu_busy_is_upper_bound && figure.touch != Touch::kNothing) {
    // What counts as busy may be less by any part of it, and what does not more.
    if (IsWithoutGpu(figure.ns)) {
      time.high += Number(row.gpu_busy_ns);
    } else {
      time.low = 0;
      // Nodes of a graph may run at once.
      if (figure.ns == &ReportOperation::gpu_sum_ns) {
        time.high = std::numeric_limits<double>::infinity();
      }
    }
  }
  return time;
}

Figure IterationTime(const ReportProcess& process, const IterationFigure& figure) {
  const ReportIterations& all = *process.iterations;
  const bool typical = figure.ns == &ReportIterations::mean_ns ||
                       figure.ns == &ReportIterations::median_ns ||
                       figure.ns == &ReportIterations::p95_ns;
  if (typical && all.count == 0) return NotKnown(FigureKind::kTime);
  if (figure.ns != &ReportIterations::gpu_busy_ns) {
    return Exact(FigureKind::kTime, Number(all.*figure.ns), Number(process.span_ns));
  }
  int64_t unknown_ns = 0;
  for (const ReportIterationOperation& row : all.operations) unknown_ns += row.unknown_ns;
  Figure busy =
      AtLeast(FigureKind::kTime, Number(all.gpu_busy_ns), Number(unknown_ns), Number(all.total_ns));
  if (process.gpu_busy_is_upper_bound) busy.low = 0;
  return busy;
}

}  // namespace gpubound
