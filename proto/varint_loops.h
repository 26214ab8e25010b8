// SPDX-License-Identifier: Apache-2.0
//
// The loops behind VarintCodec, declared for the table in varint.cc alone. Those for newer
// processors carry their target in their own attributes, so the library as a whole runs anywhere.
#ifndef GPUBOUND_PROTO_VARINT_LOOPS_H_
#define GPUBOUND_PROTO_VARINT_LOOPS_H_

#include <cstddef>
#include <cstdint>

namespace gpubound {

const uint8_t* UnpackOneByOne(const uint8_t* begin, const uint8_t* end, uint64_t* values,
                              size_t count);

#if defined(__x86_64__)
uint8_t* PackBmi2(const uint64_t* values, size_t count, uint8_t* out);
uint8_t* PackAvx512(const uint64_t* values, size_t count, uint8_t* out);
const uint8_t* UnpackBmi2(const uint8_t* begin, const uint8_t* end, uint64_t* values, size_t count);
const uint8_t* UnpackAvx512(const uint8_t* begin, const uint8_t* end, uint64_t* values,
                            size_t count);
#endif

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_VARINT_LOOPS_H_
