// SPDX-License-Identifier: Apache-2.0
//
// Replays a run with changes. No state.
#include "analysis/correction/what_if_report.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/base/in_parallel.h"
#include "analysis/base/short_name.h"
#include "analysis/base/suggestion.h"
#include "analysis/correction/in_run_costs.h"
#include "analysis/correction/report_options.h"
#include "analysis/correction/run_costs.h"
#include "analysis/correction/span_ratio.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/reader/reader.h"
#include "analysis/replay/kernel_lengths.h"
#include "analysis/replay/replay.h"
#include "analysis/replay/replay_copies.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/row_names.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {
namespace {

constexpr double kFactors[] = {2, 1, 0.5, 0.25, 0};
constexpr size_t kCurveOperations = 4;
constexpr size_t kCurveKernels = 3;

std::string Listed(const std::set<std::string>& names) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + name;
  return all;
}

// How many times what was used at once fits into the memory of the used one of |devices| on which that
// is fewest; absent where NVML or CUPTI did not say.
std::optional<uint32_t> FitInMemory(const std::vector<ReportDevice>& devices) {
  std::optional<uint32_t> fewest;
  for (const ReportDevice& device : devices) {
    if (!device.used) continue;
    if (!device.memory_bytes || device.memory_peak_bytes.value_or(0) <= 0) return {};
    const int64_t fit =
        std::min<int64_t>(*device.memory_bytes / *device.memory_peak_bytes, UINT32_MAX);
    fewest = std::min(fewest.value_or(UINT32_MAX), static_cast<uint32_t>(fit));
  }
  return fewest;
}

class Imagination {
 public:
  Imagination(const Run& run, const ReportOptions& options, const WhatIfQuestion& question)
      : run_(run),
        options_(options),
        changes_(question.changes),
        move_(question.move),
        copies_(question.copies) {
    replay_.operations = options.operations;
    if (options.costs) replay_.costs = *options.costs;
  }

  Result<WhatIfReport> Imagine() {
    if (run_.processes.empty()) {
      return Error{"replaying the run", run_.path, "no process that was recorded",
                   "one whose events can be replayed", "gpubound report says why there is none."};
    }
    WhatIfReport result;
    if (options_.costs) {
      // Those that the run's own report takes out, so that both begin at the same span.
      Result<InRunCosts> checked = CheckCosts(run_, *options_.costs, options_.operations);
      if (!checked.ok()) return checked.error();
      replay_.process_costs = std::move((*checked).costs);
    }
    Result<Report> before = ReportWith({});
    if (!before.ok()) return before.error();
    result.before = std::move(*before);
    const ReplayedSpan as_is = std::move(span_);
    const Status known = CheckNames(result.before);
    if (!known.ok()) return known.error();
    if (move_.gpus > 0) {
      const Result<Report> recorded = BuildReport(run_, options_);  // replayed ones have no roles
      if (!recorded.ok()) return recorded.error();
      Result<ResizedRoles> resized = ResizeRoles(*recorded, move_);
      if (!resized.ok()) return resized.error();
      resized_ = std::move((*resized).by_process);
      result.moved = std::move((*resized).moved);
    }
    Result<Report> after = ReportWith(changes_);
    if (!after.ok()) return after.error();
    result.after = std::move(*after);
    result.ratio = RatioOf(span_, as_is);
    result.iteration_ratio = IterationRatioOf(span_, as_is);
    if (result.moved.gpus > 0) {
      result.ratio = WithUnevenShares(result.ratio);
      if (result.iteration_ratio.part > 0) {
        result.iteration_ratio = WithUnevenShares(result.iteration_ratio);
      }
    }
    const Status widened = AddKernelBounds(as_is, &result);
    if (!widened.ok()) return widened.error();
    result.span_ns = as_is.run_ns;
    result.predicted_span_ns = span_.run_ns;
    for (const ProcessTrace& process : run_.processes) {
      if (result.not_corrected.empty()) result.not_corrected = WhyNotCorrected(options_, process);
    }
    result.asks_for_graphs = !changes_.graph_capture.empty();
    result.asks_for_fusion = !changes_.fuse.empty();
    result.environments = changes_.environments;
    for (const ReplayFacts& facts : facts_) {
      result.captures += facts.captures;
      result.captures_broken += facts.captures_broken;
    }
    // Who asks for copies of the run as it is asks for nothing to be faster.
    result.only_copies = copies_ > 0 && changes_.empty() && resized_.empty();
    if (!result.only_copies) {
      const Status drawn = Draw(PartsOf(result.before), span_.run_ns, &result.curves);
      if (!drawn.ok()) return drawn.error();
      const Status halved = AddHalves(&result.halves);
      if (!halved.ok()) return halved.error();
    }
    const Status shared = AddCopies(&result);
    if (!shared.ok()) return shared.error();
    std::stable_sort(result.curves.begin(), result.curves.end(), [](const auto& a, const auto& b) {
      return a.points.back().wall_ns < b.points.back().wall_ns;
    });
    return result;
  }

