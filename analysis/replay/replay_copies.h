// SPDX-License-Identifier: Apache-2.0
//
// Several runs like the recorded one, begun at once on the same devices: each waits for slots of a
// device that others hold. Their CPU code disturbs nobody. Pure.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_COPIES_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_COPIES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/replay/replay.h"

namespace gpubound {

// How long process |of| takes in each of |copies| runs. |runs_beside|: as of SharedDevices. Of
// |options| the costs and the changes count. Errors are those of ReplayRun().
Result<std::vector<int64_t>> ReplayCopies(const Run& run, const ReplayOptions& options, size_t of,
                                          size_t copies, uint32_t runs_beside);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_COPIES_H_
