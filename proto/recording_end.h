// SPDX-License-Identifier: Apache-2.0
//
// How a recording ends while its program goes on, as table `meta` has it (end_how). Plain data.
#ifndef GPUBOUND_PROTO_RECORDING_END_H_
#define GPUBOUND_PROTO_RECORDING_END_H_

#include <string_view>

namespace gpubound {

inline constexpr char kDurationOver[] = "duration";
inline constexpr char kStepsOver[] = "steps";
constexpr bool EndsAsAsked(std::string_view how) {
  return how == kDurationOver || how == kStepsOver;
}

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_RECORDING_END_H_
