// SPDX-License-Identifier: Apache-2.0
//
// Differences of pairs, by process. No state.
#include "analysis/calibration/paired_blocks.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "analysis/base/estimate.h"

namespace gpubound {
namespace {

std::vector<double> Differences(const std::vector<double>& on, const std::vector<double>& off) {
  std::vector<double> differences;
  const size_t pairs = std::min(on.size(), off.size());
  for (size_t i = 0; i < pairs; ++i) differences.push_back(on[i] - off[i]);
  return differences;
}

// Without what the two processes differ by anyway.
std::vector<double> Differences(const PairedBlocks& blocks) {
  std::vector<double> differences = Differences(blocks.on_ns, blocks.off_ns);
  const double apart = TrimmedMean(Differences(blocks.ended_on_ns, blocks.ended_off_ns)).mean;
  for (double& difference : differences) difference -= apart;
  return differences;
}

struct Shortest {
  double ns = 0;
  double error_ns = 0;
};

Shortest ShortestOf(std::vector<double> lives) {
  std::sort(lives.begin(), lives.end());
  return {lives[0], lives.size() > 2 ? lives[2] - lives[0] : lives[0]};
}

}  // namespace

Cost CostOfLives(std::vector<double> on_ns, std::vector<double> off_ns) {
  Cost cost;
  if (on_ns.empty() || off_ns.empty()) return cost;
  cost.samples = std::min(on_ns.size(), off_ns.size());
  const Shortest on = ShortestOf(std::move(on_ns));
  const Shortest off = ShortestOf(std::move(off_ns));
  cost.outside_ns = std::max(0.0, on.ns - off.ns);
  cost.standard_error_ns = std::hypot(on.error_ns, off.error_ns);
  cost.variance_ns2 = cost.standard_error_ns * cost.standard_error_ns;
  return cost;
}

Cost CostOf(const std::vector<PairedBlocks>& processes) {
  std::vector<std::vector<double>> differences;
  std::vector<double> inside;
  std::vector<double> entries;
  std::vector<double> variations;
  for (const PairedBlocks& blocks : processes) {
    differences.push_back(Differences(blocks));
    if (blocks.entry_ns > 0) entries.push_back(blocks.entry_ns);
    if (blocks.variation >= 0) variations.push_back(blocks.variation);
    if (!differences.back().empty() && blocks.recorded_ns >= 0) {
      inside.push_back(blocks.recorded_ns - blocks.bare_ns);
    }
  }
  const Estimate total = MeanOfGroups(differences);
  Cost cost;
  cost.samples = total.samples;
  if (total.samples == 0) return cost;
  // Neither part can be negative; the total is kept as it was measured, or zero costs would come
  // out above zero on average.
  cost.inside_ns = std::clamp(Median(inside), 0.0, std::max(0.0, total.mean));
  cost.outside_ns = total.mean - cost.inside_ns;
  cost.standard_error_ns = total.standard_error;
  if (!entries.empty()) cost.entry_ns = TrimmedMean(entries).mean;
  // A block's mean varies less than its occurrences do, by as many as there are.
  cost.variance_ns2 = total.variance * static_cast<double>(processes.front().count);
  if (!variations.empty()) cost.variance_ns2 = std::pow(Median(variations) * total.mean, 2);
  return cost;
}

}  // namespace gpubound
