// SPDX-License-Identifier: Apache-2.0
//
// Iterations as exports of events show them: those that the report counts, which covers the span
// alone (of --steps: the iterations that were asked for). Any thread of a process may begin or end
// one; who is given the events of a single thread finds its own. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_ITERATION_MARKS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_ITERATION_MARKS_H_

#include <cstdint>
#include <optional>
#include <set>

#include "analysis/base/interval.h"
#include "analysis/trace/run.h"

namespace gpubound {

class IterationMarks {
 public:
  // Takes the next event, one of |thread|. The iteration that it ends, as far as that
  // lies within the span of |process|; nothing where it ends none, or one outside.
  std::optional<Interval> Take(const ProcessTrace& process, uint32_t thread,
                               const ThreadEvent& event);

  // Events of |thread| are gone, and what began the next iteration may be among them.
  void Thin(uint32_t thread);

 private:
  std::set<uint32_t> ending_;        // threads that have ended some
  std::optional<int64_t> begin_ns_;  // of the iteration that goes on
  bool thinned_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_ITERATION_MARKS_H_
