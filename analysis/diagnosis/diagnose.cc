// SPDX-License-Identifier: Apache-2.0
//
// The rules. No state.
#include "analysis/diagnosis/diagnose.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/base/demangle.h"
#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/awaited.h"
#include "analysis/diagnosis/cause_rules.h"
#include "analysis/diagnosis/diagnosis_kinds.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/diagnosis/nothing_recorded.h"
#include "analysis/diagnosis/saving_words.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/name_lists.h"
#include "analysis/trace/row_names.h"
#include "analysis/trace/work_category.h"

namespace gpubound {
namespace {

// Thresholds are judgement: what a user would act on. Shares are of the headline's time.
constexpr double kMostlyBusy = 0.5;     // a GPU that can be the limit
constexpr double kFewFilled = 0.25;     // of the SMs of a busy GPU
constexpr double kMostlyLimited = 0.5;  // of the busy time, what an infinitely fast GPU would save
constexpr double kLargeCause = 0.15;    // of idle time
constexpr double kMuchUnknown = 0.25;   // GPU time
constexpr double kMuch = 0.25;          // collectives, nvidia-smi's claim
constexpr double kShared = 0.25;        // that other processes use of the device
constexpr double kAllBusy = 0.75;       // a device that is shared and has no time left
constexpr double kStarved = 0.4;        // of the time in which threads could run: that is the limit
constexpr double kSomeStarved = 0.1;    // that is worth a line
constexpr double kMostlyWaits = 0.5;    // an operation that is not slow itself
constexpr double kMostlyCpu = 0.5;      // of the critical path
constexpr double kInflated = 1.5;       // nvidia-smi over the truth
constexpr double kHigh = 0.5;
constexpr double kMedium = 0.2;
constexpr double kOutlier = 3;        // times the median
constexpr double kWorthAStep = 0.15;  // of the time of an iteration
constexpr double kMostlyLoop = 0.5;   // of the run
constexpr double kExplained = 0.5;    // of how much iterations vary; chance reaches a third
constexpr size_t kFewestOnASide = 5;
constexpr uint64_t kEnoughIterations = 20;  // for a 95th percentile to mean anything

std::string NameIn(const std::string& name) {
  return ShortName(ShownName(name), kNameInSentence, /*unicode=*/false);
}

class Diagnosis {
 public:
  explicit Diagnosis(const Report& report)
      : report_(report), run_(report.run), process_(ToldProcess(report)) {}

  std::vector<ReportDiagnosis> Make() {
    findings_.push_back(Verdict());
    if (IsStarvedVerdict(findings_.front())) {
      findings_.insert(findings_.begin(), Starvation(RunDelay()));
    }
    ReportDiagnosis& first = findings_.front();
    const ReportSaving* saving = LargestSaving(run_);
    if (saving != nullptr && first.kind != kInconclusive) first.saving = *saving;
    // Where the CPU is short, that of the finding for whose sake it is.
    first.gain = GainOf(findings_.back(), first);
    const std::string verdict = first.kind;
    if (verdict == kNothingRecorded) {
      for (const char* const reason : kWhyNothingRecorded) {
        findings_.push_back(Finding(kNothingRecorded, 1, reason, ""));
      }
      return std::move(findings_);
    }
    if (verdict != kCpuStarvation) AddStarvation();
    if (verdict == kInconclusive || run_.devices_used == 0) return std::move(findings_);
    if (verdict != kGpuBoundSmallKernels) AddSmallKernels();
    AddElementwise();
    if (verdict != kCommunicationBound) AddCollectives();
    AddSlowIterations();
    AddInflation();
    return std::move(findings_);
  }

 private:
  ReportDiagnosis Finding(const char* kind, double share, std::string finding,
                          std::string action) const {
    ReportDiagnosis made;
    made.kind = kind;
    made.share = share;
    made.severity = share >= kHigh ? "high" : share >= kMedium ? "medium" : "low";
    made.finding = std::move(finding);
    made.action = std::move(action);
    return made;
  }

  // What shares are of.
  const char* OfTheTime() const {
    return HeadlineIsPart(report_) && run_.headline == "iterations" ? " of the loop's time"
                                                                    : " of the time";
  }

  ReportDiagnosis Verdict() const {
    if (report_.processes.empty()) {
      return Finding(kNothingRecorded, 1, "No process was recorded.", "");
    }
    if (UsesNoGpu(report_)) return CpuOnly();
    if (run_.devices_used == 0 || run_.unknown.share > kMuchUnknown) return Inconclusive();
    if (std::optional<ReportDiagnosis> shared = Shared()) return *shared;
    return run_.gpu_busy_share >= kMostlyBusy ? BusyVerdict() : IdleVerdict();
  }

