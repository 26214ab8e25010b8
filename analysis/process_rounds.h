// SPDX-License-Identifier: Apache-2.0
//
// Goes through the processes of a run in the order in which they depend on each other
// (run_waits.h): those of a round side by side, on as many threads as the machine has. Those of a
// circle are gone through as if they inherited nothing, and those that do (wait_circles.h) again.
#ifndef GPUBOUND_ANALYSIS_PROCESS_ROUNDS_H_
#define GPUBOUND_ANALYSIS_PROCESS_ROUNDS_H_

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/in_parallel.h"
#include "analysis/process_report.h"
#include "analysis/run.h"
#include "analysis/run_sums.h"
#include "analysis/run_waits.h"
#include "analysis/status.h"
#include "analysis/wait_circles.h"

namespace gpubound {

// See ProcessesInRounds().
template <typename Outcome, typename OutcomeOf>
class ProcessRounds {
 public:
  ProcessRounds(const Run& run, OutcomeOf outcome_of)
      : run_(run),
        outcome_of_(std::move(outcome_of)),
        natures_(NaturesOf(run)),
        outcomes_(run.processes.size()) {
    for (const ProcessTrace& process : run.processes) waits_[process.identity.host];
  }

  Result<std::vector<Outcome>> Go() {
    for (const std::vector<WaitCircle>& round : AnalysisRounds(run_, natures_)) {
      std::vector<Job> jobs;
      for (const WaitCircle& circle : round) {
        for (const size_t p : circle) jobs.push_back({p, circle.size() > 1, {}});
      }
      if (const Status done = Do(jobs); !done.ok()) return done.error();
      jobs.clear();
      for (const WaitCircle& circle : round) AddHeirs(circle, &jobs);
      if (const Status done = Do(jobs); !done.ok()) return done.error();
      for (const WaitCircle& circle : round) {
        for (const size_t p : circle) TellOn(p);
      }
    }
    return std::move(outcomes_);
  }

 private:
  struct Job {
    size_t process;
    bool knows_awaited;  // else it is those that come before who wait for it
    std::vector<NamedWait> awaited;
  };

  Interval SpanOf(size_t p) const {
    return {run_.processes[p].span_begin_ns, run_.processes[p].span_end_ns};
  }

  Status DoOne(const Job& job) {
    const ProcessTrace& process = run_.processes[job.process];
    ProcessContext context;
    context.peers = PeersOf(run_, natures_, job.process);
    context.awaited = job.knows_awaited ? job.awaited
                                        : WaitsFor(process.identity.pid, SpanOf(job.process),
                                                   waits_.at(process.identity.host));
    context.simulates = natures_[job.process].simulates;
    if (run_.sums != nullptr) context.before = run_.sums->Of(process.identity);
    Result<Outcome> outcome = outcome_of_(process, context);
    if (!outcome.ok()) return outcome.error();
    outcomes_[job.process] = std::move(*outcome);
    return Ok{};
  }

  Status Do(const std::vector<Job>& jobs) {
    std::vector<std::function<Status()>> all;
    for (const Job& job : jobs) all.emplace_back([this, &job] { return DoOne(job); });
    return InParallel(all);
  }

  // Of a circle those that inherit.
  void AddHeirs(const WaitCircle& circle, std::vector<Job>* jobs) const {
    if (circle.size() < 2) return;
    std::vector<CircleMember> members;
    for (const size_t p : circle) {
      members.push_back({p, run_.processes[p].identity.pid, SpanOf(p), outcomes_[p].any_operation,
                         &outcomes_[p].waits});
    }
    const std::string& host = run_.processes[circle.front()].identity.host;
    std::vector<std::vector<NamedWait>> inherited = InheritInCircle(members, waits_.at(host));
    for (size_t m = 0; m < circle.size(); ++m) {
      if (!inherited[m].empty()) jobs->push_back({circle[m], true, std::move(inherited[m])});
    }
  }

  void TellOn(size_t p) {
    std::vector<NamedWait>& known = waits_[run_.processes[p].identity.host];
    for (NamedWait wait : outcomes_[p].waits) {
      wait.waiter = p;
      known.push_back(std::move(wait));
    }
  }

  const Run& run_;
  OutcomeOf outcome_of_;
  const std::vector<ProcessNature> natures_;
  std::vector<Outcome> outcomes_;
  std::map<std::string, std::vector<NamedWait>> waits_;  // of those that are done, by host
};

// Calls |outcome_of|(process, context), from several threads at once, and returns what it returned,
// by process; the first error where it returned any. An Outcome holds |waits|, for those that come
// later, and |any_operation|.
template <typename Outcome, typename OutcomeOf>
Result<std::vector<Outcome>> ProcessesInRounds(const Run& run, OutcomeOf outcome_of) {
  return ProcessRounds<Outcome, OutcomeOf>(run, std::move(outcome_of)).Go();
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESS_ROUNDS_H_
