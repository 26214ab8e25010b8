// SPDX-License-Identifier: Apache-2.0
//
// Which counters a report may call "complete" beside.
#include "analysis/attribution/run_verdict.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <string>

#include "analysis/attribution/build_report.h"
#include "proto/ledger_counters.h"

namespace gpubound {
namespace {

// Each leaves figures as they are, or the report says beside them what they are (ledger_counters.h
// says of each which). A counter that is new here has to be one of these.
constexpr LedgerCounter kLosesNothing[] = {
    LedgerCounter::cupti_unavailable,
    LedgerCounter::cupti_api_errors,
    LedgerCounter::kernels_without_launch,
    LedgerCounter::scopes_open_at_end,
    LedgerCounter::names_truncated,
    LedgerCounter::clock_backwards,
    LedgerCounter::clock_error_bound_ns,
    LedgerCounter::live_mapping_unavailable,
    LedgerCounter::process_not_closed,
    LedgerCounter::events_salvaged,
    LedgerCounter::backpressure_waits,
    LedgerCounter::graphs_before_recording,
    LedgerCounter::graphics_libraries_mapped,
    LedgerCounter::simulated_device,
    LedgerCounter::api_calls_suppressed,
    LedgerCounter::graphs_recorded_whole,
    LedgerCounter::graphs_of_mixed_work,
    LedgerCounter::graph_nodes_not_kept,
    LedgerCounter::nvml_unavailable,
    LedgerCounter::hooks_installed,
    LedgerCounter::counters_unavailable,
    LedgerCounter::counter_samples_lost,
    LedgerCounter::detail_summed_ns,
    LedgerCounter::samples_dropped,
    LedgerCounter::processes_not_profiled,
    LedgerCounter::processes_unlisted,
    LedgerCounter::adopted_scopes,
    LedgerCounter::stack_looks,
    LedgerCounter::stack_looks_torn,
    LedgerCounter::stacks_unavailable,
};

std::string VerdictWith(LedgerCounter counter) {
  Run run;
  ProcessTrace& process = run.processes.emplace_back();
  process.identity.host = "host";
  process.span_end_ns = 1000;
  process.threads.resize(1);
  process.Count(counter) = 1;
  const Result<Report> report = BuildReport(run);
  return report.ok() ? report->run.verdict : report.error().ToString();
}

TEST(RunVerdict, IsCompleteBesideCountersThatLoseNothingAndNoOthers) {
  for (int i = 0; i < kLedgerCounterCount; ++i) {
    const auto counter = static_cast<LedgerCounter>(i);
    const bool loses_nothing = std::find(std::begin(kLosesNothing), std::end(kLosesNothing),
                                         counter) != std::end(kLosesNothing);
    EXPECT_EQ(VerdictWith(counter).starts_with("complete"), loses_nothing)
        << kLedgerCounters[i].name << ": " << VerdictWith(counter);
  }
}

}  // namespace
}  // namespace gpubound