  ReportDiagnosis Inconclusive() const {
    const bool of_whole = run_.unknown.share == 0;
    const ReportUnknown& unknown = of_whole ? run_.whole_unknown : run_.unknown;
    return Finding(kInconclusive, unknown.share,
                   "Inconclusive: what the GPU did is unknown for " +
                       std::string(unknown.is_upper_bound ? "at most " : "") +
                       FormatShare(unknown.share) +
                       (of_whole ? " of the run." : OfTheTime() + std::string(".")),
                   "Run gpubound doctor RUN: it says why, and how to record it.");
  }

  // --- What it would bring ---

  static bool IsOfTheCpu(const ReportSaving& saving) {
    return saving.part == "operation_cpu" || saving.part == "layer";
  }

  // The largest saving by what |finding| asks for: of causes of idle time those that the CPU's code
  // makes, of copies that of the operation that makes them. Null: none is worth an action, or
  // nobody knows.
  const ReportSaving* SavingOf(const ReportDiagnosis& finding) const {
    static constexpr std::array kOfCode = {kLaunchBound, kEnvironmentBound, kEnvironmentWorkers};
    const bool copies = IsBusyCopying(finding);
    if (!copies && !IsIdleCause(finding.kind)) return LargestSaving(run_);
    const bool of_code = std::any_of(kOfCode.begin(), kOfCode.end(),
                                     [&](const char* kind) { return finding.kind == kind; });
    const auto found = std::find_if(run_.savings.begin(), run_.savings.end(), [&](const auto& one) {
      return copies ? one.part == "operation_gpu" && one.name == finding.operation
                    : of_code && IsOfTheCpu(one);
    });
    return found != run_.savings.end() && found->saves >= kWorthSaving ? &*found : nullptr;
  }

  static bool IsBusyCopying(const ReportDiagnosis& finding) {
    return finding.kind == kCopyBound &&
           std::any_of(finding.evidence.begin(), finding.evidence.end(),
                       [](const auto& figure) { return figure.first == "copy_share"; });
  }

  static bool IsIdleCause(const std::string& kind) {
    static constexpr std::array kOthers = {
        kGpuBound,  kGpuBoundSmallKernels, kCommunicationBound, kCpuBound,     kCpuOnly,
        kSharedGpu, kCpuStarvation,        kSeveralCauses,      kInconclusive, kNothingRecorded};
    return std::none_of(kOthers.begin(), kOthers.end(),
                        [&kind](const char* other) { return kind == other; });
  }

  std::string GainOf(const ReportDiagnosis& cause, const ReportDiagnosis& first) const {
    if (first.kind == kInconclusive || first.kind == kNothingRecorded) return "";
    if (first.kind == kSharedGpu) {
      return "On a GPU of its own each process would take at most " + FormatShare(first.share) +
             " less time.";
    }
    if (const ReportSaving* saving = SavingOf(cause)) {
      const bool all = saving->part == "gpu" || saving->part == "layer";
      return "Twice as fast, " + std::string(all ? "" : "the ") +
             SavingName(saving->part, saving->name, kNameInSentence, false) + " would save " +
             SavesText(*saving) + " of " + (saving->of_iteration ? "an iteration" : "the run") +
             "'s time.";
    }
    if (IsIdleCause(cause.kind) && !IsBusyCopying(cause) && cause.share >= kWorthSaving) {
      return std::string(!UsesNoGpu(report_) ? "Without that idle time " : "Without that wait ") +
             (Loops() ? "an iteration" : "the run") + " would take at most " +
             FormatShare(cause.share) + " less time.";
    }
    return run_.critical_path ? NoGain() : "";
  }

  // Of a short run, or of a notebook, most may be start-up and the time between cells, and what would
  // pay in a longer one saves little.
  std::string NoGain() const {
    const std::string none = "No single part that is made twice as fast would save 5 % of ";
    if (run_.headline == "iterations" && run_.critical_path->loop_ns > 0) {
      return none + "an iteration's time.";
    }
    const ReportProcess* const stepping = SteppingProcess(report_);
    const double loop =
        Loops() ? ShareOf(stepping->iterations->warm_up_ns + stepping->iterations->total_ns,
                          run_.wall_ns)
                : 1;
    if (loop >= kMostlyLoop) return none + "the run's time.";
    return none + "the run's time, of which iterations are " + FormatShare(loop) +
           "; gpubound whatif says what an iteration would save.";
  }

