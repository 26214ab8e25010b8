// SPDX-License-Identifier: Apache-2.0
//
// What a report says of the training itself, from what the program recorded of it (report.h). Plain
// values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_TRAINING_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_TRAINING_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpubound {

// Time of an operation until a target was reached.
struct TargetPart {
  std::string operation;
  int64_t wall_ns = 0;
  int64_t gpu_busy_ns = 0;
};

// A time without what profiling cost, and where it lies with 95 % probability.
struct CorrectedTime {
  int64_t ns = 0;
  int64_t low_ns = 0;
  int64_t high_ns = 0;
};

// A result that the training was to reach (analysis/report/target.h): when the mean of its last
// records first did. Times are after the run's begin.
struct ReportTarget {
  std::string target;          // as the user wrote it
  std::string metric;          // the counter
  double value = 0;            // to be reached
  uint64_t mean_of = 0;        // records
  uint64_t records = 0;        // of the metric, of all processes
  std::optional<double> best;  // mean; absent where there were fewer records than it is over
  std::optional<int64_t> reached_ns;
  std::optional<CorrectedTime> corrected;  // of reached_ns; absent where the run is not corrected
  // Why nobody knows whether it was reached; empty: it is known.
  std::string why_not;
  std::string host;  // of the process whose record reached it, as pid
  int64_t pid = 0;
  // Where the time went in the process that the report is about, from its begin until then; sums to
  // that. Longest first.
  int64_t parts_ns = 0;
  int64_t parts_pid = 0;
  std::vector<TargetPart> parts;
};

// What a training did of one kind of work (env_steps, samples, tokens) within the iterations after
// warm-up of the process whose iterations are the run's. All processes count.
struct ReportWork {
  std::string counter;
  double done = 0;
  int64_t ns = 0;         // of these iterations
  double per_second = 0;  // of them
  // Per second that the process spent in these operations; absent where it was in none, or where
  // other processes count that work too.
  std::optional<double> per_simulation_second;
  std::optional<double> per_simulation_and_inference_second;
  // Time of all used devices for a million: what they were held for, and what they worked.
  std::optional<double> gpu_seconds_per_million;
  std::optional<double> gpu_busy_seconds_per_million;
};

struct VersionsBehind {
  int64_t behind = 0;  // below 0: of a version that the trainer had not announced
  double samples = 0;
};
struct DiscardedSamples {
  std::string reason;  // may be empty
  double samples = 0;
};

// What became of the samples of a training, of all processes.
struct ReportSamples {
  double consumed = 0;
  double discarded = 0;
  std::vector<DiscardedSamples> reasons;  // most first
  double unknown_version = 0;             // consumed, and nobody knows how many versions behind
  std::vector<VersionsBehind> versions_behind;  // ascending; of the others
  std::optional<double> mean_behind;
  std::optional<double> discarded_share;  // of those consumed or discarded
  // Device time under operations of the rollout, and the part of it whose samples were consumed, if
  // each took as much.
  int64_t rollout_gpu_ns = 0;
  std::optional<double> goodput;
  std::string why_no_goodput;  // empty: there is one
};

// Of GPU time in which a device was idle that a process of a role held.
struct ReportBubble {
  std::string cause;
  int64_t ns = 0;
};

// A process while it had a role. Times lie in the window of ReportRoles.
struct ReportRoleProcess {
  std::string host;
  int64_t pid = 0;
  bool inferred = false;  // from its operations; else the program, a hook or GPUBOUND_ROLE said so
  int64_t ns = 0;         // that it had it for
  int64_t active_ns = 0;  // of that
  // For a replay, not in the JSON: its place in Report::processes, and the operations in which it was
  // with that role, whenever that was.
  size_t place = 0;
  std::vector<std::string> operations;
};

// A role of a run: its processes, and the devices that they held.
struct ReportRole {
  std::string role;
  int64_t active_ns = 0;  // one of them was
  // Of each device that one of them uses, while it has the role: sums to held_ns.
  int64_t held_ns = 0;
  int64_t busy_ns = 0;
  int64_t idle_ns = 0;
  int64_t unknown_ns = 0;
  std::vector<ReportBubble> bubbles;  // sums to idle_ns; longest first
  std::vector<ReportRoleProcess> processes;
  std::optional<double> BubbleRatio() const {
    if (held_ns == 0) return std::nullopt;
    return static_cast<double>(idle_ns) / static_cast<double>(held_ns);
  }
};

