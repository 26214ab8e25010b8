// SPDX-License-Identifier: Apache-2.0
//
// Asks the replay. One object; its questions on any threads.
#include "analysis/correction/savings.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "analysis/report/report_training.h"
#include "analysis/trace/row_names.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {
namespace {

constexpr double kFactor = 0.5;                // twice as fast
constexpr double kOtherFactors[] = {0.25, 0};  // asked of what saves kWorthAsking
constexpr double kWorthAsking = 0.01;
// Half of a part with less than this cannot save one part in a hundred, so nothing is asked.
constexpr double kMatters = 0.02;
constexpr size_t kMostKernels = 3;
constexpr size_t kMostOperations = 3;

bool IsAskable(const ReplayedSpan& as_is) { return as_is.process_ns > 0 && as_is.run_ns > 0; }

bool IsDevice(const CriticalPart& part) { return part.column.starts_with("gpu "); }

bool IsWait(const CriticalPart& part) {
  return part.column == LayerName(Layer::kWait) || part.column == LayerName(Layer::kCudaSync);
}

// The critical path of a process, or what of it lies in iterations.
class PathTime {
 public:
  PathTime(const ReplayedRun& base, LeadingProcess leading, bool of_iterations)
      : parts_(base.parts),
        is_loop_(of_iterations && base.path_loop_ns > 0),
        whole_ns_(is_loop_ ? base.path_loop_ns : SpanOf(base, leading).process_ns) {}

  int64_t Of(const CriticalPart& part) const { return is_loop_ ? part.loop_ns : part.ns; }
  int64_t InLayer(const std::string& layer) const {
    int64_t ns = 0;
    for (const CriticalPart& part : parts_) ns += part.column == layer ? Of(part) : 0;
    return ns;
  }
  bool Matters(int64_t ns) const {
    return static_cast<double>(ns) > kMatters * static_cast<double>(whole_ns_);
  }

