// SPDX-License-Identifier: Apache-2.0
//
// The threads that we run inside somebody's program: each is detached, gets none of the program's
// signals, and is known as ours, so that it is not taken for one of the program's. Any thread; no
// lock.
#ifndef GPUBOUND_LIBPROFILER_OWN_THREADS_H_
#define GPUBOUND_LIBPROFILER_OWN_THREADS_H_

#include <cstdint>

namespace gpubound {

// Runs |work| with |argument| on a thread called |name|, a string of at most 15 characters that
// stays. False: none could be made.
bool StartOwnThread(const char* name, void* (*work)(void*), void* argument) noexcept;

// Whether |tid| is one of them, from when its work begins until it has ended.
bool IsOwnThread(uint32_t tid) noexcept;

// How many there are: none that the kernel does not count, but for what ends meanwhile.
int CountOwnThreads() noexcept;
// Grows with each of them that begins or ends.
uint64_t OwnThreadChanges() noexcept;

// In a fork child, which has none of them.
void ForgetOwnThreads() noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_OWN_THREADS_H_
