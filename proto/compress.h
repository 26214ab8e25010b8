// SPDX-License-Identifier: Apache-2.0
//
// Compression of chunk bodies. The only place that knows a compression library. Contexts are kept,
// so that repeated calls allocate nothing.
//
// Thread rule: one thread at a time per object.
#ifndef GPUBOUND_PROTO_COMPRESS_H_
#define GPUBOUND_PROTO_COMPRESS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/byte_buffer.h"
#include "proto/schema.h"

namespace gpubound {

class Compressor {
 public:
  Compressor() = default;
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Replaces |to| with |from| compressed. The first |cut| bytes and the rest are of different
  // nature and get statistics of their own; the result is one stream all the same. False: out of
  // memory, or |method| compresses nothing.
  bool Compress(ChunkCompression method, std::span<const std::byte> from, size_t cut,
                ByteBuffer* to) noexcept;

 private:
  void* zstd_ = nullptr;
};

class Decompressor {
 public:
  Decompressor() = default;
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Replaces |to| with exactly |raw_bytes| bytes. False: |from| is not such a stream, or out of
  // memory. |from| may be anything.
  bool Decompress(ChunkCompression method, std::span<const std::byte> from, size_t raw_bytes,
                  ByteBuffer* to) noexcept;

 private:
  void* zstd_ = nullptr;
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_COMPRESS_H_
