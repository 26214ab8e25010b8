// SPDX-License-Identifier: Apache-2.0
//
// What a report says of the run's critical path, and what parts of it would buy if they took no
// time: all device work, the operation and the layers that matter most on the path. Each question
// is one more replay of the run; they do not depend on each other. Pure but for reading events.
#ifndef GPUBOUND_ANALYSIS_CORRECTION_SPEEDUPS_H_
#define GPUBOUND_ANALYSIS_CORRECTION_SPEEDUPS_H_

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

class Speedups {
 public:
  // |replay|: as the run is replayed without a change, with the critical path of |leading|. |run|
  // outlives the object.
  Speedups(const Run& run, const ReplayOptions& replay, LeadingProcess leading);

  // Adds questions: what is worth asking whatever the critical path is, and what |base| says is,
  // the replay without a change.
  void AskDevice();
  void AskPath(const ReplayedRun& base);

  size_t questions() const { return questions_.size(); }
  // Replays the run for one of them. Each from any thread.
  Status Answer(size_t question);

  // Sets the critical path, and of what was asked, all of which was answered, the GPU-limited share
  // and what-ifs of |report|.
  void Put(const ReplayedRun& base, Report* report) const;

 private:
  struct Question {
    ScaledPart part;
    std::string name;
    double factor;
    std::optional<ReplayedSpan> answer;
  };

  const Run& run_;
  ReplayOptions replay_;          // of questions
  const LeadingProcess leading_;  // whose critical path it is
  std::vector<Question> questions_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CORRECTION_SPEEDUPS_H_
