// SPDX-License-Identifier: Apache-2.0
//
// Packs and prints. No state beyond the object.
#include "analysis/base/byte_column.h"

namespace gpubound {

void AppendVarint(uint64_t value, std::string* bytes) {
  uint8_t packed[kMaxVarintBytes];
  const auto size = static_cast<size_t>(PutVarint(value, packed) - packed);
  bytes->append(reinterpret_cast<const char*>(packed), size);
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
