// SPDX-License-Identifier: Apache-2.0
//
// Thrift's compact protocol, as far as the metadata of Parquet files needs it: structs, lists,
// integers and bytes. Fields are
// written in order of their ids, which are at most 15 apart. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_THRIFT_WRITER_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_THRIFT_WRITER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpubound {

class ThriftWriter {
 public:
  enum class Type : uint8_t { kI32 = 5, kI64 = 6, kBinary = 8, kList = 9, kStruct = 12 };

  // Fields of the innermost struct that is open, at first of the outermost.
  void I32(int id, int32_t value) { Integer(id, Type::kI32, value); }
  void I64(int id, int64_t value) { Integer(id, Type::kI64, value); }
  void Binary(int id, std::string_view bytes);
  void BeginStruct(int id);
  // A list of |size| elements follows, by the calls below; it needs no end.
  void BeginList(int id, Type type, size_t size);

  void I32Element(int32_t value);
  void BinaryElement(std::string_view bytes);
  void BeginStructElement() { last_ids_.push_back(0); }

  // Of the innermost struct that is open, an element likewise; once more for the outermost.
  void EndStruct();

  const std::string& bytes() const { return bytes_; }

 private:
  void Integer(int id, Type type, int64_t value);
  void Field(int id, Type type);

  std::string bytes_;
  std::vector<int> last_ids_{0};  // of the structs that are open
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_THRIFT_WRITER_H_
