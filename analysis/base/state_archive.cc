// SPDX-License-Identifier: Apache-2.0
//
// Numbers and texts of an archive. One object, one thread.
#include "analysis/base/state_archive.h"

#include "proto/varint.h"

namespace gpubound {

void StateArchive::Value(std::string& text) {
  const size_t length = Count(text.size());
  if (reads_) {
    text.assign(rest_.substr(0, length));
    rest_.remove_prefix(length);
  } else {
    written_ += text;
  }
}

size_t StateArchive::Count(size_t size) {
  uint64_t count = size;
  Value(count);
  if (!reads_) return size;
  if (count <= rest_.size()) return static_cast<size_t>(count);
  Fail();
  return 0;
}

int64_t StateArchive::ReadNumber() {
  const auto* begin = reinterpret_cast<const uint8_t*>(rest_.data());
  uint64_t code = 0;
  const uint8_t* end = failed_ ? nullptr : GetVarint(begin, begin + rest_.size(), &code);
  if (end == nullptr) {
    Fail();
    return 0;
  }
  rest_.remove_prefix(static_cast<size_t>(end - begin));
  return UnZigZag(code);
}

void StateArchive::WriteNumber(int64_t value) {
  uint8_t bytes[kMaxVarintBytes];
  const uint8_t* end = PutVarint(ZigZag(value), bytes);
  written_.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(end - bytes));
}

}  // namespace gpubound
