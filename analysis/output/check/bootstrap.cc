// SPDX-License-Identifier: Apache-2.0
//
// Resamples. No state.
#include "analysis/output/check/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/base/estimate.h"
#include "analysis/base/random.h"

namespace gpubound {
namespace {

double SumOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// What each value is beside the statistic of all.
std::vector<double> Deviations(const RunSeries& run) {
  const double mean = StatisticOf(run, Statistic::kMean);
  std::vector<double> deviations = run.values;
  for (size_t i = 0; i < deviations.size(); ++i) {
    deviations[i] -= run.wholes.empty() ? mean : mean * run.wholes[i];
  }
  return deviations;
}

// So many values in a row tell as much of their mean as one that depends on no other: 1 plus twice
// the sum of autocorrelations, by pairs of lags as long as a pair's sum is positive (Geyer,
// "Practical Markov Chain Monte Carlo", 1992). At least 1.
double CorrelationTime(const std::vector<double>& deviations) {
  const size_t size = deviations.size();
  const auto covariance = [&](size_t lag) {
    double sum = 0;
    for (size_t i = lag; i < size; ++i) sum += deviations[i] * deviations[i - lag];
    return sum;
  };
  const double variance = covariance(0);
  if (variance <= 0) return 1;
  double time = -1;
  for (size_t lag = 0; lag + 1 < size; lag += 2) {
    const double pair = (covariance(lag) + covariance(lag + 1)) / variance;
    if (pair <= 0) break;
    time += 2 * pair;
  }
  return std::max(1.0, time);
}

// Of the first 0, 1, 2, ... of |values|; nothing of none.
std::vector<double> SumsOf(const std::vector<double>& values) {
  std::vector<double> sums;
  if (values.empty()) return sums;
  sums.push_back(0);
  for (const double value : values) sums.push_back(sums.back() + value);
  return sums;
}

// Of |length| values from |begin| on, behind the last of which comes the first.
double SumAround(const std::vector<double>& sums, size_t begin, size_t length) {
  const size_t size = sums.size() - 1;
  if (begin + length <= size) return sums[begin + length] - sums[begin];
  return sums[size] - sums[begin] + sums[begin + length - size];
}

// Draws iterations of a run in blocks that wrap round. Their length makes the error of the variance
// that they show least, but for a factor near 1: the cube root of the number of values times the
// square of their correlation time (Kuensch, "The Jackknife and the Bootstrap for General
// Stationary Observations", 1989). Four blocks are the least that tell anything of how they vary.
class BlockSampler {
 public:
  explicit BlockSampler(const RunSeries& run)
      : run_(run), sums_(SumsOf(run.values)), whole_sums_(SumsOf(run.wholes)) {
    constexpr size_t kFewestBlocks = 4;
    const size_t size = run.values.size();
    const double time = CorrelationTime(Deviations(run));
    const double length = std::cbrt(static_cast<double>(size) * time * time);
    const size_t longest = std::max<size_t>(1, size / kFewestBlocks);
    block_ = std::clamp<size_t>(static_cast<size_t>(std::lround(length)), 1, longest);
  }

  // Of the blocks that the run is.
  double count() const {
    return static_cast<double>(run_.values.size()) / static_cast<double>(block_);
  }

  double Draw(Statistic statistic, Random* random) {
    return statistic == Statistic::kMean ? DrawMean(random) : StatisticOf(Drawn(random), statistic);
  }

 private:
  // Calls |each|(begin, length) for each of the blocks that are as long as the run together.
  template <typename Each>
  void ForEachBlock(Random* random, const Each& each) const {
    const size_t size = run_.values.size();
    for (size_t drawn = 0; drawn < size; drawn += block_) {
      each(random->Below(size), std::min(block_, size - drawn));
    }
  }

  // What stays the same in every draw is summed once: a run may have as many operations as
  // iterations.
  double DrawMean(Random* random) const {
    double sum = 0;
    double whole = 0;
    ForEachBlock(random, [&](size_t begin, size_t length) {
      sum += SumAround(sums_, begin, length);
      whole +=
          whole_sums_.empty() ? static_cast<double>(length) : SumAround(whole_sums_, begin, length);
    });
    return whole > 0 ? sum / whole : 0;
  }

  const RunSeries& Drawn(Random* random) {
    drawn_.values.clear();
    drawn_.wholes.clear();
    ForEachBlock(random, [this](size_t begin, size_t length) {
      for (size_t at = begin; length > 0; --length, ++at) {
        if (at == run_.values.size()) at = 0;
        drawn_.values.push_back(run_.values[at]);
        if (!run_.wholes.empty()) drawn_.wholes.push_back(run_.wholes[at]);
      }
    });
    return drawn_;
  }

