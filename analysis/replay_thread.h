// SPDX-License-Identifier: Apache-2.0
//
// One thread in a replay: how far it has come in the recording, and when that is in the replay.
// Between two of its events a thread works for as long as it did, less what the profiler spent
// there. Where the mean cost is more than there was, the rest is owed and taken from what follows,
// so that totals stay right; a wait for the device forgives it. Plain state; one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_THREAD_H_
#define GPUBOUND_ANALYSIS_REPLAY_THREAD_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "analysis/event_source.h"
#include "analysis/label_roles.h"
#include "analysis/replay_costs.h"
#include "analysis/replay_moment.h"

namespace gpubound {

struct ReplayThread {
  struct OpenScope {
    LabelId label{};
    bool is_range = false;
    uint64_t range = 0;
    OperationIndex operation = kNotOne;  // of this scope or of the nearest one beneath
    Layer layer = Layer::kUnset;         // likewise
    PeerIndex peer = kNotOne;
    int64_t begun_ns = 0;
    uint32_t capture_launch = 0;  // correlation of this occurrence's graph launch, once it is
  };
  struct OpenCall {
    ApiCall call;
    Moment begun;
    bool outermost = false;
  };

  bool started = false;
  bool adopts = false;  // works for the reporting thread, as far as is known
  int64_t at_ns = 0;    // recorded
  Moment now;           // replayed
  double owed = 0;
  double factor = 1;  // of the time that passes
  std::vector<OpenScope> scopes;
  std::vector<OpenCall> calls;
  StreamId last_stream{};        // on which its work began last
  uint32_t last_launch = 0;      // correlation
  uint32_t recorded_launch = 0;  // ... when it recorded an event last
  double wait_shift = 0;  // how far it had been moved when it last waited for something unknown
  // Of costs since it waited last: a wait takes up what was wrong about them.
  double noise_variance = 0;
  double noise_error = 0;

  std::unique_ptr<ThreadCursor> cursor;
  ThreadBatch batch;
  size_t next_event = 0;

  // Where it is at recorded |time_ns|, if nothing happens until then.
  Moment At(int64_t time_ns) const {
    const double length = static_cast<double>(std::max<int64_t>(0, time_ns - at_ns)) * factor;
    return now.After(length - std::min(owed, length));
  }
  void MoveTo(int64_t time_ns) {
    if (time_ns <= at_ns) return;
    const double length = static_cast<double>(time_ns - at_ns) * factor;
    const double paid = std::min(owed, length);
    owed -= paid;
    now.at += length - paid;
    at_ns = time_ns;
  }
  // It can go on at |release| at the earliest, which is |time_ns| in the recording.
  void WaitFor(const Moment& release, int64_t time_ns) {
    at_ns = std::max(at_ns, time_ns);
    if (release.at <= now.at) return;
    now = release;
    owed = 0;
  }
  void Charge(const Spent& spent) {
    owed += spent.ns;
    now.variance += spent.variance;
    now.error += spent.error;
    noise_variance += spent.variance;
    noise_error += spent.error;
  }
  OperationIndex operation() const { return scopes.empty() ? kNotOne : scopes.back().operation; }
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_THREAD_H_
