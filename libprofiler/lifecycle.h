// SPDX-License-Identifier: Apache-2.0
//
// When this process records: from the first scope or the driver's injection call, over forks, to
// one of its ends. What the entry points (api_table.cc, and cupti_hooks' InitializeInjection and
// InitializeInjectionNvtx2) call. Every function may be called from any thread, at any time, any
// number of times; none throws; failure means that nothing is recorded.
//
//   kIdle ---first scope / cuInit---> kRecording ---finish---> kFinished
//                |                        | fork (with handlers)
//                | no run directory       v in the child
//                +-----> kFinished     kIdle   (its own start, its own files)
//
// A child made without fork handlers (_Fork, clone) stays kRecording without a collector, which
// every path treats as off: the anchor that leads to the parent's collector is wiped by the kernel.
// One whose parent had only begun to load us stays kIdle and is refused by its pid.
#ifndef GPUBOUND_LIBPROFILER_LIFECYCLE_H_
#define GPUBOUND_LIBPROFILER_LIFECYCLE_H_

#include <cstddef>

#include "libprofiler/device_source.h"

namespace gpubound {

class Collector;

// Stamps the start of the process unless a shim has, registers the fork handlers and the exit
// handler. The first thing that every entry point calls.
void LoadOnce() noexcept;

// A shim is in this process: it asked for the table of the API. Where none is found and none asks,
// LD_PRELOAD was set anew on the way, which the trace says.
void NoteShim() noexcept;

// The collector of this process; null before the recording begins, and in a fork child until its
// own begins.
Collector* CurrentCollector() noexcept;

// The same, starting the recording if it has not begun; null when nothing is recorded.
Collector* EnsureCollector() noexcept;

// Nothing will be recorded in this process any more, though it goes on.
bool RecordingIsOver() noexcept;

// Starts the recording of this process if it has not begun. The host through which sources and
// NVTX record, or null when nothing is recorded; it lives until the process ends.
DeviceHost* EnsureRecording() noexcept;

// For InitializeInjection, which the CUDA driver calls inside cuInit: ensures the recording, starts
// every device source of |factories| once per process, and then does what follows.
void StartDeviceSources(const DeviceSourceFactory* factories, size_t count) noexcept;

// Registers the exit handler again: handlers run newest first, and a library must not be called
// once its own have run. libcupti 13.0 crashes when it is.
void EndBeforeHandlersSoFar() noexcept;

// Gives up what the device sources hold of the device's profiling interface, for the library |to|;
// at most 2 s. The recording goes on without the device.
void YieldDevices(const char* to) noexcept;

// Ends the recording: stops the device sources (at most 2 s), writes everything out, closes the
// trace with meta.end_how = |how|, a string that stays. The first call has it done, the others wait
// for that; later events go nowhere.
void FinishRecording(const char* how) noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_LIFECYCLE_H_
