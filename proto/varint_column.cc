// SPDX-License-Identifier: Apache-2.0
//
// See varint_column.h.
#include "proto/varint_column.h"

#include <algorithm>

namespace gpubound {

bool VarintColumn::Begin(const VarintCodec* codec, Elision elision, size_t max_values) {
  codec_ = codec;
  buffer_.Clear();
  all_equal_ = elision == Elision::kAllEqual;
  common_ = 0;
  common_count_ = 0;
  return buffer_.Reserve(kMaxVarintBytes * max_values + kPackSlackBytes);
}

void VarintColumn::Add(const uint64_t* values, size_t count) {
  if (count == 0) return;
  if (all_equal_) {
    if (common_count_ == 0) common_ = values[0];
    uint64_t difference = 0;
    for (size_t i = 0; i < count; ++i) difference |= values[i] ^ common_;
    if (difference == 0) {
      common_count_ += count;
      return;
    }
    WriteOutCommon();
  }
  Pack(values, count);
}

void VarintColumn::WriteOutCommon() {
  all_equal_ = false;
  uint64_t run[64];
  std::fill(std::begin(run), std::end(run), common_);
  while (common_count_ != 0) {
    const size_t count = std::min(common_count_, std::size(run));
    Pack(run, count);
    common_count_ -= count;
  }
}

void VarintColumn::Pack(const uint64_t* values, size_t count) {
  uint8_t* end = codec_->pack(values, count, buffer_.data() + buffer_.size());
  buffer_.SetSize(static_cast<size_t>(end - buffer_.data()));
}

}  // namespace gpubound
