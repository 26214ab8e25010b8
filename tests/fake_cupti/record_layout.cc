// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_cupti/record_layout.h"

#include <cupti.h>

namespace gpubound::sim {
namespace {

// Values of cuptiGetVersion from which a longer record is written.
constexpr uint32_t kCuda12_0 = 19;
constexpr uint32_t kCuda12_2 = 20;
constexpr uint32_t kCuda12_3 = 21;
constexpr uint32_t kCuda12_4 = 22;
constexpr uint32_t kCuda12_5 = 23;
constexpr uint32_t kCuda12_8 = 26;
constexpr uint32_t kCuda13_0 = 130000;
constexpr uint32_t kCuda13_1 = 130100;
constexpr uint32_t kCuda13_2 = 130200;
constexpr uint32_t kCuda13_4 = 130400;
constexpr uint32_t kCuda13_5 = 130500;

static_assert(sizeof(CUpti_ActivityAPI) == 40);
static_assert(sizeof(CUpti_ActivityKernel10) == 216);
static_assert(sizeof(CUpti_ActivityMemcpy6) == 96);
static_assert(sizeof(CUpti_ActivityMemcpyPtoP4) == 96);
static_assert(sizeof(CUpti_ActivityMemset4) == 88);
static_assert(sizeof(CUpti_ActivitySynchronization2) == 56);
static_assert(sizeof(CUpti_ActivityOverhead3) == 56);
static_assert(sizeof(CUpti_ActivityGraphTrace2) == 56);
static_assert(sizeof(CUpti_ActivityDevice5) == 184);
static_assert(sizeof(CUpti_ActivityContext3) == 32);

}  // namespace

size_t RecordBytes(uint32_t kind, uint32_t version) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER:
      return 40;
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      // Kernel8, then Kernel9 to Kernel13, as the headers of 13.5 have them.
      return version >= kCuda13_5   ? 248
             : version >= kCuda13_4 ? 232
             : version >= kCuda13_1 ? 224
             : version >= kCuda13_0 ? 216
             : version >= kCuda12_0 ? 208
                                    : 200;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return version >= kCuda13_5 ? 112 : version >= kCuda12_8 ? 96 : 88;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return 96;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return version >= kCuda13_5 ? 104 : 88;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return version >= kCuda12_8 ? 56 : 40;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return version >= kCuda12_4 ? 56 : version >= kCuda12_3 ? 48 : 40;
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return version >= kCuda13_5 ? 80 : version >= kCuda12_8 ? 56 : 24;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return version >= kCuda12_3 ? 56 : 48;
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return version >= kCuda13_2 ? 192 : version >= kCuda12_2 ? 184 : 176;
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return version >= kCuda12_5 ? 32 : version >= kCuda12_4 ? 24 : 16;
    case kGreenContextKind:
      return version >= kCuda13_5 ? 304 : 168;
    case CUPTI_ACTIVITY_KIND_STREAM:
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return 24;
    case kUnknownKind:
      return 48;
    default:
      return 0;
  }
}

}  // namespace gpubound::sim
