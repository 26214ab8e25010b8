// SPDX-License-Identifier: Apache-2.0
//
// When a CUDA call is behind other work, as the recorder tells such calls from others
// (cupti_hooks/cupti/entry_times.h) and as the report charges them. Plain data.
#ifndef GPUBOUND_PROTO_OTHER_WORK_H_
#define GPUBOUND_PROTO_OTHER_WORK_H_

#include <cstdint>

namespace gpubound {

// From so long behind the end of its thread's call before. What that one cost behind its end, some
// 1 us, is in that time. XLA, which launches one kernel behind the other, leaves 1.1 us between
// them (median, 86 % are below 3 us: tests/data/runs), eager PyTorch 12 us (19 %:
// tests/data/kineto/h100_qwen_chat).
inline constexpr int64_t kOtherWorkBeforeCallNs = 3'000;

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_OTHER_WORK_H_
