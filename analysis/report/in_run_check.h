// SPDX-License-Identifier: Apache-2.0
//
// What a run itself says of the costs that calibration measured elsewhere: from how long CUPTI took
// to enter calls, and from iterations after the end of the recording. Plain values without a thread
// rule.
#ifndef GPUBOUND_ANALYSIS_REPORT_IN_RUN_CHECK_H_
#define GPUBOUND_ANALYSIS_REPORT_IN_RUN_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace gpubound {

inline constexpr char kScopes[] = "scopes";
inline constexpr char kCudaCalls[] = "CUDA calls";

// A cost that stays as calibration measured it, with a wider error, because this run could not
// check it.
struct UncheckedCost {
  std::string what;  // one of the two
  std::string why;
};

// Iterations behind the end of the recording beside as many of the last that were recorded.
struct LaterCheck {
  uint64_t iterations = 0;  // on either side; 0: there were too few
  std::string why_none;     // of a recording after which there could have been some
  int64_t recorded_ns = 0;  // length of an iteration as the recording ends, without drift
  int64_t later_ns = 0;     // ... and when it has ended
  // ... and as the recording ends, with the costs taken out that calibration says: what that is off
  // by is the difference from |later_ns|, with its standard error.
  int64_t calibrated_ns = 0;
  int64_t residual_error_ns = 0;
  std::string of;             // kScopes or kCudaCalls: the costs that make the difference
  double factor = 0;          // what they are in this run over what calibration says; 0: not known
  double standard_error = 0;  // of the factor
  bool used = false;          // the factor is the surer of the two and was applied
};

// How long CUPTI took to enter calls of the process, beside those of the calibration's programs.
struct EntryCheck {
  uint64_t calls = 0;  // that were timed and could be compared; 0: none, and nothing was changed
  double factor = 1;   // what calls cost over what calibration says, on average over these
};

struct InRunCheck {
  EntryCheck entries;
  LaterCheck later;
  std::vector<UncheckedCost> unchecked;  // last the one that later iterations could have checked
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_IN_RUN_CHECK_H_
