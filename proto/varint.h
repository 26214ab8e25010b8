// SPDX-License-Identifier: Apache-2.0
//
// Packed columns of protobuf varints, many at a time: the inner loops of the chunk codec. Each loop
// exists in a portable form and in forms for newer processors, chosen at run time; all of them give
// the same bytes.
//
// Pure functions, any thread. Nothing allocates or throws.
#ifndef GPUBOUND_PROTO_VARINT_H_
#define GPUBOUND_PROTO_VARINT_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace gpubound {

inline constexpr size_t kMaxVarintBytes = 10;

// Bytes behind the last varint that a packer may overwrite, and values behind the last one that an
// unpacker may overwrite.
inline constexpr size_t kPackSlackBytes = 64;
inline constexpr size_t kUnpackSlackValues = 4;

struct VarintCodec {
  const char* name;

  // Writes |count| values in their shortest form to |out| and returns the end of them. |out| has
  // room for kMaxVarintBytes * count + kPackSlackBytes.
  uint8_t* (*pack)(const uint64_t* values, size_t count, uint8_t* out);

  // Reads |count| varints from [begin, end) into |values|, which has room for count +
  // kUnpackSlackValues, and returns the end of what it read; null if the input ends first or a
  // varint exceeds 64 bits. Never reads at or beyond |end|.
  const uint8_t* (*unpack)(const uint8_t* begin, const uint8_t* end, uint64_t* values,
                           size_t count);
};

// The codecs that this processor can run, slowest (portable) first. Static storage.
std::span<const VarintCodec> SupportedVarintCodecs();

// The last of them.
const VarintCodec& BestVarintCodec();

// How many varints end in [begin, end).
size_t CountVarints(const uint8_t* begin, const uint8_t* end);

// One varint, byte by byte: the reference for the others, and their way out for long values.
uint8_t* PutVarint(uint64_t value, uint8_t* out);
const uint8_t* GetVarint(const uint8_t* begin, const uint8_t* end, uint64_t* value);

constexpr size_t VarintSize(uint64_t value) {
  size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

// Signed values, small magnitude to small code, as protobuf's sint32 and sint64 have it.
constexpr uint64_t ZigZag(int64_t value) {
  return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}
constexpr int64_t UnZigZag(uint64_t code) {
  return static_cast<int64_t>((code >> 1) ^ (~(code & 1) + 1));
}

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_VARINT_H_
