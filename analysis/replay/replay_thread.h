// SPDX-License-Identifier: Apache-2.0
//
// One thread in a replay: how far it has come in the recording, and when that is in the replay.
// Between two of its events a thread works for as long as it did, less what the profiler spent
// there. That is known as a mean: where it is more than there was, the thread seems to go
// backwards. What depends on the thread is told that time, which is right on average. Its own
// events are shown later: the rest is owed by the operation and the layer in which it was spent and
// taken from the next time that passes in these, so that their totals are right too. Where more is
// owed than the noise of the costs explains, there was not so much to take: the cost was spent
// beside it, hence what passes next pays, and not the same row in another part of the run.
// Plain state; one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_THREAD_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_THREAD_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/replay/open_scopes.h"
#include "analysis/replay/replay_costs.h"
#include "analysis/replay/replay_moment.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/label_roles.h"

namespace gpubound {

// When the events and calls of one thread are shown, in whole nanoseconds. Of what happens at one
// instant events come before calls for whoever reads them. Where nothing is left of the time
// between a call and an event behind it, that one is shown a nanosecond later: else the call would
// belong to the operation that the event opens.
class ShownOrder {
 public:
  int64_t OfEvent(int64_t at_ns) {
    event_ns_ = std::max(at_ns, behind_call_ns_);
    return event_ns_;
  }
  int64_t OfCall(int64_t at_ns) {
    const int64_t shown_ns = std::max(at_ns, event_ns_);
    behind_call_ns_ = shown_ns + 1;
    return shown_ns;
  }

 private:
  int64_t event_ns_ = INT64_MIN;        // of the last event
  int64_t behind_call_ns_ = INT64_MIN;  // of the last call to begin
};

struct ReplayThread {
  static constexpr size_t kLayers = 8;  // values of Layer

  struct OpenCall {
    ApiCall call;
    Moment begun;
    double shown_begun;
    bool outermost;
    bool charged;
    int64_t since_ns;          // the end of the thread's call before it
    double unrecorded_ns;      // of its cost: the profiler's own records tell of no part of it
    int64_t shown_ns;          // its begin, as ShownOrder has it
    double queue_full_ns = 0;  // that it waited for room in the launch queue
  };
  struct Debt {
    double ns = 0;
    double variance = 0;  // of the latest costs since nothing was owed
  };
  // By cell. Those of an operation come into being with the first: of many threads and operations
  // few meet.
  class Debts {
   public:
    using OfOperation = std::array<Debt, kLayers>;  // by layer
    void Resize(size_t operations) { operations_.resize(operations); }
    Debt& At(size_t of) {
      std::unique_ptr<OfOperation>& debts = operations_[of / kLayers];
      if (debts == nullptr) [[unlikely]]
        debts = std::make_unique<OfOperation>();
      return (*debts)[of % kLayers];
    }
    // Null where the operation of cell |of| never owed anything.
    OfOperation* Find(size_t of) { return operations_[of / kLayers].get(); }

   private:
    std::vector<std::unique_ptr<OfOperation>> operations_;
  };

  bool started = false;
  bool adopts = false;       // works for the reporting thread, as far as is known
  int64_t at_ns = 0;         // recorded
  Moment now;                // replayed
  double shown = 0;          // when events of now are shown, ascending
  ShownOrder order;          // of these
  bool guessed = false;      // |now| is; see WaitForThread
  bool woken = false;        // another thread let it go on, and no event of its own came since
  bool begins = false;       // its first event is about to be replayed
  bool shows_waits = false;  // it has been in one that is a scope
  Moment certain;            // ... and no earlier than this
  double slept = 0;   // by how much it was later because it slept, when it let none go on since
  double factor = 1;  // of the time that passes
  Debts owed;
  double overdue = 0;                         // owed by whatever passes next
  size_t cell = 0;                            // of operation and layer
  bool pays_overdue = true;                   // in this cell
  int64_t own_overhead_until_ns = INT64_MIN;  // the profiler's, as far as records told
  OpenScopes scopes;
  std::vector<OpenCall> calls;
  int64_t last_call_end_ns = 0;  // recorded
  StreamId last_stream{};        // on which its work began last
  uint32_t last_launch = 0;      // correlation
  uint32_t recorded_launch = 0;  // ... when it recorded an event last
  double wait_shift = 0;  // how far it had been moved when it last waited for something unknown
  // What it does itself made it move by, since the reporting thread last was taken to wait for it:
  // until it last followed that one, when it had been moved by |moved_before|, and since.
  double gained = 0;
  double moved_before = 0;
  bool acted = false;            // since then
  double moved_when_waited = 0;  // for any of several things; see NoteOwnDoings
  struct Charged {               // the cost in the time that passes now
    double ns = 0;
    double variance = 0;
    double least = 0;  // hardly ever less
    uint64_t kind = 0;
    int64_t from_ns = 0;
  };
  Charged charged;
  // Of costs since it waited last: a wait takes up what was wrong about them.
  double noise_variance = 0;
  double noise_error = 0;

  std::unique_ptr<ThreadCursor> cursor;
  ThreadBatch batch;
  size_t next_event = 0;

