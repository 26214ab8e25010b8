// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's newer interface, in which every call names its subscriber and several tools record at
// once (CUDA 13.3, driver branch 610). It excludes the older one in the same process, so it is used
// where another tool has opened CUPTI that way already, or where the user asks for it.
//
// The table that comes out has the functions of the older interface in front of the newer ones, so
// that nothing else needs to know. One at a time in a process, like CUPTI's own callbacks; calls
// through it may come from any thread.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_SHARED_CUPTI_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_SHARED_CUPTI_H_

#include "cupti_hooks/cupti/cupti_api.h"

namespace gpubound {

// The interface is there in full. Below 13.3 it was not finished.
bool CanShareCupti(const CuptiApi& api);

// Another tool has opened CUPTI to several.
bool IsCuptiShared(const CuptiApi& api);

// |api| must be one that CanShareCupti. Subscribing through the result opens CUPTI to several
// tools. A flush through it is never forced: CUPTI flushes all tools' buffers alike, and a forced
// flush takes from the others the records of what still runs.
CuptiApi SharedCupti(const CuptiApi& api);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_SHARED_CUPTI_H_
