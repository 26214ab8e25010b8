// SPDX-License-Identifier: Apache-2.0
//
// How the fuzzer's input describes a chunk row: a byte of switches, then the body. The row's
// numbers are made to fit the body where the switches say so, because a fuzzer cannot guess a
// checksum.
#ifndef GPUBOUND_TESTS_FUZZ_FUZZ_CHUNK_H_
#define GPUBOUND_TESTS_FUZZ_FUZZ_CHUNK_H_

#include <cstdint>

namespace gpubound {

inline constexpr uint8_t kFuzzFamilyMask = 0x07;  // EventFamily, 1..6
inline constexpr uint8_t kFuzzCompressed = 0x08;  // the body is a zstd frame
inline constexpr uint8_t kFuzzHeaderBytes = 5;    // switches, then raw_bytes as 32 bits

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_FUZZ_FUZZ_CHUNK_H_
