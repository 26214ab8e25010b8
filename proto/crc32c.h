// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C (Castagnoli, reflected, as in iSCSI and ext4) over the stored body of a chunk.
// Pure functions, any thread.
#ifndef GPUBOUND_PROTO_CRC32C_H_
#define GPUBOUND_PROTO_CRC32C_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpubound {

// With the processor's instruction where it has one.
uint32_t Crc32c(std::span<const std::byte> bytes);

// Without it; the same result.
uint32_t Crc32cPortable(std::span<const std::byte> bytes);

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_CRC32C_H_