 private:
  // The run with |changes|, and what processes of resized roles take.
  ReplayOptions ReplayOf(const WhatIf& changes) const {
    ReplayOptions replay = replay_;
    replay.changes = changes;
    for (const std::vector<Scaling>& resized : resized_) {
      WhatIf& of = replay.process_changes.emplace_back(changes);
      of.scalings.insert(of.scalings.end(), resized.begin(), resized.end());
    }
    return replay;
  }

  Result<Report> ReportWith(const WhatIf& changes) {
    const Result<ReplayedRun> replayed = ReplayRun(run_, ReplayOf(changes));
    if (!replayed.ok()) return replayed.error();
    facts_ = (*replayed).facts;
    Result<Report> report = BuildReport((*replayed).run, options_);
    if (!report.ok()) return report;
    for (size_t p = 0; p < run_.processes.size(); ++p) {
      const std::string why = WhyNotCorrected(options_, run_.processes[p]);
      report->processes[p].corrected_why_not =
          why.empty() ? "all values of this process are corrected ones" : why;
    }
    // Of a changed run another process may be the longest: both are told by the same one.
    if (!leading_) leading_ = LeadingOf(*report);
    span_ = SpanOf(*replayed, *leading_);
    return report;
  }

  bool HasWorkNamed(const std::string& part) const {
    for (const ProcessTrace& process : run_.processes) {
      for (const auto& work : process.works) {
        if (work.name.find(part) != std::string::npos) return true;
      }
    }
    return false;
  }

  // By time in all processes and threads, longest first.
  static std::vector<std::string> OperationsOf(const Report& report) {
    std::map<std::string, int64_t> times;
    const auto add = [&times](const std::vector<ReportOperation>& rows) {
      for (const ReportOperation& row : rows) times[row.operation] += row.wall_ns;
    };
    for (const ReportProcess& process : report.processes) {
      add(process.operations);
      for (const ReportLane& lane : process.lanes) {
        if (!lane.handed_over) add(lane.operations);
      }
    }
    std::vector<std::string> names;
    for (const auto& [name, ns] : times) names.push_back(name);
    std::stable_sort(names.begin(), names.end(),
                     [&times](const auto& a, const auto& b) { return times[a] > times[b]; });
    return names;
  }

  // The kind of GPU that all processes used; null where that is not one which is known.
  const DeviceKind* KindUsed() const {
    const DeviceKind* kind = nullptr;
    for (const ProcessTrace& process : run_.processes) {
      if (process.works.size() <= 1) continue;
      const DeviceKind* const used = KindUsedBy(process);
      if (used == nullptr || (kind != nullptr && used != kind)) return nullptr;
      kind = used;
    }
    return kind;
  }

  std::string DevicesUsed() const {
    std::set<std::string> names;
    for (const ProcessTrace& process : run_.processes) {
      for (const Stream& stream : process.streams) {
        const std::string& name = process.DeviceOf(stream.device).name;
        if (!name.empty()) names.insert(name);
      }
    }
    return names.empty() ? "no GPU that has a name" : Listed(names);
  }

  Status CheckKernels() const {
    if (!changes_.changes_kernels() && copies_ == 0) return Ok{};
    if (!HasWorkNamed("")) {
      return Error{"changing", "the GPU", "no device work in the run", "a run that used a GPU",
                   "gpubound report says where the time of this run went."};
    }
    if (changes_.gpu.kind == nullptr || KindUsed() != nullptr) return Ok{};
    return Error{"changing", "the GPU of the run", DevicesUsed(),
                 "one kind of GPU whose data sheet is known: " + ListedNames(KnownKinds()),
                 "--scale device:FACTOR takes a factor of your own."};
  }

