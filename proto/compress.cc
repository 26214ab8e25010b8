// SPDX-License-Identifier: Apache-2.0
//
// See compress.h. zstd writes (bench/codec_bench.cc has the comparison); lz4 has no entropy stage
// and takes next to nothing off packed varints, so its number in the format is read as unknown.
#include "proto/compress.h"

#include <zstd.h>

namespace gpubound {
namespace {

// Higher levels search longer for repetitions that times do not have: level 3 takes 6 ns more per
// event and gives 0.02 bytes (bench/codec_bench.cc's stream).
constexpr int kLevel = 1;

// What the end of a block in the middle may add.
constexpr size_t kCutBytes = 64;

}  // namespace

Compressor::~Compressor() { ZSTD_freeCCtx(static_cast<ZSTD_CCtx*>(zstd_)); }

bool Compressor::Compress(ChunkCompression method, std::span<const std::byte> from, size_t cut,
                          ByteBuffer* to) noexcept {
  to->Clear();
  if (method != ChunkCompression::kZstd) return false;
  if (zstd_ == nullptr) zstd_ = ZSTD_createCCtx();
  auto* context = static_cast<ZSTD_CCtx*>(zstd_);
  if (context == nullptr || !to->Reserve(ZSTD_compressBound(from.size()) + kCutBytes)) return false;
  ZSTD_CCtx_reset(context, ZSTD_reset_session_only);
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setPledgedSrcSize(context, from.size());
  ZSTD_outBuffer out{to->data(), to->capacity(), 0};
  ZSTD_inBuffer in{from.data(), cut, 0};
  // Both calls return the bytes that are still to come: none, since |to| holds all of them.
  if (ZSTD_compressStream2(context, &out, &in, ZSTD_e_flush) != 0) return false;
  in.size = from.size();
  if (ZSTD_compressStream2(context, &out, &in, ZSTD_e_end) != 0) return false;
  to->SetSize(out.pos);
  return true;
}

Decompressor::~Decompressor() { ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(zstd_)); }

bool Decompressor::Decompress(ChunkCompression method, std::span<const std::byte> from,
                              size_t raw_bytes, ByteBuffer* to) noexcept {
  to->Clear();
  if (method != ChunkCompression::kZstd) return false;
  if (zstd_ == nullptr) zstd_ = ZSTD_createDCtx();
  if (zstd_ == nullptr || !to->Reserve(raw_bytes + 1)) return false;
  // One byte more than promised, so that a longer stream shows.
  const size_t size = ZSTD_decompressDCtx(static_cast<ZSTD_DCtx*>(zstd_), to->data(), raw_bytes + 1,
                                          from.data(), from.size());
  if (ZSTD_isError(size) != 0 || size != raw_bytes) return false;
  to->SetSize(size);
  return true;
}

}  // namespace gpubound
