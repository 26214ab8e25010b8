// SPDX-License-Identifier: Apache-2.0
//
// A process whose main thread called pthread_exit ends when its last thread does. Ours must not be
// the one that keeps it alive.
#ifndef GPUBOUND_LIBPROFILER_PROCESS_END_H_
#define GPUBOUND_LIBPROFILER_PROCESS_END_H_

namespace gpubound {

// True when the main thread has ended and none runs any more but the calling one and ours. Costs
// one small read from /proc while the main thread lives.
bool IsLastThread();

// Ends the process as the C library would have done with its last thread: exit(0), handlers
// included, on a thread made for it. Returns at once; the caller goes on serving until the exit
// handlers stop it.
void ExitAsLastThread();

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PROCESS_END_H_
