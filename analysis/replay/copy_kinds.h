// SPDX-License-Identifier: Apache-2.0
//
// Directions of copies that go over the link to the host. Constants.
#ifndef GPUBOUND_ANALYSIS_REPLAY_COPY_KINDS_H_
#define GPUBOUND_ANALYSIS_REPLAY_COPY_KINDS_H_

#include <cstdint>

namespace gpubound {

// Of CUpti_ActivityMemcpyKind, as WorkInfo::copy_kind has them.
inline constexpr uint8_t kCopyHostToDevice = 1;
inline constexpr uint8_t kCopyDeviceToHost = 2;

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_COPY_KINDS_H_