  // What --gpu predicts lies between kernels that are bound by what changes most and least.
  Status AddKernelBounds(const ReplayedSpan& as_is, WhatIfReport* result) const {
    if (changes_.gpu.kind == nullptr) return Ok{};
    result->gpu_from = KindUsed()->name;
    result->gpu_to = changes_.gpu.kind->name;
    const KernelBound bounds[] = {KernelBound::kShortest, KernelBound::kLongest};
    ReplayedSpan spans[std::size(bounds)];
    std::vector<std::function<Status()>> jobs;
    for (size_t i = 0; i < std::size(bounds); ++i) {
      jobs.emplace_back([this, bound = bounds[i], span = &spans[i]] {
        WhatIf changes = changes_;
        changes.gpu.bound = bound;
        return Replay(changes, span);
      });
    }
    const Status done = InParallel(jobs);
    if (!done.ok()) return done;
    const auto widen = [](const SpanRatio& by, SpanRatio* ratio) {
      ratio->low = std::min(ratio->low, by.low);
      ratio->high = std::max(ratio->high, by.high);
    };
    for (const ReplayedSpan& span : spans) {
      widen(RatioOf(span, as_is), &result->ratio);
      if (result->iteration_ratio.part > 0) {
        widen(IterationRatioOf(span, as_is), &result->iteration_ratio);
      }
    }
    return Ok{};
  }

  Status CheckNames(const Report& report) const {
    if (const Status kernels = CheckKernels(); !kernels.ok()) return kernels;
    const std::vector<std::string> names = OperationsOf(report);
    std::vector<std::string> wanted = changes_.graph_capture;
    wanted.insert(wanted.end(), changes_.fuse.begin(), changes_.fuse.end());
    for (const std::string& name : wanted) {
      if (name != kNoOperation) continue;
      return Error{"changing", "'" + name + "'", "a row of the report that is no operation",
                   "an operation, of which each occurrence can be one graph or one kernel",
                   "gpubound report names the operations of a run."};
    }
    const std::set<std::string> layers = LayersOf(report);
    for (const Scaling& scaling : changes_.scalings) {
      if (scaling.part == ScaledPart::kLayer && layers.count(scaling.name) == 0) {
        return Error{"changing", "layer '" + scaling.name + "'", "no time of that layer in the run",
                     layers.empty() ? "CPU time outside of waits" : Listed(layers),
                     "gpubound report --by layer shows where CPU time went."};
      }
      if (ScalesOperation(scaling.part)) wanted.push_back(scaling.name);
      if (scaling.part == ScaledPart::kDevice && !HasWorkNamed("")) {
        return Error{"changing", "device", "no device work in the run", "a run that used a GPU",
                     "gpubound report says where the time of this run went."};
      }
      if (scaling.part != ScaledPart::kKernel || HasWorkNamed(scaling.name)) continue;
      return Error{"changing", "kernel '" + scaling.name + "'", "no device work of that name",
                   "part of the name of device work in the run",
                   "gpubound report --kernels names the device work of a run."};
    }
    for (const std::string& name : wanted) {
      if (std::find(names.begin(), names.end(), name) != names.end()) continue;
      const std::string closest = ClosestName(name, names);
      return Error{"changing", "operation '" + name + "'", "no such operation in the run",
                   ListedNames(names),
                   closest.empty() ? "gpubound report names the operations of a run."
                                   : "Did you mean '" + closest + "'?"};
    }
    return Ok{};
  }

  // Those that can be scaled.
  static std::set<std::string> LayersOf(const Report& report) {
    std::set<std::string> layers;
    const auto add = [&layers](const std::vector<ReportCell>& cells) {
      for (const ReportCell& cell : cells) {
        if (IsScalableLayer(cell.layer)) layers.insert(cell.layer);
      }
    };
    for (const ReportProcess& process : report.processes) {
      add(process.cells);
      for (const ReportLane& lane : process.lanes) add(lane.cells);
    }
    return layers;
  }

