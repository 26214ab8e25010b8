// SPDX-License-Identifier: Apache-2.0
//
// GPUBOUND_LOG=debug: HOST.PID.START.log in the run directory says what the recorder chose in this
// process: the libcupti, the devices, the hooks, and why nothing was recorded. `gpubound doctor RUN`
// prints it. The shim begins the same file (libprofiler/shim/not_recorded.c).
//
// Off, a call costs a load and a branch; it is for what happens once or a few times in a process all
// the same. Each line opens the file, appends by one write and closes it, so that no descriptor of
// ours is in the program, and a fork child has nothing to put right. Any thread, also in a fork
// child whose parent held any lock: no lock, no allocation. Not from a signal handler.
#ifndef GPUBOUND_LIBPROFILER_DEBUG_LOG_H_
#define GPUBOUND_LIBPROFILER_DEBUG_LOG_H_

#include "libprofiler/process_info.h"

namespace gpubound {

// Lets DebugLog write into |run|, a run directory that is made if need be, where the environment
// asks for it. Again in a fork child, whose file is another one. Nothing is logged without |run|.
void StartDebugLog(const char* run, const ProcessStart& start) noexcept;

// Appends a line with the time since the process began and the thread. Control characters become
// spaces. errno stays.
void DebugLog(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_DEBUG_LOG_H_
