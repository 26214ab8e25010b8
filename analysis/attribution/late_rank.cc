// SPDX-License-Identifier: Apache-2.0
//
// Follows the process and books what holds during the stretches asked for.
#include "analysis/attribution/late_rank.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "analysis/attribution/process_follower.h"
#include "analysis/attribution/sweep_setup.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

class ActivityBook {
 public:
  // |when|: ascending, disjoint.
  explicit ActivityBook(std::vector<TaggedInterval> when) : when_(std::move(when)) {}

  // |state| held from the time of the last call to |until_ns|.
  void Pass(const CpuState& state, int64_t until_ns) {
    for (; next_ < when_.size() && when_[next_].time.begin_ns < until_ns; ++next_) {
      const Interval& time = when_[next_].time;
      const Interval part = time.ClippedTo({std::max(since_ns_, time.begin_ns), until_ns});
      if (!part.empty()) {
        ns_[{when_[next_].tag, state.operation, state.layer}] += part.length();
      }
      if (time.end_ns > until_ns) break;
    }
    since_ns_ = until_ns;
  }

  std::vector<std::vector<ReportActivity>> Finish(
      size_t tags, const std::vector<std::string>& operations) const {
    std::vector<std::vector<ReportActivity>> activities(tags);
    for (const auto& [what, ns] : ns_) {
      const auto& [tag, operation, layer] = what;
      activities[tag].push_back({operations[operation], LayerName(layer), ns});
    }
    for (std::vector<ReportActivity>& of_tag : activities) {
      std::stable_sort(of_tag.begin(), of_tag.end(),
                       [](const auto& a, const auto& b) { return a.ns > b.ns; });
    }
    return activities;
  }

 private:
  const std::vector<TaggedInterval> when_;
  size_t next_ = 0;
  int64_t since_ns_ = INT64_MIN;
  std::map<std::tuple<size_t, OperationIndex, Layer>, int64_t> ns_;
};

}  // namespace

std::vector<ReportActivity> WhatItDid(const ProcessTrace& process, std::vector<Interval> when,
                                      Heritage inherited, const BreakdownOptions& options) {
  std::vector<TaggedInterval> tagged;
  for (const Interval& time : Union(std::move(when))) tagged.push_back({time, 0});
  return std::move(WhatItDidByTag(process, tagged, 1, std::move(inherited), options).front());
}

std::vector<std::vector<ReportActivity>> WhatItDidByTag(const ProcessTrace& process,
                                                        const std::vector<TaggedInterval>& when,
                                                        size_t tags, Heritage inherited,
                                                        const BreakdownOptions& options) {
  const Interval span{process.span_begin_ns, process.span_end_ns};
  std::vector<TaggedInterval> inside;
  for (const TaggedInterval& interval : when) {
    const Interval time = interval.time.ClippedTo(span);
    if (!time.empty()) inside.push_back({time, interval.tag});
  }
  if (inside.empty()) return std::vector<std::vector<ReportActivity>>(tags);
  const int64_t end_ns = inside.back().time.end_ns;
  const std::shared_ptr<const EventSource> source = SourceOf(process);
  ProcessContext context;
  context.left = std::move(inherited);
  const SweepSetup setup(process, *source, options, context);
  const SweepInput& input = setup.input();
  ActivityBook book(std::move(inside));
  ProcessFollower({&process, source.get(), input.roles, input.scan, input.peers, input.inherited},
                  &book)
      .RunUntil(end_ns);
  return book.Finish(tags, setup.roles().operations());
}

}  // namespace gpubound