  // --- Runs without a GPU ---

  ReportDiagnosis CpuOnly() const {
    if (std::optional<ReportDiagnosis> waiting = WaitingOnly()) return *waiting;
    const auto [operation, share] = LargestPart();
    const std::string where = Loops() ? "the loop" : "the run";
    if (operation.empty()) return Finding(kCpuOnly, 0, "No GPU work was recorded.", "");
    ReportDiagnosis made;
    if (operation == kNoOperation) {
      made = Finding(
          kCpuOnly, share,
          "No GPU work: " + FormatShare(share) + " of " + where + " lies outside named operations.",
          "Name the parts with gpubound.operation(...), or see --by layer.");
    } else if (const double waits = WaitShare(operation);
               waits >= kMostlyWaits && !SimulationNames().Matches(operation)) {
      made = Finding(kWaiting, share * waits,
                     "No GPU work: " + NameIn(operation) + " takes " + FormatShare(share) + " of " +
                         where + ", and waits " + FormatShare(waits) + " of that time.",
                     "Make what it waits for faster, or do something else meanwhile; --full says "
                     "who that is, where it is known.");
    } else {
      made =
          Finding(kCpuOnly, share,
                  "No GPU work: " + NameIn(operation) + " takes " + FormatShare(share) + " of " +
                      where + ".",
                  SimulationNames().Matches(operation)
                      ? (OthersSimulate() ? "Use more environment workers, or make step() faster."
                                          : "Step environments side by side in worker processes "
                                            "(AsyncVectorEnv, SubprocVecEnv), or make step() "
                                            "itself faster.")
                      : "Make it faster, or move it to a GPU; --by layer says where in the stack "
                        "it runs.");
    }
    made.operation = operation == kNoOperation ? "" : operation;
    return made;
  }

  // How much of the time of |operation| its process waits.
  double WaitShare(const std::string& operation) const {
    const ReportProcess& process = Loops() ? *SteppingProcess(report_) : *process_;
    int64_t waits_ns = 0;
    int64_t all_ns = 0;
    for (const ReportCell& cell : process.cells) {
      if (cell.operation != operation) continue;
      all_ns += cell.ns;
      if (cell.layer == LayerName(Layer::kWait)) waits_ns += cell.ns;
    }
    return ShareOf(waits_ns, all_ns);
  }

  // Workers that the program asks without a pause are no wait of it.
  bool OthersSimulate() const {
    return std::any_of(
        report_.processes.begin(), report_.processes.end(), [this](const ReportProcess& process) {
          return &process != process_ &&
                 std::any_of(process.operations.begin(), process.operations.end(),
                             [](const ReportOperation& row) {
                               return row.wall_ns > 0 && SimulationNames().Matches(row.operation);
                             });
        });
  }

  // A program that mostly waits for its workers.
  std::optional<ReportDiagnosis> WaitingOnly() const {
    const std::vector<WaitGroup> groups = WaitGroups(*process_);
    if (groups.empty()) return std::nullopt;
    const WaitGroup& longest = groups.front();
    const double share = ShareOf(longest.ns, process_->span_ns);
    if (share < kMuch) return std::nullopt;
    const size_t count = longest.pids.size();
    const bool simulates = SimulationNames().Matches(longest.activity);
    const std::string whom =
        std::to_string(count) + (count == 1 ? " process" : " processes") +
        (longest.activity == kNoOperation ? "" : " in " + NameIn(longest.activity));
    ReportDiagnosis made = Finding(
        simulates ? kEnvironmentWorkers : kWaiting, share,
        "No GPU work: the program waits " + FormatShare(share) + " of the run for " + whom + ".",
        simulates         ? "Use more environment workers, or make step() faster."
        : longest.workers ? "Make those processes faster, or start more of them."
                          : "Make those processes faster, or give each of them as much to do.");
    if (longest.activity != kNoOperation) made.operation = longest.activity;
    return made;
  }

  bool Loops() const {
    const ReportProcess* stepping = SteppingProcess(report_);
    return stepping != nullptr && stepping->iterations->count > 0;
  }

  std::pair<std::string, double> LargestPart() const {
    std::string largest;
    int64_t largest_ns = 0;
    const auto look = [&](const std::string& operation, int64_t wall_ns) {
      if (wall_ns <= largest_ns) return;
      largest = operation;
      largest_ns = wall_ns;
    };
    if (Loops()) {
      const ReportIterations& all = *SteppingProcess(report_)->iterations;
      for (const auto& row : all.operations) look(row.operation, row.wall_ns);
      return {largest, ShareOf(largest_ns, all.total_ns)};
    }
    for (const ReportOperation& row : process_->operations) {
      if (!row.other_threads_only) look(row.operation, row.wall_ns);
    }
    return {largest, ShareOf(largest_ns, process_->span_ns)};
  }

