// SPDX-License-Identifier: Apache-2.0
//
// Counts what is lost, at the highest price. No state.
#include "analysis/correction/lost_costs.h"

#include <algorithm>
#include <cstdint>

#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

// Chunks say of the events in them how many they were at most, the recorder what it dropped.
uint64_t LostEvents(const ProcessTrace& process) {
  uint64_t lost = 0;
  for (const LedgerCounter counter :
       {LedgerCounter::chunk_events_lost, LedgerCounter::scope_events_dropped,
        LedgerCounter::device_records_dropped, LedgerCounter::cupti_records_dropped}) {
    lost += process.Counted(counter);
  }
  return lost;
}

double ShareOfSpan(const ProcessTrace& process, double ns) {
  const auto span_ns = static_cast<double>(process.span_end_ns - process.span_begin_ns);
  return span_ns > 0 ? ns / span_ns : 0;
}

}  // namespace

double MostCostOfLost(const ProcessTrace& process, CostModel costs) {
  const uint64_t lost = LostEvents(process);
  if (lost == 0) return 0;
  double dearest_ns = 0;
  const auto look_at = [&dearest_ns](const Cost* cost) {
    dearest_ns = std::max(dearest_ns, cost->total_ns());
  };
  costs.ForScopes(look_at);
  costs.ForInstants(look_at);
  if (process.MakesCalls()) costs.ForCalls(look_at);
  return static_cast<double>(lost) * dearest_ns;
}

std::string WhyNoCostsOf(const ProcessTrace& process, const CostModel& costs) {
  if (const std::string other = costs.WhyNotOf(process); !other.empty()) {
    return "the run's calibration was " + other;
  }
  const double share = ShareOfSpan(process, MostCostOfLost(process, costs));
  if (share <= kMostLostShare) return {};
  return "up to " + FormatCount(LostEvents(process)) +
         " of its events are lost, and recording them may have taken up to " +
         (share < 1 ? FormatShare(share) : "all") + " of its time";
}

}  // namespace gpubound
