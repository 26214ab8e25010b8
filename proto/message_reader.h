// SPDX-License-Identifier: Apache-2.0
//
// Walks the fields of a protobuf message whose bytes may be anything: says where the first trouble
// is instead of throwing, and never reads past its end. protozero's reader throws and does not say
// where.
//
// Thread rule: one thread at a time per object. Points into bytes that it does not own.
#ifndef GPUBOUND_PROTO_MESSAGE_READER_H_
#define GPUBOUND_PROTO_MESSAGE_READER_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/varint.h"

namespace gpubound {

class MessageReader {
 public:
  enum class Trouble : uint8_t { kNone, kEndsEarly, kMalformed };
  enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  explicit MessageReader(std::span<const uint8_t> message)
      : next_(message.data()), end_(message.data() + message.size()), field_begin_(next_) {}

  // Steps to the next field. False: no more, or trouble.
  bool Next() {
    field_begin_ = next_;
    if (next_ == end_) return false;
    uint64_t tag;
    if (!Take(&tag)) return false;
    if (tag >> 32 != 0 || tag >> 3 == 0) return Stop(Trouble::kMalformed);
    field_ = static_cast<uint32_t>(tag >> 3);
    wire_type_ = static_cast<uint32_t>(tag & 7);
    switch (wire_type_) {
      case kVarint:
        return Take(&value_);
      case kBytes: {
        uint64_t size;
        return Take(&size) && Skip(size);
      }
      case kFixed64:
        return Skip(8);
      case kFixed32:
        return Skip(4);
      default:
        return Stop(Trouble::kMalformed);
    }
  }

  uint32_t field() const { return field_; }
  uint32_t wire_type() const { return wire_type_; }
  uint64_t value() const { return value_; }                    // of a varint
  std::span<const uint8_t> bytes() const { return bytes_; }    // of a length-delimited field
  const uint8_t* field_begin() const { return field_begin_; }  // of the current or troubled field
  Trouble trouble() const { return trouble_; }

 private:
  bool Take(uint64_t* value) {
    const uint8_t* after = GetVarint(next_, end_, value);
    if (after == nullptr) {
      const bool whole = CountVarints(next_, end_) != 0;  // it ended, but is too long
      return Stop(whole ? Trouble::kMalformed : Trouble::kEndsEarly);
    }
    next_ = after;
    return true;
  }
  bool Skip(uint64_t size) {
    if (size > static_cast<uint64_t>(end_ - next_)) return Stop(Trouble::kEndsEarly);
    bytes_ = {next_, static_cast<size_t>(size)};
    next_ += size;
    return true;
  }
  bool Stop(Trouble trouble) {
    trouble_ = trouble;
    next_ = end_;
    return false;
  }

  const uint8_t* next_;
  const uint8_t* end_;
  const uint8_t* field_begin_;
  uint32_t field_ = 0;
  uint32_t wire_type_ = 0;
  uint64_t value_ = 0;
  std::span<const uint8_t> bytes_;
  Trouble trouble_ = Trouble::kNone;
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_MESSAGE_READER_H_