  // --- Busy GPUs ---

  std::optional<ReportDiagnosis> Shared() const {
    const ReportProcess* process = HeadlineProcess(report_);
    if (process == nullptr || !SharesADevice(report_, *process)) return std::nullopt;
    const double own = OwnShare(report_).value_or(0);
    const double peers = std::max(0.0, run_.gpu_busy_share - own);
    if (run_.gpu_busy_share < kAllBusy || peers < kShared) return std::nullopt;
    size_t most = 0;
    for (const ReportDevice& device : report_.devices) {
      most = std::max(most, device.processes.size());
    }
    ReportDiagnosis made = Finding(kSharedGpu, peers,
                                   "Shared GPU: " + std::to_string(most) + " processes keep it " +
                                       Busy() + " busy, so that each waits for the others.",
                                   "Run fewer processes on this GPU, or spread them over several; "
                                   "where kernels are small, MPS "
                                   "lets them run side by side.");
    made.evidence = {{"gpu_busy_share", run_.gpu_busy_share}, {"peers_share", peers}};
    return made;
  }

  std::string Busy() const {
    return Bounded(run_.gpu_busy_is_upper_bound,
                   run_.unknown.share > 0 || run_.gpu_busy_is_lower_bound,
                   FormatShare(run_.gpu_busy_share));
  }

  // A GPU may be busy all the time and nobody wait for it. Both shares are of the whole run.
  bool GpuIsTheLimit() const {
    return !run_.gpu_limited_share ||
           *run_.gpu_limited_share >= kMostlyLimited * run_.whole_gpu_busy_share;
  }

  // The part of SM capacity that kernels can use while the GPU is busy; none where that is unknown.
  std::optional<double> Fill() const {
    int64_t filled_ns = 0;
    int64_t busy_ns = 0;
    for (const ReportProcess& process : report_.processes) {
      if (process.sm_fill_is_upper_bound) return std::nullopt;
      busy_ns += process.gpu_busy_ns;
      filled_ns += SmFilledNs(process);
    }
    if (filled_ns == 0) return std::nullopt;
    return ShareOf(filled_ns, busy_ns);
  }

  // The kernel that takes most time, or leaves most of the GPU |unused|, by the operation that
  // launched it.
  const ReportOperationKernel* CostliestKernel(bool unused) const {
    const auto cost = [unused](const ReportKernel& kernel) {
      return kernel.sum_ns - (unused ? kernel.sm_filled_ns : 0);
    };
    const ReportOperationKernel* costliest = nullptr;
    for (const ReportProcess& process : report_.processes) {
      for (const ReportOperationKernel& row : process.operation_kernels) {
        if (row.kernel.work_class != "compute") continue;
        if (costliest == nullptr || cost(row.kernel) > cost(costliest->kernel)) costliest = &row;
      }
    }
    return costliest;
  }

  // "gemm takes 64 % of GPU time", of all that ran.
  std::string KernelText(const ReportKernel& kernel) const {
    return NameIn(Demangled(kernel.name)) + " takes " +
           FormatShare(ShareOf(kernel.sum_ns, AllKernelsNs())) + " of GPU time";
  }

  int64_t AllKernelsNs() const {
    int64_t all_ns = 0;
    for (const ReportProcess& process : report_.processes) {
      for (const ReportKernel& row : process.kernels) all_ns += row.sum_ns;
    }
    return all_ns;
  }

  // What gives a launch in |operation| more rows, by the names that libraries have for it.
  static std::string MoreRows(const std::string& operation) {
    static constexpr std::array kLearn = {"backprop", "update", "train", "learn", "optim"};
    static constexpr std::array kAct = {"inference", "rollout", "policy", "predict", "collect"};
    const auto is_one_of = [&operation](const auto& names) {
      return std::any_of(names.begin(), names.end(), [&operation](const char* name) {
        return operation.find(name) != std::string::npos;
      });
    };
    const std::string in = " " + InOperation(operation);
    if (is_one_of(kLearn)) return "Use larger minibatches (batch_size)" + in;
    if (is_one_of(kAct)) return "Step more environments at once (n_envs, num_envs)" + in;
    return "Give each launch more rows" + in;
  }

