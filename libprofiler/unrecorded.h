// SPDX-License-Identifier: Apache-2.0
//
// A process that had something to record and cannot be recorded: who reads the run is to know, and
// nobody else may be able to say so. Any thread, also in a fork child whose parent held any lock:
// no lock, no allocation.
#ifndef GPUBOUND_LIBPROFILER_UNRECORDED_H_
#define GPUBOUND_LIBPROFILER_UNRECORDED_H_

#include "libprofiler/process_info.h"

namespace gpubound {

// Leaves HOST.PID.START.unrecorded in the run directory, with |why|; where no file can be made, for
// lack of room or of descriptors, the directory's mode says that there is one (kUnrecordedMode).
// False where the process has
// one there already (of the shim's, libprofiler/shim/not_recorded.c): it has been said.
bool LeaveUnrecorded(const ProcessStart& start, const char* why) noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_UNRECORDED_H_
