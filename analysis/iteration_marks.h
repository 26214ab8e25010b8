// SPDX-License-Identifier: Apache-2.0
//
// Iterations of one thread as exports of events show them: those that the report counts, which
// covers the span alone (of --steps: the iterations that were asked for). One object, one thread.
#ifndef GPUBOUND_ANALYSIS_ITERATION_MARKS_H_
#define GPUBOUND_ANALYSIS_ITERATION_MARKS_H_

#include <optional>

#include "analysis/interval.h"
#include "analysis/run.h"

namespace gpubound {

class IterationMarks {
 public:
  // Takes the next event of the thread. The iteration that it ends, as far as that lies within the
  // span of |process|; nothing where it ends none, or one outside.
  std::optional<Interval> Take(const ProcessTrace& process, const ThreadEvent& event);

  // Events are gone, and what began the next iteration may be among them.
  void Thin();

 private:
  std::optional<int64_t> begin_ns_;  // of the iteration that goes on
  bool thinned_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ITERATION_MARKS_H_
