// SPDX-License-Identifier: Apache-2.0
//
// Counts calls of functions that are not recorded in a small part of the time, and says how many
// there were in all of it. A callback for each costs 350 to 530 ns on an H100, and PyTorch makes
// some 700,000 a second (docs/results/gpu.md): counting all would make it slower by a quarter or
// more, counting a hundredth of them by 0.25 to 0.4 %.
//
// Time is cut into periods. In each, callbacks are on in one window at a random place, so that what
// comes round in a loop is met in every phase of it; a period counts as many calls as its window
// has in that time. The first periods are short, so that brief recordings have some:
//
//   periods   |-------|---------------|-------------------------------|----
//   windows       |-|            |--|        |-----|
//
// One object, one thread: the one that alone switches callbacks from then on.
#ifndef GPUBOUND_CUPTI_HOOKS_QUERY_SAMPLER_H_
#define GPUBOUND_CUPTI_HOOKS_QUERY_SAMPLER_H_

#include <cstdint>
#include <functional>
#include <optional>

namespace gpubound {

// What periods of different length say of all time. Source: W. G. Cochran, Sampling Techniques,
// 3rd edition, 1977, chapters 5 and 6: the sum over strata, and the error of a ratio.
class PeriodSum {
 public:
  // A period of |ns| in which |per_ns| calls were made each nanosecond.
  void Add(double ns, double per_ns);
  uint64_t periods() const { return periods_; }
  // Calls in each nanosecond, over all periods; 0 without any.
  double Rate() const { return ns_ > 0 ? calls_ / ns_ : 0; }
  // Of the calls in |ns|. Absent with fewer than two periods.
  std::optional<double> StandardError(double ns) const;

 private:
  uint64_t periods_ = 0;
  double ns_ = 0;
  double calls_ = 0;
  // Sums of squares: of lengths, of lengths times calls, of calls.
  double ns_ns_ = 0;
  double ns_calls_ = 0;
  double calls_calls_ = 0;
};

class QuerySampler {
 public:
  // What it asks for. All are called on its thread.
  struct World {
    std::function<int64_t()> now_ns;             // CLOCK_MONOTONIC
    std::function<void(int64_t)> wait_until;     // returns early where the recording is to end
    std::function<bool(bool)> switch_callbacks;  // on or off; false: they cannot be
    std::function<uint64_t()> take;              // calls that were counted since it last was asked
    std::function<void(uint64_t)> count;         // so many more, in all of the time
    std::function<double()> random;              // from 0 to below 1, each as likely
  };

  static constexpr int64_t kFirstPeriodNs = 25'000'000;
  static constexpr int64_t kLongestPeriodNs = 200'000'000;

  // Counts since now, in |share| of the time: above 0 and below 1.
  QuerySampler(World world, double share);

  // When the next window begins.
  int64_t next_ns() const { return next_ns_; }
  // Counts in one; takes as long as it is. There is none where callbacks cannot be switched on.
  void RunWindow();
  // The recording ends: what is left of the time is counted as the rest was. The standard error of
  // all that was counted, in calls; absent where it is not known.
  std::optional<double> Finish();
  // There was one, so that something is known.
  bool has_counted() const { return sum_.periods() != 0 || last_.has_value(); }

 private:
  // One that has had its window.
  struct Period {
    int64_t begin_ns;
    int64_t end_ns;
    double per_ns;  // calls
  };
  void BeginPeriod(int64_t begin_ns);
  // While callbacks are on, which it switches off; returns when the period ends.
  int64_t Listen();
  void BookLast(int64_t until_ns);
  void Count(double calls);

  const World world_;
  const double share_;
  const int64_t begun_ns_;
  int64_t length_ns_ = kFirstPeriodNs;
  int64_t begin_ns_ = 0;  // of the period whose window comes next
  int64_t next_ns_ = 0;
  std::optional<Period> last_;  // before that one, not counted yet: the recording may end in it
  PeriodSum sum_;
  double rest_ = 0;  // of a call, not counted yet
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_QUERY_SAMPLER_H_