// For how long these roles, and no others, were active at once.
struct ReportRoleOverlap {
  std::vector<std::string> roles;  // in the order of ReportRoles; none: nobody was
  int64_t ns = 0;
};

// How long the workers of a rollout took, over those rollouts that lie in the window.
struct ReportTail {
  uint64_t rollouts = 0;
  uint64_t parts = 0;  // of a worker in a rollout; the next three are about their lengths
  int64_t median_ns = 0;
  int64_t p95_ns = 0;  // the smallest length that 95 % do not exceed
  int64_t max_ns = 0;
  int64_t rollout_ns = 0;  // of the rollouts
  int64_t tail_ns = 0;     // of that, after nine in ten of the workers had ended
  int64_t held_ns = 0;     // in the tails, of devices that rollout holds
  int64_t busy_ns = 0;     // of that
};

// What the run would save if all that processes do in a role took no time: of its iterations where the
// headline is about those, else of its span.
struct ReportRoleSaving {
  std::string role;
  double saves = 0;
  double saves_low = 0;
  double saves_high = 0;
};

// What the roles of a run did in the part of it that the headline is about.
struct ReportRoles {
  int64_t ns = 0;                          // of that
  std::vector<ReportRole> roles;           // in the order in which data flows; two or more
  std::vector<ReportRoleOverlap> overlap;  // sums to ns; longest first
  // What it would take at least if no process waited for another one.
  int64_t perfect_overlap_ns = 0;
  double PerfectOverlapSaves() const {
    return ns == 0 ? 0 : 1 - static_cast<double>(perfect_overlap_ns) / static_cast<double>(ns);
  }
  std::optional<ReportTail> tail;
  std::string why_no_tail;                // empty: there is one
  std::vector<ReportRoleSaving> savings;  // the largest first; empty where it was not replayed
  // The role that bounds the run, or "balanced" between the first two; empty: not known, as where
  // none saves much by itself. A replay does not know how many samples lay between two processes.
  std::string Bound() const {
    constexpr double kBalanced = 0.05;
    if (savings.empty() || savings.size() != roles.size() || savings[0].saves < kBalanced)
      return {};
    const bool balanced = savings.size() > 1 && savings[0].saves - savings[1].saves <= kBalanced;
    return balanced ? "balanced" : savings[0].role;
  }
};

// Of a run.
struct RunTraining {
  std::vector<ReportTarget> targets;  // as they were asked for
  std::vector<ReportWork> work;       // those that are counted, in the order above
  std::optional<ReportSamples> samples;
  std::optional<ReportRoles> roles;  // absent where there are fewer than two
};

// Model FLOPs utilisation over the iterations after warm-up.
struct ReportFlops {
  double done = 0;             // by these iterations, as the program says
  int64_t ns = 0;              // of them
  int64_t gpu_busy_ns = 0;     // in them
  double peak_per_second = 0;  // of all devices that the process used; 0: not known
  std::optional<double>
      mfu;  // of the peak, over their time; above 1: what the program says is wrong
  std::optional<double> busy_mfu;  // over the time in which the device worked
  std::string why_not;             // of the first that is absent; empty: both are there
  bool IsImpossible() const { return mfu.value_or(0) > 1 || busy_mfu.value_or(0) > 1; }
};

// Transfers of weights from those that train to those that act, over the iterations after warm-up,
// or over the span where there are none.
struct ReportWeightSync {
  uint64_t count = 0;
  uint64_t iterations = 0;      // 0: there are none
  int64_t ns = 0;               // of what they are counted in
  int64_t exposed_ns = 0;       // the primary thread was in one
  int64_t hidden_ns = 0;        // only other threads were
  std::optional<double> bytes;  // as the program counts them
};

// Of a process.
struct ProcessTraining {
  std::optional<ReportFlops> flops;
  std::optional<ReportWeightSync> weight_sync;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_TRAINING_H_
