// SPDX-License-Identifier: Apache-2.0
//
// Rows of a report about what threads did, and about ranks that run collectives. Plain data.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_RANK_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_RANK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpubound {

// What a thread did.
struct ReportActivity {
  std::string operation;
  std::string layer;
  int64_t ns = 0;
};

// A process on one of its devices, as a member of collectives. Concurrent kernels count each:
// comm_sum_ns = peer_wait_ns + moving_ns + unmatched_ns.
struct ReportRank {
  std::string host;
  int64_t pid = 0;
  std::string uuid;
  uint32_t ordinal = 0;
  uint64_t collectives = 0;
  int64_t comm_sum_ns = 0;
  int64_t peer_wait_ns = 0;   // until the last rank had entered
  int64_t moving_ns = 0;      // from then on
  int64_t unmatched_ns = 0;   // of collectives found on no other rank
  uint64_t late = 0;          // collectives that it was the last to enter
  int64_t waited_for_ns = 0;  // what the others waited in those, summed over them
  // More than a hundredth of peer_wait_ns rests on collectives that may be several, or on clocks of
  // hosts that may be off by that much; clocks may also have hidden waiting.
  bool peer_wait_is_upper_bound = false;
  bool peer_wait_is_lower_bound = false;
  bool late_is_doubtful = false;           // clocks may be off by half of waited_for_ns or more
  std::vector<ReportActivity> while_late;  // its reporting thread meanwhile, longest first
  std::optional<int64_t> rank = {};        // as the launcher calls it, where it did
  bool lacks_ranks = false;                // of its job: the last to enter may be one of them
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_RANK_H_
