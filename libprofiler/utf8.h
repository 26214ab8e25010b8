// SPDX-License-Identifier: Apache-2.0
//
// Cuts names to the length that is stored, without leaving half a character. Pure.
#ifndef GPUBOUND_LIBPROFILER_UTF8_H_
#define GPUBOUND_LIBPROFILER_UTF8_H_

#include <cstddef>
#include <string_view>

namespace gpubound {

// The longest prefix of |text| that has at most |max_bytes| and does not end inside a UTF-8
// sequence. Bytes that are no UTF-8 are kept as they are.
inline std::string_view CutUtf8(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  constexpr size_t kLongestSequence = 4;
  for (size_t back = 0; back < kLongestSequence && back <= max_bytes; ++back) {
    const size_t end = max_bytes - back;
    const bool continuation = (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80;
    if (!continuation) return text.substr(0, end);
  }
  return text.substr(0, max_bytes);
}

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_UTF8_H_