  // The part of the GPU's busy time that kernels cannot be blamed for.
  double OnlyCopies() const {
    return std::max(0.0, run_.gpu_busy_share - run_.compute_share - run_.comm_share);
  }

  // Kernels are small if they leave most of the SMs unused while they run; copies use none anyway.
  bool HasSmallKernels(double fill) const {
    const double kernels = run_.gpu_busy_share - (run_.compute_share > 0 ? OnlyCopies() : 0);
    return fill * Ratio(run_.gpu_busy_share, kernels) < kFewFilled;
  }

  ReportDiagnosis Copies() const {
    std::string operation;
    int64_t most_ns = 0;
    for (const ReportOperation& row : HeadlineProcess(report_)->operations) {
      if (row.gpu_copy_ns <= most_ns) continue;
      most_ns = row.gpu_copy_ns;
      operation = row.operation;
    }
    const std::string in = operation.empty() ? "" : " " + InOperation(operation);
    ReportDiagnosis made =
        Finding(kCopyBound, OnlyCopies(),
                "Copy-bound: the GPU is busy " + Busy() + OfTheTime() +
                    ", but copies data and computes nothing for " + FormatShare(OnlyCopies()) + ".",
                "Keep data on the GPU (a replay buffer, environments), or copy "
                "less or smaller types" +
                    in + ".");
    if (operation != kNoOperation) made.operation = operation;
    made.evidence = {{"gpu_busy_share", run_.gpu_busy_share}, {"copy_share", run_.copy_share}};
    return made;
  }

  ReportDiagnosis BusyVerdict() const {
    if (run_.comm_share >= kMostlyLimited * run_.gpu_busy_share) return Communication();
    if (run_.compute_share > 0 && OnlyCopies() >= kMostlyLimited * run_.gpu_busy_share) {
      return Copies();
    }
    if (!GpuIsTheLimit()) return CpuBound();
    const std::optional<double> fill = Fill();
    const bool small = fill && HasSmallKernels(*fill);
    const ReportOperationKernel* kernel = CostliestKernel(small);
    std::string action;
    if (small && kernel != nullptr) {
      const ReportKernel& costliest = kernel->kernel;
      action = MoreRows(kernel->operation) + ": " + KernelText(costliest) + " and fills " +
               FormatShare(ShareOf(costliest.sm_filled_ns, costliest.sum_ns)) +
               " of the GPU, so that more rows cost little.";
    } else if (kernel != nullptr) {
      action = "Use lower precision (bfloat16), fused kernels or a faster GPU: " +
               KernelText(kernel->kernel) + ", " + InOperation(kernel->operation) + ".";
    }
    const std::string filled =
        fill ? std::string(small ? ", but its kernels fill only " : ", and its kernels fill ") +
                   FormatShare(*fill) + " of it"
             : "";
    ReportDiagnosis made =
        Finding(small ? kGpuBoundSmallKernels : kGpuBound, run_.gpu_busy_share,
                std::string(small ? "GPU-bound with small kernels" : "GPU-bound") +
                    ": the GPU is busy " + Busy() + OfTheTime() + filled + ".",
                std::move(action));
    made.evidence.emplace_back("gpu_busy_share", run_.gpu_busy_share);
    if (fill) made.evidence.emplace_back("sm_fill_share", *fill);
    if (run_.gpu_limited_share) {
      made.evidence.emplace_back("gpu_limited_share", *run_.gpu_limited_share);
    }
    if (kernel != nullptr && kernel->operation != kNoOperation) made.operation = kernel->operation;
    return made;
  }

  ReportDiagnosis Communication() const {
    ReportDiagnosis made = Finding(
        kCommunicationBound, run_.comm_share,
        "Communication-bound: collectives take " + FormatShare(run_.comm_share) + OfTheTime() + ".",
        "Overlap them with computation, send less, or look for a rank that comes late "
        "(--full names it).");
    made.evidence = {{"comm_share", run_.comm_share}, {"gpu_busy_share", run_.gpu_busy_share}};
    return made;
  }

