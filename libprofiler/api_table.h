// SPDX-License-Identifier: Apache-2.0
//
// The table of annotate/include/gpubound/api.h, filled with the recorder's functions. Any thread.
#ifndef GPUBOUND_LIBPROFILER_API_TABLE_H_
#define GPUBOUND_LIBPROFILER_API_TABLE_H_

#include <cstdint>

#include "annotate/include/gpubound/api.h"

namespace gpubound {

// The table for this machine's clock: static storage, the same pointer at every call.
const gpubound_api* ApiTable() noexcept;

// What the table's begin and end do (thread_buffer.h). They are exchanged in the table, so that
// recording scopes costs nothing for it.
enum class ScopeRoute : uint8_t {
  kRecorded,
  kUnrecorded,  // until the iteration ends
  kFollowed,    // nothing is any more, but open_scopes() goes on telling
};
void RouteScopes(ScopeRoute route) noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_API_TABLE_H_
