// SPDX-License-Identifier: Apache-2.0
//
// Text as a gzip stream of one block that is stored, so that each of its bytes has a place:
//
//     header (10) | 1 | size (2) | ~size (2) | text | CRC-32 (4) | size (4)
//
// Pure.
#ifndef GPUBOUND_TESTS_ANALYSIS_GZIP_TEXT_H_
#define GPUBOUND_TESTS_ANALYSIS_GZIP_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace gpubound::testing_support {

// |text| has less than 64 KiB.
inline std::string GzipText(std::string_view text) {
  std::string stream("\x1f\x8b\x08\0\0\0\0\0\0\x03\x01", 11);
  const auto append = [&stream](uint32_t number, int bytes) {
    for (int i = 0; i < bytes; ++i) stream += static_cast<char>(number >> 8 * i & 0xff);
  };
  const auto size = static_cast<uint32_t>(text.size());
  append(size, 2);
  append(~size, 2);
  stream += text;
  uint32_t crc = ~uint32_t{0};
  for (const char c : text) {
    crc ^= static_cast<uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
  }
  append(~crc, 4);
  append(size, 4);
  return stream;
}

}  // namespace gpubound::testing_support

#endif  // GPUBOUND_TESTS_ANALYSIS_GZIP_TEXT_H_
