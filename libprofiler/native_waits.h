// SPDX-License-Identifier: Apache-2.0
//
// Waits of native code: what the shim has noticed (shim/waits.c) becomes scopes of layer wait on
// threads that record, and wakes between such threads (proto/wake_tokens.h).
//
// A wait is stored once it is over. So what leaves it by cancellation, an exception or longjmp, or
// is killed in it, leaves nothing open; and what does not block costs no more than reading the
// clock. Any thread, also in signal handlers: no lock, no allocation, no system call but what a
// thread's buffer makes (thread_buffer.h) and, after a long read, fstat.
#ifndef GPUBOUND_LIBPROFILER_NATIVE_WAITS_H_
#define GPUBOUND_LIBPROFILER_NATIVE_WAITS_H_

#include <cstdint>

#include "libprofiler/interner.h"
#include "libprofiler/shim/wait_hooks.h"

namespace gpubound {

class ThreadBuffer;

// Looks where the code lies whose waits are nobody's: the interpreter's, and ours. Asks the dynamic
// linker, so never with a lock of ours held; after LookForPython().
void FindNativeWaiters();

// From here on waits are noticed, as far as the shim is there; |labels| outlives the process. Once
// for each recording, before its first thread gets a buffer.
void StartNativeWaits(Interner* labels);

// The recording has ended.
void StopNativeWaits() noexcept;

// In a fork child: nobody waits here.
void ForgetNativeWaits() noexcept;

// The calling thread, which had |buffer|, ends: whoever joins it goes on.
void WakeJoiners(ThreadBuffer* buffer) noexcept;

// The calling thread begins or ends a function of the device's runtime or driver: what it waits for
// in there is known by their records.
extern constinit thread_local uint32_t t_device_calls __attribute__((tls_model("initial-exec")));
inline void NoteDeviceCall(bool begins) noexcept {
  if (begins) {
    ++t_device_calls;
  } else if (t_device_calls != 0) {
    --t_device_calls;
  }
}

// For tests: what the shim is given.
const gpubound_wait_hooks* NativeWaitHooks() noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_NATIVE_WAITS_H_