  // Each number up to |kEachCopy|, then each twice as many.
  static std::vector<uint32_t> NumbersUntil(uint32_t most) {
    constexpr uint32_t kEachCopy = 8;
    std::vector<uint32_t> numbers;
    for (uint32_t n = 1; n < most; n = n < kEachCopy ? n + 1 : 2 * n) numbers.push_back(n);
    numbers.push_back(most);
    return numbers;
  }

  Status AddCopies(WhatIfReport* result) const {
    if (copies_ == 0) return Ok{};
    constexpr double kMostClients = 48;  // of MPS
    int64_t filled_ns = 0;
    int64_t busy_ns = 0;
    int64_t on_cpu_ns = 0;
    for (const ReportProcess& process : result->after.processes) {
      filled_ns += SmFilledNs(process);
      for (const ReportOperation& row : process.operations) busy_ns += row.gpu_busy_ns;
      if (process.threads_cpu) on_cpu_ns += process.threads_cpu->on_cpu_ns;
    }
    if (busy_ns > 0 && filled_ns > 0) {
      result->sm_fill =
          std::min(1.0, static_cast<double>(filled_ns) / static_cast<double>(busy_ns));
    }
    if (result->before.run.wall_ns > 0) {
      result->cores =
          static_cast<double>(on_cpu_ns) / static_cast<double>(result->before.run.wall_ns);
    }
    result->fit_in_memory = FitInMemory(result->before.devices);
    const auto beside =
        static_cast<uint32_t>(std::min(kMostClients, 1 / result->sm_fill.value_or(1)));
    for (const uint32_t n : NumbersUntil(copies_)) result->copies.push_back({n, 0, 0});
    std::vector<std::function<Status()>> jobs;
    for (CopiesPoint& point : result->copies) {
      jobs.emplace_back([this, &point] { return Share(point.copies, 1, &point.sliced_ns); });
      const uint32_t fit = std::min(beside, point.copies);
      if (fit == 1) continue;  // MPS changes nothing
      jobs.emplace_back([this, &point, fit] { return Share(point.copies, fit, &point.beside_ns); });
    }
    const Status done = InParallel(jobs);
    for (CopiesPoint& point : result->copies) {
      if (point.beside_ns == 0) point.beside_ns = point.sliced_ns;
    }
    return done;
  }

  // The mean of what |copies| take.
  Status Share(uint32_t copies, uint32_t beside, int64_t* each_ns) const {
    const Result<std::vector<int64_t>> spans =
        ReplayCopies(run_, ReplayOf(changes_), leading_->index, copies, beside);
    if (!spans.ok()) return spans.error();
    double sum = 0;
    for (const int64_t span : *spans) sum += static_cast<double>(span);
    *each_ns = std::llround(sum / copies);
    return Ok{};
  }

  // Each scaled operation takes two replays: one of its halves changed, the other as it was.
  Status AddHalves(std::vector<OperationHalf>* halves) const {
    std::vector<std::function<Status()>> jobs;
    std::vector<WhatIf> changes;
    for (size_t i = 0; i < changes_.scalings.size(); ++i) {
      const Scaling& scaling = changes_.scalings[i];
      if (scaling.part != ScaledPart::kOperation) continue;
      for (const auto half : {ScaledPart::kOperationGpu, ScaledPart::kOperationCpu}) {
        changes.push_back(changes_);
        changes.back().scalings[i].part = half;
        halves->push_back({PartName(half), scaling.name, scaling.factor});
      }
    }
    for (size_t i = 0; i < halves->size(); ++i) {
      jobs.emplace_back(
          [this, &of = changes[i], half = &(*halves)[i]] { return SpanWith(of, &half->span_ns); });
    }
    return InParallel(jobs);
  }

  // What could be made faster: all device work, the costliest kernels, the GPU work and the CPU
  // code of the longest operations, the layers that are there.
  static std::vector<Scaling> PartsOf(const Report& report) {
    std::vector<Scaling> parts;
    parts.push_back({ScaledPart::kDevice, "", 1});
    const ReportProcess* const leading = ToldProcess(report);
    if (leading == nullptr) return parts;
    for (size_t i = 0; i < std::min(leading->kernels.size(), kCurveKernels); ++i) {
      parts.push_back({ScaledPart::kExactKernel, leading->kernels[i].name, 1});
    }
    size_t operations = 0;
    for (const ReportOperation& row : leading->operations) {
      if (row.operation == kNoOperation) continue;
      if (operations++ == kCurveOperations) break;
      if (row.gpu_caused_ns > 0) parts.push_back({ScaledPart::kOperationGpu, row.operation, 1});
      parts.push_back({ScaledPart::kOperationCpu, row.operation, 1});
    }
    const std::set<std::string> layers = LayersOf(report);
    for (const char* layer : {"python", "simulator", "backend", "native", "cuda_api"}) {
      if (layers.count(layer) != 0) parts.push_back({ScaledPart::kLayer, layer, 1});
    }
    return parts;
  }

