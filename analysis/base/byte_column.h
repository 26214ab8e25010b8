// SPDX-License-Identifier: Apache-2.0
//
// A column of small integers as text: varints (seven bits a byte, lowest first, the eighth says
// that more follow), packed to base64. What the report page carries its timeline in. Plain value.
#ifndef GPUBOUND_ANALYSIS_BASE_BYTE_COLUMN_H_
#define GPUBOUND_ANALYSIS_BASE_BYTE_COLUMN_H_

#include <cstdint>
#include <string>

#include "proto/varint.h"

namespace gpubound {

void AppendVarint(uint64_t value, std::string* bytes);

class ByteColumn {
 public:
  void Byte(uint8_t value) { bytes_.push_back(static_cast<char>(value)); }
  void Varint(uint64_t value) { AppendVarint(value, &bytes_); }
  // Small magnitudes of either sign: 0, -1, 1, -2 ... become 0, 1, 2, 3 ...
  void Signed(int64_t value) { Varint(ZigZag(value)); }
  const std::string& bytes() const { return bytes_; }
  std::string Base64() const;

 private:
  std::string bytes_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_BYTE_COLUMN_H_
