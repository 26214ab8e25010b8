// SPDX-License-Identifier: Apache-2.0
//
// A result that a training is to reach, as a user writes it:
//
//   TARGET   METRIC >= VALUE [over N]     return>=450, loss<=0.1 over 50
//
// METRIC is a counter that the program records (gpubound.metric), in quotes where it has spaces or
// signs. The target is reached when the mean of its last N records is. Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_TARGET_H_
#define GPUBOUND_ANALYSIS_REPORT_TARGET_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "analysis/base/status.h"

namespace gpubound {

inline constexpr size_t kRecordsOfMean = 10;  // unless the user says another number

struct Target {
  std::string text;  // as it was written, without spaces around it
  std::string metric;
  bool at_least = true;  // else at most
  double value = 0;
  size_t records = kRecordsOfMean;  // that the mean is over

  bool IsReachedBy(double mean) const { return at_least ? mean >= value : mean <= value; }
  bool IsBetter(double mean, double than) const { return at_least ? mean > than : mean < than; }
};

Result<Target> ParseTarget(std::string_view text);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_TARGET_H_
