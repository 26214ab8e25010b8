// SPDX-License-Identifier: Apache-2.0
//
// Goes through the processes of a run in the order in which they depend on each other
// (run_waits.h): those of a round side by side, on as many threads as the machine has. Those of a
// circle are gone through as if they inherited nothing, and those that do (wait_circles.h) again.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_ROUNDS_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_ROUNDS_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "analysis/attribution/process_report.h"
#include "analysis/base/in_parallel.h"
#include "analysis/base/status.h"
#include "analysis/processes/known_waits.h"
#include "analysis/processes/run_waits.h"
#include "analysis/processes/wait_circles.h"
#include "analysis/segments/run_sums.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What came of the processes of a run, by process, and how they waited for each other.
template <typename Outcome>
struct Outcomes {
  std::vector<Outcome> all;  // their |waits| have been moved to the others
  KnownWaits waits;
};

// See ProcessesInRounds().
template <typename Outcome, typename OutcomeOf>
class ProcessRounds {
 public:
  ProcessRounds(const Run& run, size_t root, bool explained, OutcomeOf outcome_of)
      : run_(run),
        outcome_of_(std::move(outcome_of)),
        natures_(NaturesOf(run)),
        peers_(run, natures_),
        outcomes_{std::vector<Outcome>(run.processes.size()), {run, root, natures_, explained}} {}

  Result<Outcomes<Outcome>> Go() {
    for (const std::vector<WaitCircle>& round : AnalysisRounds(run_, natures_)) {
      std::vector<size_t> jobs;
      for (const WaitCircle& circle : round) {
        for (const size_t p : circle) {
          if (circle.size() > 1) outcomes_.waits.Leave(p, {});
          jobs.push_back(p);
        }
      }
      if (const Status done = Do(jobs); !done.ok()) return done.error();
      jobs.clear();
      for (const WaitCircle& circle : round) AddHeirs(circle, &jobs);
      if (const Status done = Do(jobs); !done.ok()) return done.error();
      for (const WaitCircle& circle : round) {
        for (const size_t p : circle) {
          Outcome& outcome = outcomes_.all[p];
          outcomes_.waits.Tell(p, outcome.inherits, std::move(outcome.waits));
        }
      }
    }
    return std::move(outcomes_);
  }

 private:
  Interval SpanOf(size_t p) const {
    return {run_.processes[p].span_begin_ns, run_.processes[p].span_end_ns};
  }

  Status DoOne(size_t p) {
    const ProcessTrace& process = run_.processes[p];
    ProcessContext context;
    context.peers = peers_.Of(p);
    context.left = outcomes_.waits.LeftTo(p);
    context.simulates = natures_[p].simulates;
    if (run_.sums != nullptr) context.before = run_.sums->Of(process.identity);
    Result<Outcome> outcome = outcome_of_(process, context);
    if (!outcome.ok()) return outcome.error();
    outcomes_.all[p] = std::move(*outcome);
    return Ok{};
  }

  Status Do(const std::vector<size_t>& jobs) {
    std::vector<std::function<Status()>> all;
    for (const size_t p : jobs) all.emplace_back([this, p] { return DoOne(p); });
    return InParallel(all);
  }

  // Of a circle those that inherit.
  void AddHeirs(const WaitCircle& circle, std::vector<size_t>* jobs) {
    if (circle.size() < 2) return;
    std::vector<CircleMember> members;
    for (const size_t p : circle) {
      members.push_back({p, run_.processes[p].identity.pid, SpanOf(p),
                         outcomes_.all[p].any_operation, &outcomes_.all[p].waits,
                         outcomes_.waits.ListsFor(p)});
    }
    std::vector<Heritage> left = InheritInCircle(members);
    for (size_t m = 0; m < circle.size(); ++m) {
      if (left[m].empty()) continue;
      outcomes_.waits.Leave(circle[m], std::move(left[m]));
      jobs->push_back(circle[m]);
    }
  }

  const Run& run_;
  OutcomeOf outcome_of_;
  const std::vector<ProcessNature> natures_;
  const PeerTable peers_;
  Outcomes<Outcome> outcomes_;
};

// Calls |outcome_of|(process, context), from several threads at once, and returns what it returned;
// the first error where it returned any. An Outcome holds |waits|, |any_operation| and |inherits|.
// |root|, |explained|: as of KnownWaits.
template <typename Outcome, typename OutcomeOf>
Result<Outcomes<Outcome>> ProcessesInRounds(const Run& run, size_t root, bool explained,
                                            OutcomeOf outcome_of) {
  return ProcessRounds<Outcome, OutcomeOf>(run, root, explained, std::move(outcome_of)).Go();
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_PROCESS_ROUNDS_H_
