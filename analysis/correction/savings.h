// SPDX-License-Identifier: Apache-2.0
//
// The run's critical path, and what would be saved if parts of it took half their time: all GPU work,
// the costliest kernels, the GPU work and the CPU code of the operations that matter most on the
// path, Python, the simulator and CUDA calls. Saved of the run, or of its iterations where the
// headline is about those. Each question is one more replay of the run; they do not depend on each
// other. Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_SAVINGS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_SAVINGS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/correction/span_ratio.h"
#include "analysis/replay/replay.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"

namespace gpubound {

class Savings {
 public:
  // |replay|: as the run is replayed without a change, with the critical path of |leading|.
  // |of_iterations|: what is saved of these counts, where there are any. |run| outlives the object.
  Savings(const Run& run, const ReplayOptions& replay, LeadingProcess leading, bool of_iterations);

  // Adds questions: what is worth asking whatever the critical path is, and what |base| says is,
  // the replay without a change, of the run that |report| is of.
  void AskDevice();
  void AskPath(const ReplayedRun& base, const Report& report);

  // What the run would save if all that processes do in a role took no time, of each role of |report|.
  void AskRoles(const Report& report);

  // Adds what the answers so far make worth asking: the same at other factors.
  void AskFurther(const ReplayedRun& base);

  size_t questions() const { return questions_.size(); }
  // Replays the run for one of them. Each from any thread.
  Status Answer(size_t question);

  // Sets the critical path, and of what was asked, all of which was answered, the GPU-limited share,
  // the savings of |report|, those of its roles, and what they would be at other factors.
  void Put(const ReplayedRun& base, Report* report) const;

 private:
  struct Question {
    Scaling scaling;
    std::string role;                // of a question about one, which has no |scaling|
    std::vector<WhatIf> by_process;  // likewise
    std::optional<ReplayedSpan> answer;
  };
  void Ask(ScaledPart part, const std::string& name, double factor);
  void AskOperations(const ReplayedRun& base);
  void AskKernels(const ReplayedRun& base, const Report& report);
  bool IsOfIterations(const ReplayedSpan& as_is) const;
  // Of what the figures of the headline are about.
  SpanRatio RatioTo(const ReplayedSpan& changed, const ReplayedSpan& as_is) const;
  void PutRoles(const ReplayedSpan& as_is, Report* report) const;

  const Run& run_;
  ReplayOptions replay_;          // of questions
  const LeadingProcess leading_;  // whose critical path it is
  const bool of_iterations_;
  std::vector<Question> questions_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_SAVINGS_H_
