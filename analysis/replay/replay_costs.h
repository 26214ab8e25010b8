// SPDX-License-Identifier: Apache-2.0
//
// What is taken out of the time line behind each kind of event: a cost model by label of one
// process, so that the replay looks up arrays. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_COSTS_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_COSTS_H_

#include <string_view>
#include <vector>

#include "analysis/calibration/cost_model.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Time that the profiler spent on a thread right behind a time stamp.
struct Spent {
  double ns = 0;
  double variance = 0;
  double error = 0;
  double least = 0;      // one in forty occurrences costs less
  double row_error = 0;  // |error| of the row in which it lies, no less than that
};

class ReplayCosts {
 public:
  ReplayCosts(const ProcessTrace& process, const CostModel& model);

  // Behind the begin, and behind the end, of a scope with this label, where the thread had its
  // event before |since_ns| earlier; of a call, where its call before had ended then.
  const Spent& AfterBegin(LabelId label, int64_t since_ns = 0) const {
    const ByLabel& costs = Of(label);
    return since_ns < costs.late_from_ns ? costs.begin : costs.late_begin;
  }
  const Spent& AfterEnd(LabelId label, int64_t since_ns = 0) const {
    const ByLabel& costs = Of(label);
    return since_ns < costs.late_from_ns ? costs.end : costs.late_end;
  }
  // Whether it costs then what such events cost behind other work, and not what they usually do.
  bool IsBehindWork(LabelId label, int64_t since_ns) const {
    const ByLabel& costs = Of(label);
    return since_ns >= costs.late_from_ns && costs.has_late;
  }
  const Spent& AfterInstant() const { return instant_; }
  // CUPTI's own work, of which each record tells the actual cost, and scopes of ours (own_work.h).
  bool IsOwnOverhead(LabelId label) const { return Of(label).own_overhead; }
  // Whether the model was measured; otherwise nothing is removed, what records tell included.
  bool removes() const { return removes_; }

 private:
  struct ByLabel {
    Spent begin;
    Spent end;
    Spent late_begin;  // behind other work
    Spent late_end;
    int64_t late_from_ns = kOtherWorkNs;
    bool has_late = false;  // which differ from the usual
    bool own_overhead = false;
  };
  const ByLabel& Of(LabelId label) const {
    return Raw(label) < labels_.size() ? labels_[Raw(label)] : none_;
  }
  std::vector<ByLabel> labels_;
  ByLabel none_;
  Spent instant_;
  bool removes_ = false;
};

// Of CUPTI's overhead kinds those that exist because somebody profiles: buffer flush,
// instrumentation, resource, activity buffer request, UVM initialisation. Compilation, loading and
// a full launch queue are the program's.
bool IsProfilersOverhead(std::string_view kind);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_COSTS_H_
