// SPDX-License-Identifier: Apache-2.0
//
// Differences between groups of runs: throughput, iterations and GPU, then each operation's wall
// and GPU time, then idle time by cause; each with the interval that analysis/output/check/
// bootstrap.h gives it. Over iterations where every run has some, and then for so much work where
// every run counts it, so that a run that does more in each of them is not slower; else over whole
// runs. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/output/check/bootstrap.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

struct RunGroup {
  std::string name;
  std::vector<std::string> runs;  // as the user names them
  std::vector<Report> reports;    // one for each
};

enum class ComparedFigure : uint8_t {
  kTimeToTarget,     // of those that were asked for; absent where some run never reaches it
  kThroughput,       // work, or iterations, a second; there where every run has iterations
  kRunWall,          // of the whole run, start-up and shutdown included
  kIterationMedian,  // the next three are there where every run has iterations
  kIterationMean,
  kProcessBusyShare,  // of the iterations' time, by any device: of the process that steps
  kGpuBusyShare,      // the run's, mean of its devices: of iterations or of whole runs, as the next
  kOperationWall,
  kOperationBusy,
  kIdleCause,
};

// A group's value and how it differs from the first group's.
struct ComparedValue {
  // A run of the group has no such figure: one without a device has no idle time.
  bool absent = false;
  double value = 0;                    // ns, a share (0..1), or work a second
  double difference = 0;               // 0 where it or the first group's value is absent
  std::optional<Confidence> interval;  // 95 %, of the difference; absent for the first group too
  // Of some run of the group the figure is only known to be at most, or at least, what it says.
  bool is_upper_bound = false;
  bool is_lower_bound = false;
  // The interval excludes zero, and so do the bounds.
  bool significant = false;
};

struct ComparedRow {
  ComparedFigure figure = ComparedFigure::kRunWall;
  std::string
      name;  // of the operation, cause, counter of work or target; empty for figures of the run
  std::vector<ComparedValue> groups;  // as many as there are groups
};

// Of how much work times of operations and causes are, where iterations tell how much they do.
inline constexpr double kWorkUnit = 1000;

// Whether a group is faster than the first, by how much, and which part of the loop made it so.
struct ComparedSpeed {
  double ratio = 1;                    // work a second, of the first group's; above 1: faster
  std::optional<Confidence> interval;  // 95 %, of the ratio
  bool significant = false;
  // The rest only where it is significant. By how much the time of the same work differs, and the
  // operation that differs most in that direction; empty: none does.
  double difference_ns = 0;
  std::string operation;
  double operation_ns = 0;  // its difference
  // What of it: kGpuWork, a cause of idle time, or empty where neither is most of it.
  std::string reason;
  double reason_ns = 0;
};
inline constexpr char kGpuWork[] = "gpu";

struct GroupComparison {
  bool per_iteration = false;
  std::string counter;  // of the work that times are for; empty: they are for an iteration or run
  uint64_t seed = 0;
  std::vector<Resampling> resampling;  // by group, against the first
  std::vector<ComparedRow> rows;       // by figure; within one in order of first appearance
  std::vector<ComparedSpeed> speeds;   // by group, of the first nothing
  std::vector<std::string> notes;      // what limits the comparison, as prose
  size_t caveats = 0;                  // of the notes: the first, with which figures mean less
};

// |groups| are at least two, of at least one run each.
GroupComparison CompareGroups(const std::vector<RunGroup>& groups, uint64_t seed);

// A share of 0..1; other figures are times.
inline bool IsShare(ComparedFigure figure) {
  return figure == ComparedFigure::kGpuBusyShare || figure == ComparedFigure::kProcessBusyShare;
}

// Of each group but the first: how fast it is, in a sentence, and in another what made it so.
struct ComparedSentences {
  std::string finding;
  std::string reason;  // empty: nothing did
};
ComparedSentences SentencesOf(const GroupComparison& comparison,
                              const std::vector<RunGroup>& groups, size_t group);

// For a terminal: one screen, or with |options.full| every figure. Only significant differences are
// coloured and marked.
std::string RenderComparison(const GroupComparison& comparison, const std::vector<RunGroup>& groups,
                             const TextOptions& options);

// What the screen says, as GitHub's Markdown, for a pull request.
std::string RenderComparisonMarkdown(const GroupComparison& comparison,
                                     const std::vector<RunGroup>& groups);

// "gpubound.compare.v1", documented in docs/report.md.
std::string RenderComparisonJson(const GroupComparison& comparison,
                                 const std::vector<RunGroup>& groups);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_H_
