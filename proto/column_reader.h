// SPDX-License-Identifier: Apache-2.0
//
// Reads one packed column of a chunk, block by block, elided or not, and finds the offset of a
// value that is not what it should be.
//
// Thread rule: one thread at a time per object. Points into bytes that it does not own.
#ifndef GPUBOUND_PROTO_COLUMN_READER_H_
#define GPUBOUND_PROTO_COLUMN_READER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/varint.h"

namespace gpubound {

// Values are read in blocks of this many; a block's array has kUnpackSlackValues more.
inline constexpr size_t kReadBlock = 512;
using ValueBlock = uint64_t[kReadBlock + kUnpackSlackValues];

class ColumnReader {
 public:
  ColumnReader() = default;

  // A column that is always written out. |field_begin| is where its field begins: the place to name
  // when the column as a whole is wrong.
  ColumnReader(const VarintCodec* codec, std::span<const uint8_t> bytes, const uint8_t* field_begin)
      : codec_(codec),
        begin_(bytes.data()),
        next_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        field_begin_(field_begin) {}

  // All values are |common|.
  ColumnReader(uint64_t common, const uint8_t* field_begin)
      : field_begin_(field_begin), elided_(true), common_(common) {}

  // The next |count| values; |values| has room for kUnpackSlackValues more. False: the column ends
  // first, or a varint in it is malformed.
  bool Read(size_t count, uint64_t* values) {
    if (elided_) {
      std::fill(values, values + count, common_);
      return true;
    }
    if (count == 0) return true;
    const uint8_t* after = codec_->unpack(next_, end_, values, count);
    if (after == nullptr) return false;
    next_ = after;
    return true;
  }

  bool AtEnd() const { return next_ == end_; }
  bool elided() const { return elided_; }
  const uint8_t* begin() const { return begin_; }
  const uint8_t* end() const { return end_; }
  size_t size_bytes() const { return static_cast<size_t>(end_ - begin_); }
  const uint8_t* field_begin() const { return field_begin_; }

  // Where the first value lies that |is_wrong|, or that is malformed; the end if there is none.
  template <typename Predicate>
  const uint8_t* Find(Predicate is_wrong) const {
    const uint8_t* at = begin_;
    uint64_t value;
    for (size_t index = 0; at != end_; ++index) {
      const uint8_t* after = GetVarint(at, end_, &value);
      if (after == nullptr || is_wrong(index, value)) return at;
      at = after;
    }
    return at;
  }

 private:
  const VarintCodec* codec_ = nullptr;
  const uint8_t* begin_ = nullptr;
  const uint8_t* next_ = nullptr;
  const uint8_t* end_ = nullptr;
  const uint8_t* field_begin_ = nullptr;
  bool elided_ = false;
  uint64_t common_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_COLUMN_READER_H_