  const ThreadEvent& NextEvent() const { return batch.events[next_event]; }  // there is one
  // Where it is at recorded |time_ns|, if nothing happens until then. Programs act when the cost
  // behind an event is spent in full, or before the event; which of both it was is told by whether
  // so little time is enough for the cost.
  Moment At(int64_t time_ns) const {
    const bool charges = charged.from_ns == at_ns;
    const double spent = charges ? charged.ns : 0;
    const auto length = static_cast<double>(std::max<int64_t>(0, time_ns - at_ns));
    if (charges && length < charged.least) return now.After(spent);
    return now.After(spent + (length - spent) * factor);
  }
  void BeginAt(const Moment& begin, int64_t time_ns) {
    now = begin;
    guessed = false;
    shown = begin.at;
    at_ns = time_ns;
  }
  void MoveTo(int64_t time_ns) { MoveBy(static_cast<double>(time_ns - at_ns), time_ns); }
  // |recorded_length|: what passed until |time_ns|, as far as that is certain.
  void MoveBy(double recorded_length, int64_t time_ns) {
    // What was spent does not change with the program.
    const double spent = charged.from_ns == at_ns ? charged.ns : 0;
    charged = {};
    if (time_ns <= at_ns) return;
    const double own = recorded_length - spent;
    const double length = std::max(0.0, spent + own * factor);
    now.at += length;
    certain.at += length;
    shown += length - PaidOf(length);
    at_ns = time_ns;
  }
  // What of |length|, which passes in this cell, makes up for what is owed.
  double PaidOf(double length) {
    double paid = 0;
    if (Debts::OfOperation* const debts = owed.Find(cell)) {
      Debt& debt = (*debts)[cell % kLayers];
      paid = std::min(debt.ns, length);
      debt.ns -= paid;
      if (debt.ns == 0) {
        debt.variance = 0;
      } else if (debt.ns * debt.ns > kNoise * kNoise * debt.variance) {
        overdue += std::exchange(debt, {}).ns;
      }
    }
    if (overdue > 0 && pays_overdue) {
      const double more = std::min(overdue, length - paid);
      overdue -= more;
      paid += more;
    }
    return paid;
  }
  // It can go on at |release| at the earliest, which is |time_ns| in the recording. True if it
  // waits. What it waits in began at |shown_begun|.
  bool WaitFor(const Moment& release, int64_t time_ns, double shown_begun) {
    charged = {};
    at_ns = std::max(at_ns, time_ns);
    if (guessed) certain = Later(certain, release);
    if (release.at <= now.at) return false;
    now = release;
    guessed = false;
    // Waiting ends when it ends, whatever is owed for what came before.
    const double shown_before = std::exchange(shown, std::max(shown_begun, release.at));
    Debts::OfOperation* const debts = owed.Find(cell);
    for (size_t i = 0; debts != nullptr && i < kLayers && shown_before > shown; ++i) {
      Debt& debt = (*debts)[i];
      debt.ns -= std::min(debt.ns, shown_before - shown);
    }
    if (shown_before > shown) overdue -= std::min(overdue, shown_before - shown);
    return true;
  }
  // It did nothing until |time_ns|, when another thread was on its way: there at |known| and, if it
  // goes on as it did in the recording, at |release| now. That thread may turn out to be faster,
  // because what it does is a wait that has become shorter. Then this one did not hold anything up:
  // only what it did itself takes time for certain.
  bool WaitForThread(const Moment& known, const Moment& release, int64_t time_ns) {
    if (guessed) now = certain;
    const Moment done = Later(now, known);
    const bool waits = WaitFor(release, time_ns, shown);
    guessed = true;
    certain = done;
    return waits;
  }
  // It slept until |time_ns|, when the reporting thread was at |leading|. Sleep takes its time, for
  // those that it lets go on behind it; but it may be one turn of several until something comes, as
  // that thread's doing, and of itself holds nothing up.
  void SleepUntil(int64_t time_ns, const Moment& leading) {
    const Moment done = Done();
    MoveTo(time_ns);
    slept = std::max(slept, now.at - std::max(done.at, leading.at));
    guessed = true;
    certain = done;
  }
  // The same in an operation of its own: that is what it does then, and takes its time.
  void SleepInOperation(int64_t time_ns, const Moment& leading) {
    const Moment done = Done();
    MoveTo(time_ns);
    slept = std::max(slept, now.at - std::max(done.at, leading.at));
  }
  // When it has done what it did, at the earliest.
  const Moment& Done() const { return guessed ? certain : now; }
  void Charge(const Spent& spent, uint64_t kind) {
    if (charged.from_ns != at_ns) charged = {};
    charged = {charged.ns + spent.ns, charged.variance + spent.variance,
               charged.least + spent.least, kind, at_ns};
    Debt& debt = owed.At(cell);
    debt.ns += spent.ns;
    debt.variance += spent.variance - debt.variance / kRecent;
    now.at -= spent.ns;
    certain.at -= spent.ns;
    now.variance += spent.variance;
    now.error += spent.error;
    noise_variance += spent.variance;
    noise_error += spent.row_error;
  }
  OperationIndex operation() const { return scopes.operation(); }

 private:
  static constexpr double kNoise = 4;     // standard deviations
  static constexpr double kRecent = 256;  // costs: an older debt is no noise that evens out
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_THREAD_H_
