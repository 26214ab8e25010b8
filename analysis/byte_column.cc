// SPDX-License-Identifier: Apache-2.0
//
// Packs and prints. No state beyond the object.
#include "analysis/byte_column.h"

namespace gpubound {

void ByteColumn::Varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) Byte(static_cast<uint8_t>(value | 0x80));
  Byte(static_cast<uint8_t>(value));
}

void ByteColumn::Signed(int64_t value) {
  Varint((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
}

std::string ByteColumn::Base64() const {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes_.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes_.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes_.size() ? static_cast<uint8_t>(bytes_[i + k]) : 0u);
    }
    for (size_t digit = 0; digit < 4; ++digit) {
      const bool used = i + digit <= bytes_.size();
      text.push_back(used ? kDigits[group >> (18 - 6 * digit) & 0x3f] : '=');
    }
  }
  return text;
}

}  // namespace gpubound
