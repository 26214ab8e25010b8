// SPDX-License-Identifier: Apache-2.0
//
// Goes through the processes of a run in the order in which they depend on each other
// (run_waits.h): those of a round side by side, on as many threads as the machine has.
#ifndef GPUBOUND_ANALYSIS_PROCESS_ROUNDS_H_
#define GPUBOUND_ANALYSIS_PROCESS_ROUNDS_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "analysis/process_report.h"
#include "analysis/run.h"
#include "analysis/run_sums.h"
#include "analysis/run_waits.h"
#include "analysis/status.h"

namespace gpubound {

// Calls |outcome_of|(process, context), from several threads at once, and returns what it returned,
// by process; the first error where it returned any. An Outcome holds |waits|, for those that come
// later.
template <typename Outcome, typename OutcomeOf>
Result<std::vector<Outcome>> ProcessesInRounds(const Run& run, OutcomeOf outcome_of) {
  std::vector<Outcome> outcomes(run.processes.size());
  std::map<std::string, std::vector<NamedWait>> waits;  // of those that are done, by host
  for (const ProcessTrace& process : run.processes) waits[process.identity.host];
  const std::vector<ProcessNature> natures = NaturesOf(run);
  for (const std::vector<size_t>& round : AnalysisRounds(run, natures)) {
    std::vector<std::optional<Error>> errors(round.size());
    std::atomic<size_t> next = 0;
    const auto work = [&] {
      for (size_t i = next++; i < round.size(); i = next++) {
        const ProcessTrace& process = run.processes[round[i]];
        ProcessContext context;
        context.peers = PeersOf(run, natures, round[i]);
        context.awaited =
            WaitsFor(process.identity.pid, {process.span_begin_ns, process.span_end_ns},
                     waits.at(process.identity.host));
        context.simulates = natures[round[i]].simulates;
        if (run.sums != nullptr) context.before = run.sums->Of(process.identity);
        Result<Outcome> outcome = outcome_of(process, context);
        if (outcome.ok()) {
          outcomes[round[i]] = std::move(*outcome);
        } else {
          errors[i] = outcome.error();
        }
      }
    };
    const size_t threads =
        std::min<size_t>(round.size(), std::max(1u, std::thread::hardware_concurrency()));
    std::vector<std::thread> helpers;
    for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
    for (std::thread& helper : helpers) helper.join();
    for (const std::optional<Error>& error : errors) {
      if (error) return *error;
    }
    for (const size_t p : round) {
      std::vector<NamedWait>& known = waits[run.processes[p].identity.host];
      known.insert(known.end(), outcomes[p].waits.begin(), outcomes[p].waits.end());
    }
  }
  return outcomes;
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESS_ROUNDS_H_
