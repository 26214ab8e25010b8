// SPDX-License-Identifier: Apache-2.0
//
// Reads what NVTX hands over: messages of three kinds in a structure that grew over its versions,
// and wide strings. Pure functions over the caller's memory, which must be readable as NVTX
// documents.
#ifndef GPUBOUND_CUPTI_HOOKS_NVTX_NVTX_TEXT_H_
#define GPUBOUND_CUPTI_HOOKS_NVTX_NVTX_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

namespace gpubound {

// nvtxEventAttributes_t, whose header cannot be included in a header without its implementation.
// The layout is pinned against it in nvtx_text.cc.
struct NvtxEventAttributes {
  uint16_t version;
  uint16_t size;  // fields beyond it do not exist
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;
  int32_t reserved;
  uint64_t payload;
  int32_t message_type;
  int32_t padding;
  const void* message;
};

enum class NvtxMessageKind { kNone, kAscii, kWide, kRegistered };

struct NvtxMessage {
  NvtxMessageKind kind = NvtxMessageKind::kNone;
  const void* value = nullptr;  // const char*, const wchar_t* or a handle of ours; not null
};

// |attributes| may be null, of any version and any size.
NvtxMessage MessageOf(const NvtxEventAttributes* attributes);

// UTF-8 of a wide string; what is no character becomes U+FFFD. |text| may be null.
std::string Utf8Of(const wchar_t* text);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_NVTX_NVTX_TEXT_H_