  // The GPU is busy, but an infinitely fast one would hardly help.
  ReportDiagnosis CpuBound() const {
    std::map<std::string, int64_t> times;
    int64_t cpu_ns = 0;
    const HeadlinePath path = PathOfHeadline(report_);
    for (const auto& [part, ns] : path.parts) {
      if (part->layer.starts_with("gpu ") || part->layer == "wait" || part->layer == "cuda_sync") {
        continue;
      }
      times[part->operation] += ns;
      cpu_ns += ns;
    }
    const double share = ShareOf(cpu_ns, path.length_ns);
    const auto longest =
        std::max_element(times.begin(), times.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::string busy = "the GPU is busy " + Busy() + OfTheTime();
    if (longest == times.end() || share < kMostlyCpu) {
      ReportDiagnosis made =
          Finding(kSeveralCauses, *run_.gpu_limited_share,
                  "No single limit: " + busy + ", and an infinitely fast one would save " +
                      FormatShare(*run_.gpu_limited_share) + ".",
                  "Start with what saves most: CPU and GPU limit the run in turn.");
      made.evidence = {{"gpu_busy_share", run_.gpu_busy_share},
                       {"gpu_limited_share", *run_.gpu_limited_share}};
      return made;
    }
    const double of_it = ShareOf(longest->second, path.length_ns);
    ReportDiagnosis made = Finding(
        kCpuBound, of_it,
        "CPU-bound: " + busy + ", but the " + (path.is_loop ? "loop" : "run") +
            " waits for CPU code, " + InOperation(longest->first) + " for " + FormatShare(of_it) +
            " of its time.",
        "Make the CPU code " + InOperation(longest->first) +
            " faster, or run it while the GPU works; --by layer says where in the stack it is.");
    if (longest->first != kNoOperation) made.operation = longest->first;
    made.evidence = {{"critical_path_share", of_it}, {"gpu_busy_share", run_.gpu_busy_share}};
    return made;
  }

  // --- Idle GPUs ---

  ReportDiagnosis IdleVerdict() const {
    const IdleExplained explained = HeadlineIdle(report_);
    const double idle = std::max(0.0, 1 - run_.gpu_busy_share - run_.unknown.share);
    if (explained.causes.empty()) {
      const bool of_work = run_.headline == "work";
      return Finding(of_work ? kSeveralCauses : kUnattributed, idle,
                     "The GPU is busy " + Busy() + OfTheTime() +
                         (of_work ? "; why it is idle is known of the whole run only."
                                  : "; nothing says why it is idle otherwise."),
                     of_work ? "Ask for --window whole, which says why." : "");
    }
    const CauseTime& first = explained.causes.front();
    const double share =
        idle * Ratio(static_cast<double>(first.ns), static_cast<double>(explained.idle_ns));
    const ReportProcess& process = *HeadlineProcess(report_);
    const CauseFacts facts = FactsOfCause(report_, process, first.cause);
    if (share < kLargeCause) {
      ReportDiagnosis made = Finding(kSeveralCauses, idle,
                                     "Several causes: the GPU is busy " + Busy() + OfTheTime() +
                                         ", and no cause of idle time "
                                         "takes " +
                                         FormatShare(kLargeCause) + "; the largest is " +
                                         facts.noun + " with " + FormatShare(share) + ".",
                                     "");
      made.evidence = {{"gpu_busy_share", run_.gpu_busy_share}, {"largest_cause_share", share}};
      return made;
    }
    ReportDiagnosis made =
        Finding(facts.kind, share,
                facts.title + ": the GPU is idle " + FormatShare(share) + OfTheTime() + " " +
                    facts.meanwhile + ", and busy " + Busy() + ".",
                facts.action);
    made.operation = facts.operation;
    made.evidence = {
        {"gpu_idle_share", idle}, {"cause_share", share}, {"gpu_busy_share", run_.gpu_busy_share}};
    if (process.launches.shorter_kernels_share) {
      made.evidence.emplace_back("shorter_kernels_share", *process.launches.shorter_kernels_share);
    }
    return made;
  }

  // --- The processors ---

  // Of the time in which threads of the run could have run, that without a core: as each process
  // counted it of its own threads, or as it was sampled of all that a process started.
  double RunDelay() const {
    double delay = DelayOfProcesses();
    for (const ReportProcess* process : {MainProcess(report_), process_}) {
      if (process != nullptr && process->process_tree) {
        delay = std::max(delay, process->process_tree->RunDelayShare());
      }
    }
    return delay;
  }

  // 0 where it is little of the run's time, as of threads that do next to nothing.
  double DelayOfProcesses() const {
    int64_t on_cpu_ns = 0;
    int64_t ready_ns = 0;
    for (const ReportProcess& process : report_.processes) {
      if (!process.threads_cpu || !process.threads_cpu->ready_ns) continue;
      on_cpu_ns += process.threads_cpu->on_cpu_ns;
      ready_ns += *process.threads_cpu->ready_ns;
    }
    const auto delay = static_cast<double>(ready_ns);
    if (ready_ns == 0 || process_ == nullptr ||
        delay < kSomeStarved * static_cast<double>(process_->span_ns)) {
      return 0;
    }
    return delay / static_cast<double>(on_cpu_ns + ready_ns);
  }

  // What operations do, and not what came before them, as imports. True where nothing is known.
  bool OperationsLackCores() const {
    int64_t known_ns = 0;
    int64_t ready_ns = 0;
    for (const ReportOperation& row : process_->operations) {
      if (!row.cpu || row.operation == kNoOperation) continue;
      known_ns += row.wall_ns;
      ready_ns += row.cpu->ready_ns;
    }
    return static_cast<double>(ready_ns) >= kStarved * static_cast<double>(known_ns);
  }

  // More cores would help, whatever else the run waits for.
  bool IsStarvedVerdict(const ReportDiagnosis& verdict) const {
    static constexpr std::array kOfTheCpu = {kLaunchBound, kEnvironmentBound, kEnvironmentWorkers,
                                             kInputBound,  kWaiting,          kUnattributed,
                                             kCpuBound,    kCpuOnly};
    return RunDelay() >= kStarved && OperationsLackCores() &&
           std::any_of(kOfTheCpu.begin(), kOfTheCpu.end(),
                       [&verdict](const char* kind) { return verdict.kind == kind; });
  }

  ReportDiagnosis Starvation(double delay) const {
    ReportDiagnosis made = Finding(kCpuStarvation, delay,
                                   "CPU starvation: threads that could run had no core " +
                                       FormatShare(delay) + " of the time.",
                                   "Start fewer environment workers or threads (OMP_NUM_THREADS, "
                                   "torch.set_num_threads), or give the run more cores.");
    made.evidence = {{"run_delay_share", delay}};
    return made;
  }

  void AddStarvation() {
    const double delay = RunDelay();
    if (delay >= kSomeStarved) findings_.push_back(Starvation(delay));
  }

  // --- What else is worth knowing ---

  void AddSmallKernels() {
    const std::optional<double> fill = Fill();
    if (!fill || !HasSmallKernels(*fill) || run_.gpu_busy_share < kMuch) return;
    ReportDiagnosis made = Finding(kSmallKernels, run_.gpu_busy_share,
                                   "Kernels fill " + FormatShare(*fill) + " of the busy GPU.",
                                   "Larger batches cost little GPU time.");
    made.evidence = {{"sm_fill_share", *fill}};
    findings_.push_back(std::move(made));
  }

  // Of PyTorch's own, which nothing has fused: what a compiler made of several is elementwise too.
  void AddElementwise() {
    int64_t elementwise_ns = 0;
    for (const ReportProcess& process : report_.processes) {
      for (const ReportKernel& kernel : process.kernels) {
        if (kernel.category != WorkCategoryName(WorkCategory::kElementwise)) continue;
        constexpr std::string_view kEager = "at::native::";
        const bool is_eager = Demangled(kernel.name).find(kEager) != std::string::npos;
        if (is_eager) elementwise_ns += kernel.sum_ns;
      }
    }
    const double share = ShareOf(elementwise_ns, AllKernelsNs());
    if (share < kMuch || run_.gpu_busy_share < kMuch) return;
    ReportDiagnosis made =
        Finding(kElementwiseKernels, share * run_.gpu_busy_share,
                "Elementwise kernels are " + FormatShare(share) + " of GPU time.",
                "Fuse them (torch.compile); --by category,op names them.");
    made.evidence = {{"elementwise_share", share}, {"gpu_busy_share", run_.gpu_busy_share}};
    findings_.push_back(std::move(made));
  }

  void AddCollectives() {
    if (run_.comm_share < kMuch) return;
    ReportDiagnosis made = Communication();
    made.kind = kCollectives;
    made.finding = "Collectives take " + FormatShare(run_.comm_share) + OfTheTime() + ".";
    findings_.push_back(std::move(made));
  }

  void AddSlowIterations() {
    const ReportProcess* process = SteppingProcess(report_);
    if (process == nullptr || process->iterations->count < kEnoughIterations) return;
    const ReportIterations& all = *process->iterations;
    AddStepChange(all);
    if (all.median_ns == 0) return;
    if (all.p95_ns < 2 * all.median_ns) return AddSlowestIteration(all);
    const double times = Ratio(static_cast<double>(all.p95_ns), static_cast<double>(all.median_ns));
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), times < 9.95 ? "%.2g" : "%.0f", times);
    ReportDiagnosis made = Finding(
        kSlowIterations, 0.05,
        "One iteration in twenty takes " + std::string(text.data()) + " times the median or more.",
        "--by iteration names the slowest.");
    made.evidence = {{"p95_over_median", times}};
    findings_.push_back(std::move(made));
  }

