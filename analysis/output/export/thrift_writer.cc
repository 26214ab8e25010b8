// SPDX-License-Identifier: Apache-2.0
//
// A field begins with one byte: its distance from the one before it, and its type. One object, one
// thread.
#include "analysis/output/export/thrift_writer.h"

#include "analysis/base/byte_column.h"
#include "proto/varint.h"

namespace gpubound {
namespace {

constexpr size_t kLongestShortList = 14;
constexpr unsigned kLongList = 0xf0;

}  // namespace

void ThriftWriter::Field(int id, Type type) {
  const auto step = static_cast<unsigned>(id - last_ids_.back());
  bytes_ += static_cast<char>(step << 4 | static_cast<unsigned>(type));
  last_ids_.back() = id;
}

void ThriftWriter::Integer(int id, Type type, int64_t value) {
  Field(id, type);
  AppendVarint(ZigZag(value), &bytes_);
}

void ThriftWriter::I32Element(int32_t value) { AppendVarint(ZigZag(value), &bytes_); }

void ThriftWriter::Binary(int id, std::string_view bytes) {
  Field(id, Type::kBinary);
  BinaryElement(bytes);
}

void ThriftWriter::BinaryElement(std::string_view bytes) {
  AppendVarint(bytes.size(), &bytes_);
  bytes_ += bytes;
}

void ThriftWriter::BeginStruct(int id) {
  Field(id, Type::kStruct);
  last_ids_.push_back(0);
}

void ThriftWriter::BeginList(int id, Type type, size_t size) {
  Field(id, Type::kList);
  if (size <= kLongestShortList) {
    bytes_ += static_cast<char>(size << 4 | static_cast<size_t>(type));
  } else {
    bytes_ += static_cast<char>(kLongList | static_cast<unsigned>(type));
    AppendVarint(size, &bytes_);
  }
}

void ThriftWriter::EndStruct() {
  bytes_ += '\0';
  last_ids_.pop_back();
}

}  // namespace gpubound