  // Every point is a replay of its own, but for those where nothing changes: there the run takes
  // |changed_ns|, as with the changes alone.
  Status Draw(const std::vector<Scaling>& parts, int64_t changed_ns,
              std::vector<SpeedCurve>* curves) const {
    std::vector<std::function<Status()>> jobs;
    for (const Scaling& scaling : parts) {
      SpeedCurve& curve = curves->emplace_back();
      curve.part = PartName(scaling.part);
      curve.name = scaling.name;
      for (const double factor : kFactors) curve.points.push_back({factor, changed_ns});
    }
    const bool has_work =
        std::any_of(run_.processes.begin(), run_.processes.end(),
                    [](const ProcessTrace& process) { return process.works.size() > 1; });
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].part == ScaledPart::kDevice && !has_work) continue;
      for (SpeedPoint& point : (*curves)[i].points) {
        if (point.factor == 1) continue;
        jobs.emplace_back([this, of = parts[i], &point]() mutable {
          of.factor = point.factor;
          WhatIf changes = changes_;
          changes.scalings.push_back(of);
          return SpanWith(changes, &point.wall_ns);
        });
      }
    }
    return InParallel(jobs);
  }

  Status Replay(const WhatIf& changes, ReplayedSpan* span) const {
    ReplayOptions replay = ReplayOf(changes);
    replay.keep_events = false;
    const Result<ReplayedRun> replayed = ReplayRun(run_, replay);
    if (!replayed.ok()) return replayed.error();
    *span = SpanOf(*replayed, *leading_);
    return Ok{};
  }

  Status SpanWith(const WhatIf& changes, int64_t* span_ns) const {
    ReplayedSpan span;
    const Status replayed = Replay(changes, &span);
    *span_ns = span.run_ns;
    return replayed;
  }

  const Run& run_;
  const ReportOptions& options_;
  const WhatIf& changes_;
  const GpuMove& move_;
  const uint32_t copies_;
  ReplayOptions replay_;
  std::vector<std::vector<Scaling>> resized_;  // of roles, by process; empty: none is
  std::vector<ReplayFacts> facts_;             // of the last report
  ReplayedSpan span_;                          // likewise
  std::optional<LeadingProcess> leading_;
};

}  // namespace

Status AddWords(const std::vector<std::string>& scalings, const std::string& gpu,
                const std::string& move, WhatIfQuestion* question) {
  for (const std::string& text : scalings) {
    const Result<Scaling> scaling = ParseScaling(text);
    if (!scaling.ok()) return scaling.error();
    question->changes.scalings.push_back(*scaling);
  }
  if (!gpu.empty()) {
    const Result<OtherGpu> other = ParseGpu(gpu);
    if (!other.ok()) return other.error();
    question->changes.gpu = *other;
  }
  if (!move.empty()) {
    const Result<GpuMove> moved = ParseGpuMove(move);
    if (!moved.ok()) return moved.error();
    question->move = *moved;
  }
  return Ok{};
}

Result<WhatIfReport> ImagineRun(const std::string& path, const ReportOptions& options,
                                const WhatIfQuestion& question) {
  const Result<Run> run = OpenRun(path);
  if (!run.ok()) return run.error();
  const ReportOptions known = WithCostsOf(*run, options);
  Result<WhatIfReport> imagined = Imagination(*run, known, question).Imagine();
  const bool failed = std::any_of((*run).processes.begin(), (*run).processes.end(),
                                  [](const ProcessTrace& process) {
                                    return process.source != nullptr && process.source->failed();
                                  });
  if (!failed) return imagined;
  const Result<Run> loaded = LoadRun(path);
  if (!loaded.ok()) return loaded.error();
  return Imagination(*loaded, known, question).Imagine();
}

}  // namespace gpubound
