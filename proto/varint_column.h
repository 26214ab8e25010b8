// SPDX-License-Identifier: Apache-2.0
//
// One packed column in the making. Values come in blocks; as long as all of them are equal nothing
// is written, so that a column which says one thing costs nothing (`..._all` in proto/trace.proto).
//
// Thread rule: one thread at a time per object. Never throws.
#ifndef GPUBOUND_PROTO_VARINT_COLUMN_H_
#define GPUBOUND_PROTO_VARINT_COLUMN_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/byte_buffer.h"
#include "proto/varint.h"

namespace gpubound {

class VarintColumn {
 public:
  enum class Elision { kNever, kAllEqual };

  // Empties the column and makes room for |max_values|. False: out of memory.
  bool Begin(const VarintCodec* codec, Elision elision, size_t max_values);

  // Appends within the announced number.
  void Add(const uint64_t* values, size_t count);

  // The packed bytes; empty when the column is elided, and then all of its values are common().
  std::span<const uint8_t> bytes() const { return {buffer_.data(), buffer_.size()}; }
  uint64_t common() const { return all_equal_ ? common_ : 0; }

 private:
  void Pack(const uint64_t* values, size_t count);
  void WriteOutCommon();

  const VarintCodec* codec_ = nullptr;
  ByteBuffer buffer_;
  bool all_equal_ = false;
  uint64_t common_ = 0;
  size_t common_count_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_VARINT_COLUMN_H_
