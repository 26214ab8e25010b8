// SPDX-License-Identifier: Apache-2.0
//
// See nvtx_text.h. NVTX's header is included without its implementation: we are the tool's side.
#include "cupti_hooks/nvtx/nvtx_text.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

namespace gpubound {

static_assert(sizeof(NvtxEventAttributes) == sizeof(nvtxEventAttributes_t) &&
              offsetof(NvtxEventAttributes, size) == offsetof(nvtxEventAttributes_t, size) &&
              offsetof(NvtxEventAttributes, payload) == offsetof(nvtxEventAttributes_t, payload) &&
              offsetof(NvtxEventAttributes, message_type) ==
                  offsetof(nvtxEventAttributes_t, messageType) &&
              offsetof(NvtxEventAttributes, message) == offsetof(nvtxEventAttributes_t, message));

NvtxMessage MessageOf(const NvtxEventAttributes* attributes) {
  constexpr size_t kNeeded = offsetof(NvtxEventAttributes, message) + sizeof(void*);
  if (attributes == nullptr || attributes->size < kNeeded || attributes->message == nullptr) {
    return {};
  }
  switch (attributes->message_type) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return {NvtxMessageKind::kAscii, attributes->message};
    case NVTX_MESSAGE_TYPE_UNICODE:
      return {NvtxMessageKind::kWide, attributes->message};
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return {NvtxMessageKind::kRegistered, attributes->message};
    default:
      return {};
  }
}

std::string Utf8Of(const wchar_t* text) {
  static_assert(sizeof(wchar_t) == 4, "wide strings are UTF-32 on Linux");
  constexpr uint32_t kReplacement = 0xfffd;
  std::string utf8;
  for (; text != nullptr && *text != L'\0'; ++text) {
    uint32_t c = static_cast<uint32_t>(*text);  // NOLINT(bugprone-signed-char-misuse): 4 bytes
    if (c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) c = kReplacement;
    if (c < 0x80) {
      utf8 += static_cast<char>(c);
      continue;
    }
    const int tail = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;  // bytes after the first
    const uint32_t head = tail == 1 ? 0xc0 : tail == 2 ? 0xe0 : 0xf0;
    utf8 += static_cast<char>(head | (c >> (6 * tail)));
    for (int i = tail - 1; i >= 0; --i) utf8 += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3f));
  }
  return utf8;
}

}  // namespace gpubound
