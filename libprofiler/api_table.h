// SPDX-License-Identifier: Apache-2.0
//
// The table of annotate/include/gpubound/api.h, filled with the recorder's functions. Any thread.
#ifndef GPUBOUND_LIBPROFILER_API_TABLE_H_
#define GPUBOUND_LIBPROFILER_API_TABLE_H_

#include "annotate/include/gpubound/api.h"

namespace gpubound {

// The table for this machine's clock: static storage, the same pointer at every call.
const gpubound_api* ApiTable() noexcept;

// Once the recording has ended and the program goes on: the table's begin and end do nothing from
// now on, for good. They are exchanged in the table, so that recording scopes costs nothing for it.
void StopRecordingScopes() noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_API_TABLE_H_
