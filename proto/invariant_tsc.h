// SPDX-License-Identifier: Apache-2.0
//
// Whether ticks of the time stamp counter are good for time: for the collector, which stamps scopes
// with them, and for the command that says it beforehand. Any thread.
#ifndef GPUBOUND_PROTO_INVARIANT_TSC_H_
#define GPUBOUND_PROTO_INVARIANT_TSC_H_

namespace gpubound {

// Whether the time stamp counter runs at one rate on every core and in every sleep state (CPUID
// 0x80000007, EDX bit 8) and the kernel itself has not found otherwise. 2.5 times cheaper to read
// than CLOCK_MONOTONIC (measured: 9.5 against 23.5 ns).
bool TscIsInvariant() noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_INVARIANT_TSC_H_
