// SPDX-License-Identifier: Apache-2.0
//
// What a replay found out about one process, beside the retimed events. Plain values without a
// thread rule; times are ns of the trace timeline, or lengths.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_FACTS_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_FACTS_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "analysis/replay/step_times.h"
#include "analysis/trace/run.h"

namespace gpubound {

// How uncertain a length is because of costs that were taken out.
struct CostNoise {
  double variance = 0;  // ns^2, of costs that differ from one occurrence to the next
  double error = 0;     // ns, of their means
};

// What the replay was off by on simulated programs beyond what costs are uncertain by, as standard
// deviations: of what it moved, and of the length (docs/overhead_model.md).
inline constexpr double kReplayErrorOfMoved = 0.005;
inline constexpr double kReplayErrorOfLength = 0.0001;

struct OperationNoise {
  std::string operation;
  CostNoise noise;
};

// What is not known of waits.
struct UnknownWaits {
  // Waits for something that was not recorded keep their length. By so much they could be shorter
  // or longer, had what they waited for been moved too.
  double unmoved_waits_ns = 0;
  // By so much those of the reporting thread could end sooner, and later, if they were for what
  // other threads or processes did meanwhile.
  double waits_sooner_ns = 0;
  double waits_later_ns = 0;

  // Of one that goes on behind |other|, as far as that is not certain.
  void Follow(const UnknownWaits& other) {
    unmoved_waits_ns = std::max(unmoved_waits_ns, other.unmoved_waits_ns);
    waits_sooner_ns = std::max(waits_sooner_ns, other.waits_sooner_ns);
    waits_later_ns = std::max(waits_later_ns, other.waits_later_ns);
  }

  // What was noted from |before| to |now|, which only grows.
  void AddNoted(const UnknownWaits& before, const UnknownWaits& now) {
    unmoved_waits_ns += now.unmoved_waits_ns - before.unmoved_waits_ns;
    waits_sooner_ns += now.waits_sooner_ns - before.waits_sooner_ns;
    waits_later_ns += now.waits_later_ns - before.waits_later_ns;
  }
};

// By how much sooner, or later, what others did would have let a process go on, at most.
struct GainedTime {
  double sooner_ns = 0;
  double later_ns = 0;
};

struct ReplayFacts : UnknownWaits {
  int64_t span_begin_ns = 0;
  int64_t span_end_ns = 0;
  CostNoise span;
  double removed_ns = 0;  // costs of all threads, whether they moved anything or not
  CostNoise removed;
  std::vector<OperationNoise> operations;  // wall time on the reporting thread, by OperationIndex
  std::vector<UnknownInterval> unknown;    // retimed
  // Occurrences of operations that became a graph, and those of them that could not be one.
  uint64_t captures = 0;
  uint64_t captures_broken = 0;
  uint32_t last_step = 0;          // of the critical path to its end
  StepTimes steps;                 // replayed
  UnknownWaits iteration_waits;    // those of its iterations alone
  int64_t stepped_ns = INT64_MIN;  // recorded: when the last iteration of its span ended
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_FACTS_H_
