// SPDX-License-Identifier: Apache-2.0
//
// Resamples. No state.
#include "analysis/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/estimate.h"
#include "analysis/random.h"

namespace gpubound {
namespace {

double SumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// Draws iterations of a run in blocks that wrap round, each of the cube root of their number.
class BlockSampler {
 public:
  explicit BlockSampler(const RunSeries& run)
      : run_(run),
        block_(std::max<size_t>(1, static_cast<size_t>(std::lround(
                                       std::cbrt(static_cast<double>(run.values.size())))))) {}

  const RunSeries& Draw(Random* random) {
    const size_t size = run_.values.size();
    drawn_.values.clear();
    drawn_.wholes.clear();
    while (drawn_.values.size() < size) {
      size_t at = random->Below(size);
      for (size_t i = 0; i < block_ && drawn_.values.size() < size; ++i, ++at) {
        if (at == size) at = 0;
        drawn_.values.push_back(run_.values[at]);
        if (!run_.wholes.empty()) drawn_.wholes.push_back(run_.wholes[at]);
      }
    }
    return drawn_;
  }

 private:
  const RunSeries& run_;
  const size_t block_;
  RunSeries drawn_;
};

// One resampled value of a group for each call.
class GroupSampler {
 public:
  GroupSampler(std::span<const RunSeries> group, Statistic statistic, Resampling resampling)
      : statistic_(statistic), resampling_(resampling) {
    for (const RunSeries& run : group) {
      of_run_.push_back(StatisticOf(run, statistic));
      blocks_.emplace_back(run);
    }
    mean_ = SumOf(of_run_) / static_cast<double>(of_run_.size());
  }

  double Draw(Random* random) {
    double sum = 0;
    for (size_t i = 0; i < of_run_.size(); ++i) {
      sum += resampling_ == Resampling::kRuns ? of_run_[random->Below(of_run_.size())]
                                              : StatisticOf(blocks_[i].Draw(random), statistic_);
    }
    return sum / static_cast<double>(of_run_.size());
  }

  // Of what was measured.
  double mean() const { return mean_; }

  // How much further from their mean the means of groups lie than resampled ones: their variance
  // lacks the factor n / (n - 1).
  double widening() const {
    const auto runs = static_cast<double>(of_run_.size());
    return resampling_ == Resampling::kRuns ? std::sqrt(runs / (runs - 1)) : 1;
  }

 private:
  const Statistic statistic_;
  const Resampling resampling_;
  std::vector<double> of_run_;
  std::vector<BlockSampler> blocks_;
  double mean_ = 0;
};

using Scale = double (*)(double);

// |drawn| on |scale|, as far from what was measured as it would be without resampling.
double Widened(const GroupSampler& sampler, double drawn, Scale scale) {
  const double measured = scale(sampler.mean());
  const double widening = sampler.widening();
  return widening == 1 ? scale(drawn) : measured + (scale(drawn) - measured) * widening;
}

// Of the difference on |scale|; absent where something has no place on it.
std::optional<Confidence> IntervalOn(Scale scale, std::span<const RunSeries> before,
                                     std::span<const RunSeries> after, Statistic statistic,
                                     uint64_t seed) {
  const Resampling resampling = ResamplingOf(before, after);
  if (resampling == Resampling::kNothing) return std::nullopt;
  GroupSampler from(before, statistic, resampling);
  GroupSampler to(after, statistic, resampling);
  Random random(seed);
  std::vector<double> differences;
  differences.reserve(kBootstrapReplicates);
  for (size_t i = 0; i < kBootstrapReplicates; ++i) {
    const double drawn_from = Widened(from, from.Draw(&random), scale);
    differences.push_back(Widened(to, to.Draw(&random), scale) - drawn_from);
    if (!std::isfinite(differences.back())) return std::nullopt;
  }
  std::sort(differences.begin(), differences.end());
  const size_t tail = kBootstrapReplicates / 40;  // 2.5 %
  Confidence interval{differences[tail], differences[kBootstrapReplicates - 1 - tail]};
  if (resampling == Resampling::kRuns) {
    const double center = scale(to.mean()) - scale(from.mean());
    const double wider = StudentQuantile(before.size() + after.size() - 2) / kNormal975;
    interval.low = center + (interval.low - center) * wider;
    interval.high = center + (interval.high - center) * wider;
  }
  return interval;
}

}  // namespace

double StatisticOf(const RunSeries& run, Statistic statistic) {
  if (run.values.empty()) return 0;
  if (statistic == Statistic::kMedian) return Median(run.values);
  const double whole =
      run.wholes.empty() ? static_cast<double>(run.values.size()) : SumOf(run.wholes);
  return whole > 0 ? SumOf(run.values) / whole : 0;
}

double StatisticOf(std::span<const RunSeries> group, Statistic statistic) {
  double sum = 0;
  for (const RunSeries& run : group) sum += StatisticOf(run, statistic);
  return group.empty() ? 0 : sum / static_cast<double>(group.size());
}

Resampling ResamplingOf(std::span<const RunSeries> before, std::span<const RunSeries> after) {
  if (before.size() > 1 && after.size() > 1) return Resampling::kRuns;
  const auto enough = [](const RunSeries& run) { return run.values.size() >= kFewestToResample; };
  const bool iterations = !before.empty() && !after.empty() &&
                          std::all_of(before.begin(), before.end(), enough) &&
                          std::all_of(after.begin(), after.end(), enough);
  return iterations ? Resampling::kIterations : Resampling::kNothing;
}

std::optional<Confidence> DifferenceInterval(std::span<const RunSeries> before,
                                             std::span<const RunSeries> after, Statistic statistic,
                                             uint64_t seed) {
  return IntervalOn([](double value) { return value; }, before, after, statistic, seed);
}

std::optional<Confidence> RatioInterval(std::span<const RunSeries> before,
                                        std::span<const RunSeries> after, Statistic statistic,
                                        uint64_t seed) {
  const auto logarithm = [](double value) { return std::log(value); };
  const auto interval = IntervalOn(logarithm, before, after, statistic, seed);
  if (!interval) return std::nullopt;
  return Confidence{std::exp(interval->low), std::exp(interval->high)};
}

}  // namespace gpubound