 private:
  const std::vector<CriticalPart>& parts_;
  const bool is_loop_;
  const int64_t whole_ns_;
};

// Names by time, longest first: those that matter.
std::vector<std::string> Longest(const std::map<std::string, int64_t>& times, size_t most,
                                 const PathTime& path) {
  std::vector<std::pair<std::string, int64_t>> sorted(times.begin(), times.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (const auto& [name, ns] : sorted) {
    if (names.size() == most || !path.Matters(ns)) break;
    names.push_back(name);
  }
  return names;
}

}  // namespace

Savings::Savings(const Run& run, const ReplayOptions& replay, LeadingProcess leading,
                 bool of_iterations)
    : run_(run), replay_(replay), leading_(leading), of_iterations_(of_iterations) {
  replay_.keep_events = false;
  replay_.critical_path_of.reset();
}

void Savings::Ask(ScaledPart part, const std::string& name, double factor) {
  questions_.push_back({{part, name, factor}, {}, {}, {}});
}

void Savings::AskDevice() {
  Ask(ScaledPart::kDevice, "", 0);
  Ask(ScaledPart::kDevice, "", kFactor);
}

void Savings::AskPath(const ReplayedRun& base, const Report& report) {
  if (!IsAskable(SpanOf(base, leading_))) return;
  AskOperations(base);
  AskKernels(base, report);
  const PathTime path(base, leading_, of_iterations_);
  for (const char* layer : {"simulator", "python", "cuda_api"}) {
    if (path.Matters(path.InLayer(layer))) Ask(ScaledPart::kLayer, layer, kFactor);
  }
}

// Of no operation nothing can be made faster, and no faster operation ends what it waits for. All
// GPU work being that of one operation, the answer is that of all GPU work.
void Savings::AskOperations(const ReplayedRun& base) {
  const PathTime path(base, leading_, of_iterations_);
  std::map<std::string, int64_t> cpu;
  std::map<std::string, int64_t> gpu;
  for (const CriticalPart& part : base.parts) {
    if (IsWait(part)) continue;
    (IsDevice(part) ? gpu : cpu)[part.operation] += path.Of(part);
  }
  const bool several = gpu.size() > 1;
  cpu.erase(kNoOperation);
  gpu.erase(kNoOperation);
  for (const std::string& name : Longest(cpu, kMostOperations, path)) {
    Ask(ScaledPart::kOperationCpu, name, kFactor);
  }
  if (!several) return;
  for (const std::string& name : Longest(gpu, kMostOperations, path)) {
    Ask(ScaledPart::kOperationGpu, name, kFactor);
  }
}

void Savings::AskKernels(const ReplayedRun& base, const Report& report) {
  const PathTime path(base, leading_, of_iterations_);
  std::map<std::string, int64_t> times;
  for (const ReportProcess& process : report.processes) {
    for (const ReportKernel& kernel : process.kernels) times[kernel.name] += kernel.sum_ns;
  }
  if (times.size() < 2) return;  // the answer is that of all GPU work
  for (const std::string& name : Longest(times, kMostKernels, path)) {
    Ask(ScaledPart::kExactKernel, name, kFactor);
  }
}

void Savings::AskRoles(const Report& report) {
  if (report.run.training == nullptr || !report.run.training->roles) return;
  for (const ReportRole& role : report.run.training->roles->roles) {
    Question& question = questions_.emplace_back();
    question.role = role.role;
    question.by_process.resize(run_.processes.size());
    for (const ReportRoleProcess& process : role.processes) {
      for (const std::string& operation : process.operations) {
        question.by_process[process.place].scalings.push_back(
            {ScaledPart::kOperation, operation, 0});
      }
    }
  }
}

void Savings::AskFurther(const ReplayedRun& base) {
  const ReplayedSpan as_is = SpanOf(base, leading_);
  if (!IsAskable(as_is)) return;
  for (size_t i = 0, asked = questions_.size(); i < asked; ++i) {
    const Scaling scaling = questions_[i].scaling;
    const SpanRatio ratio = RatioTo(*questions_[i].answer, as_is);
    if (scaling.factor != kFactor || SaysNothing(ratio) || 1 - ratio.part < kWorthAsking) continue;
    for (const double factor : kOtherFactors) {
      if (scaling.part == ScaledPart::kDevice && factor == 0) continue;  // AskDevice() has
      Ask(scaling.part, scaling.name, factor);
    }
  }
}

Status Savings::Answer(size_t question) {
  Question& of = questions_[question];
  ReplayOptions replay = replay_;
  replay.process_changes = of.by_process;
  if (of.role.empty()) replay.changes.scalings = {of.scaling};
  const Result<ReplayedRun> replayed = ReplayRun(run_, replay);
  if (!replayed.ok()) return replayed.error();
  of.answer = SpanOf(*replayed, leading_);
  return Ok{};
}

bool Savings::IsOfIterations(const ReplayedSpan& as_is) const {
  return of_iterations_ && MeanIterationOf(as_is) > 0;
}

SpanRatio Savings::RatioTo(const ReplayedSpan& changed, const ReplayedSpan& as_is) const {
  return IsOfIterations(as_is) ? IterationRatioOf(changed, as_is) : RatioOf(changed, as_is);
}

void Savings::Put(const ReplayedRun& base, Report* report) const {
  const ReplayedSpan as_is = SpanOf(base, leading_);
  if (!IsAskable(as_is)) return;
  ReportRun& run = report->run;
  ReportCriticalPath& path = run.critical_path.emplace();
  path.wall_ns = as_is.process_ns;
  path.loop_ns = base.path_loop_ns;
  for (const CriticalPart& part : base.parts) {
    const ProcessIdentity& identity = run_.processes[part.process].identity;
    path.parts.push_back(
        {identity.host, identity.pid, part.operation, part.column, part.ns, part.loop_ns});
  }
  const bool of_iteration = IsOfIterations(as_is);
  const auto mean_ns = static_cast<double>(MeanIterationOf(as_is));
  for (const Question& question : questions_) {
    if (!question.role.empty()) continue;
    const ReplayedSpan& changed = *question.answer;
    const Scaling& scaling = question.scaling;
    if (scaling.part == ScaledPart::kDevice && scaling.factor == 0) {
      const SpanRatio of_run = RatioOf(changed, as_is);
      if (!SaysNothing(of_run)) run.gpu_limited_share = std::clamp(1 - of_run.part, 0.0, 1.0);
    }
    const SpanRatio ratio = RatioTo(changed, as_is);
    if (SaysNothing(ratio)) continue;
    (scaling.factor == kFactor ? run.savings : run.what_if)
        .push_back({PartName(scaling.part), scaling.name, scaling.factor,
                    of_iteration ? std::llround(mean_ns * ratio.part) : changed.run_ns,
                    1 - ratio.part, 1 - ratio.high, 1 - ratio.low, of_iteration});
  }
  for (std::vector<ReportSaving>* const rows : {&run.savings, &run.what_if}) {
    std::stable_sort(rows->begin(), rows->end(), [](const ReportSaving& a, const ReportSaving& b) {
      return a.saves > b.saves;
    });
  }
  PutRoles(as_is, report);
}

void Savings::PutRoles(const ReplayedSpan& as_is, Report* report) const {
  std::vector<ReportRoleSaving> savings;
  for (const Question& question : questions_) {
    if (question.role.empty()) continue;
    const SpanRatio ratio = RatioTo(*question.answer, as_is);
    if (SaysNothing(ratio)) continue;
    savings.push_back({question.role, 1 - ratio.part, 1 - ratio.high, 1 - ratio.low});
  }
  if (savings.empty()) return;
  std::stable_sort(savings.begin(), savings.end(),
                   [](const auto& a, const auto& b) { return a.saves > b.saves; });
  RunTraining training = *report->run.training;
  training.roles->savings = std::move(savings);
  report->run.training = std::make_shared<const RunTraining>(std::move(training));
}

}  // namespace gpubound