  void AddSlowestIteration(const ReportIterations& all) {
    if (all.slowest.empty()) return;
    const ReportIteration& slowest = all.slowest.front();
    const double times = Ratio(static_cast<double>(slowest.ns), static_cast<double>(all.median_ns));
    if (times < kOutlier) return;
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), times < 9.95 ? "%.2g" : "%.0f", times);
    ReportDiagnosis made =
        Finding(kSlowIterations, ShareOf(slowest.ns, all.total_ns),
                "Iteration " + std::to_string(slowest.number) + " takes " + FormatTime(slowest.ns) +
                    ", " + text.data() + " times the median.",
                "--by iteration names the slowest, and the page what ran in it.");
    made.evidence = {{"longest_over_median", times}};
    findings_.push_back(std::move(made));
  }

  // Where iterations become faster or slower for good: means of all of them say little then. The
  // two sides that explain most of how they vary, single ones that are far longer apart.
  void AddStepChange(const ReportIterations& all) {
    std::vector<const ReportIteration*> steady;
    std::vector<double> sums = {0};
    double squares = 0;
    for (const ReportIteration& iteration : all.every) {
      if (iteration.warm_up) continue;
      const double ns = static_cast<double>(std::min(
          iteration.ns, static_cast<int64_t>(kOutlier * static_cast<double>(all.median_ns))));
      steady.push_back(&iteration);
      sums.push_back(sums.back() + ns);
      squares += ns * ns;
    }
    const size_t count = steady.size();
    if (count < kEnoughIterations) return;
    const double variation = squares - sums.back() * sums.back() / static_cast<double>(count);
    size_t best = 0;
    double most = 0;
    const auto means = [&](size_t at) {
      return std::pair(sums[at] / static_cast<double>(at),
                       (sums.back() - sums[at]) / static_cast<double>(count - at));
    };
    for (size_t at = kFewestOnASide; at + kFewestOnASide <= count; ++at) {
      const auto [before, after] = means(at);
      const double explained = static_cast<double>(at) * static_cast<double>(count - at) /
                               static_cast<double>(count) * (after - before) * (after - before);
      if (explained <= most) continue;
      most = explained;
      best = at;
    }
    if (best == 0 || most < kExplained * variation) return;
    const auto [before, after] = means(best);
    const double change = Ratio(after, before) - 1;
    if (std::abs(change) < kWorthAStep) return;
    const auto time = [](double ns) { return FormatTime(std::llround(ns)); };
    ReportDiagnosis made =
        Finding(kStepChange, std::min(1.0, std::abs(change)),
                "Iterations from number " + std::to_string(steady[best]->number) + " on take " +
                    time(after) + " instead of " + time(before) + ", in the mean.",
                "Compare both parts: record each with --steps A:B.");
    made.evidence = {{"mean_before_ns", before}, {"mean_after_ns", after}};
    findings_.push_back(std::move(made));
  }

  // Only of what NVML said: the model is an upper bound, of which newer devices stay far below.
  void AddInflation() {
    const double claimed = run_.nvml_utilization.value_or(0);
    const double inflation = Ratio(claimed, run_.gpu_busy_share);
    if (claimed < kMuch || inflation < kInflated) return;
    ReportDiagnosis made = Finding(kInflatedUtilization, claimed - run_.gpu_busy_share,
                                   "nvidia-smi shows " + FormatShare(claimed) +
                                       " where the GPU is busy " + Busy() + OfTheTime() + ".",
                                   "Do not size the job by nvidia-smi.");
    made.evidence = {{"nvml_utilization", claimed}, {"gpu_busy_share", run_.gpu_busy_share}};
    findings_.push_back(std::move(made));
  }

  const Report& report_;
  const ReportRun& run_;
  const ReportProcess* const process_;
  std::vector<ReportDiagnosis> findings_;
};

}  // namespace

const ReportSaving* LargestSaving(const ReportRun& run) {
  const auto largest = std::max_element(
      run.savings.begin(), run.savings.end(),
      [](const ReportSaving& a, const ReportSaving& b) { return a.saves < b.saves; });
  if (largest == run.savings.end() || largest->saves < kWorthSaving) return nullptr;
  return &*largest;
}

std::vector<ReportDiagnosis> Diagnose(const Report& report) { return Diagnosis(report).Make(); }

}  // namespace gpubound