  const RunSeries& run_;
  // Of all values before each: exact, as long as these are whole ns and no more than 2^53 in sum.
  const std::vector<double> sums_;
  const std::vector<double> whole_sums_;
  size_t block_ = 1;
  RunSeries drawn_;
};

using Scale = double (*)(double);

// Means of a group as other runs, or other iterations, would have given them.
class ResampledGroup {
 public:
  ResampledGroup(std::span<const RunSeries> group, Statistic statistic, Resampling resampling,
                 Scale scale, Random* random)
      : by_runs_(resampling == Resampling::kRuns) {
    for (const RunSeries& run : group) {
      of_run_.push_back(StatisticOf(run, statistic));
      if (!by_runs_) blocks_.emplace_back(run);
    }
    const auto runs = static_cast<double>(of_run_.size());
    double drawn_from = runs;
    if (!by_runs_) {
      drawn_from = 0;
      for (const BlockSampler& blocks : blocks_) drawn_from += blocks.count();
    }
    degrees_ = by_runs_ ? runs - 1 : drawn_from - runs;
    measured_ = scale(SumOf(of_run_) / runs);
    // What is resampled from n lies closer together than what n tells of: its variance lacks the
    // factor n / (n - 1).
    const double widening = std::sqrt(drawn_from / degrees_);
    for (size_t i = 0; i < kBootstrapReplicates; ++i) {
      draws_.push_back(measured_ + (scale(Draw(statistic, random)) - measured_) * widening);
      if (!std::isfinite(draws_.back())) return;
    }
  }

  // False where a draw has no place on the scale; those behind it are not there then.
  bool has_place() const { return std::isfinite(draws_.back()); }

  double measured() const { return measured_; }
  double degrees() const { return degrees_; }
  const std::vector<double>& draws() const { return draws_; }
  double variance() const {
    double squares = 0;
    for (const double draw : draws_) squares += (draw - measured_) * (draw - measured_);
    return squares / static_cast<double>(draws_.size());
  }

 private:
  double Draw(Statistic statistic, Random* random) {
    double sum = 0;
    for (size_t i = 0; i < of_run_.size(); ++i) {
      sum += by_runs_ ? of_run_[random->Below(of_run_.size())] : blocks_[i].Draw(statistic, random);
    }
    return sum / static_cast<double>(of_run_.size());
  }

  const bool by_runs_;
  std::vector<double> of_run_;
  std::vector<BlockSampler> blocks_;
  double measured_ = 0;
  double degrees_ = 0;
  std::vector<double> draws_;  // on the scale
};

// Of the difference of two means that vary differently (Welch, "The Generalization of Student's
// Problem", 1947). Infinite where neither varies.
double DegreesOfDifference(const ResampledGroup& from, const ResampledGroup& to) {
  const double sum = from.variance() + to.variance();
  const double parts = from.variance() * from.variance() / from.degrees() +
                       to.variance() * to.variance() / to.degrees();
  return parts > 0 ? sum * sum / parts : HUGE_VAL;
}

// Of the difference on |scale|; absent where something has no place on it.
std::optional<Confidence> IntervalOn(Scale scale, std::span<const RunSeries> before,
                                     std::span<const RunSeries> after, Statistic statistic,
                                     uint64_t seed) {
  const Resampling resampling = ResamplingOf(before, after);
  if (resampling == Resampling::kNothing) return std::nullopt;
  Random random(seed);
  const ResampledGroup from(before, statistic, resampling, scale, &random);
  if (!from.has_place()) return std::nullopt;
  const ResampledGroup to(after, statistic, resampling, scale, &random);
  if (!to.has_place()) return std::nullopt;
  std::vector<double> differences;
  differences.reserve(kBootstrapReplicates);
  for (size_t i = 0; i < kBootstrapReplicates; ++i) {
    differences.push_back(to.draws()[i] - from.draws()[i]);
  }
  const double center = to.measured() - from.measured();
  const double quantile = StudentQuantile(DegreesOfDifference(from, to));
  if (resampling == Resampling::kRuns) {
    // Few runs have few resamples, whose quantiles lie within the true ones.
    const double half = quantile * std::sqrt(from.variance() + to.variance());
    return Confidence{center - half, center + half};
  }
  std::sort(differences.begin(), differences.end());
  const size_t tail = kBootstrapReplicates / 40;  // 2.5 %
  const double wider = quantile / kNormal975;
  return Confidence{center + (differences[tail] - center) * wider,
                    center + (differences[kBootstrapReplicates - 1 - tail] - center) * wider};
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
