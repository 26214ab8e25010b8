// SPDX-License-Identifier: Apache-2.0
//
// CUPTI records as a given release writes them: bytes at the offsets and lengths that were measured
// on the headers of 11.4 to 13.0, written down as numbers. Deliberately not the structures of the
// headers that the code under test includes. Everything not set is 0xee, so that a reader that
// looks beyond what its version has, or at a neighbouring field, reads nonsense.
#ifndef GPUBOUND_TESTS_CUPTI_HOOKS_RECORD_BYTES_H_
#define GPUBOUND_TESTS_CUPTI_HOOKS_RECORD_BYTES_H_

#include <cstdint>
#include <cstring>
#include <vector>

namespace gpubound {

// What cuptiGetVersion says.
inline constexpr uint32_t kCupti11_8 = 18, kCupti12_0 = 19, kCupti12_4 = 22, kCupti12_6 = 24,
                          kCupti12_8 = 26, kCupti12_9 = 27, kCupti13_0 = 130001,
                          kCupti13_1 = 130100, kCupti13_5 = 130500;

// Values of CUpti_ActivityKind.
enum : uint32_t {
  kKindMemcpy = 1,
  kKindMemset = 2,
  kKindDriver = 4,
  kKindRuntime = 5,
  kKindDevice = 8,
  kKindContext = 9,
  kKindConcurrentKernel = 10,
  kKindOverhead = 17,
  kKindMemcpy2 = 22,
  kKindSynchronization = 38,
  kKindGraphTrace = 51,
  kKindGreenContext = 59,
  kKindMarker = 12,
  kKindKernelOfAKernel = 18,
  kKindOfTheFuture = 4711,
};

class RecordBytes {
 public:
  RecordBytes(uint32_t kind, size_t size) : bytes_(size, 0xee) { Set(0, kind); }
  template <typename T>
  RecordBytes& Set(size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof(value));
    return *this;
  }
  const std::vector<uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
};

// Bytes of a record of |kind| in |version|.
inline size_t RecordSize(uint32_t kind, uint32_t version) {
  switch (kind) {
    case kKindMemcpy:
      return version >= kCupti12_8 ? 96 : 88;
    case kKindMemset:
      return 88;
    case kKindDriver:
    case kKindRuntime:
      return 40;
    case kKindDevice:
      return version >= 20 ? 184 : 176;
    case kKindContext:
      return version >= 23 ? 32 : version >= kCupti12_4 ? 24 : 16;
    case kKindGreenContext:
      return 304;
    case kKindConcurrentKernel:
      return version >= 130100 ? 224 : version >= 130000 ? 216 : version >= kCupti12_0 ? 208 : 200;
    case kKindOverhead:
      return version >= 22 ? 56 : version >= 21 ? 48 : 40;
    case kKindMemcpy2:
      return 96;
    case kKindSynchronization:
      return version >= kCupti12_8 ? 56 : 40;
    case kKindGraphTrace:
      return version >= 21 ? 56 : 48;
    default:
      return 64;
  }
}

inline RecordBytes Blank(uint32_t kind, uint32_t version) {
  return RecordBytes(kind, RecordSize(kind, version));
}

inline RecordBytes ApiCallBytes(uint32_t version, uint32_t kind, uint32_t cbid, uint64_t start,
                                uint64_t end) {
  return Blank(kind, version)
      .Set(4, cbid)
      .Set<uint64_t>(8, start)
      .Set<uint64_t>(16, end)
      .Set<uint32_t>(24, 100)
      .Set<uint32_t>(28, 101)
      .Set<uint32_t>(32, 7)
      .Set<uint32_t>(36, 0);
}

inline RecordBytes KernelBytes(uint32_t version, const char* name, uint64_t start, uint64_t end) {
  return Blank(kKindConcurrentKernel, version)
      .Set<uint16_t>(6, 32)
      .Set<uint64_t>(16, start)
      .Set<uint64_t>(24, end)
      .Set<uint32_t>(40, 0)
      .Set<uint32_t>(44, 1)
      .Set<uint32_t>(48, 7)
      .Set<int32_t>(52, 4)
      .Set<int32_t>(56, 2)
      .Set<int32_t>(60, 1)
      .Set<int32_t>(64, 128)
      .Set<int32_t>(68, 1)
      .Set<int32_t>(72, 1)
      .Set<int32_t>(76, 1024)
      .Set<int32_t>(80, 2048)
      .Set<uint32_t>(92, 7)
      .Set<const char*>(104, name)
      .Set<uint64_t>(144, 0)
      .Set<uint32_t>(156, 0);
}

inline RecordBytes MemcpyBytes(uint32_t version, uint8_t copy_kind, uint64_t start, uint64_t end) {
  return Blank(kKindMemcpy, version)
      .Set<uint8_t>(4, copy_kind)
      .Set<uint64_t>(8, 4096)
      .Set<uint64_t>(16, start)
      .Set<uint64_t>(24, end)
      .Set<uint32_t>(32, 0)
      .Set<uint32_t>(36, 1)
      .Set<uint32_t>(40, 14)
      .Set<uint32_t>(44, 8)
      .Set<uint64_t>(64, 0)
      .Set<uint32_t>(72, 0);
}

// From device 0 to device 1, as the stream of |device| carries it out.
inline RecordBytes PeerCopyBytes(uint32_t version, uint32_t device) {
  return Blank(kKindMemcpy2, version)
      .Set<uint8_t>(4, 10)  // peer to peer
      .Set<uint64_t>(8, 4096)
      .Set<uint64_t>(16, 1000)
      .Set<uint64_t>(24, 3000)
      .Set<uint32_t>(32, device)
      .Set<uint32_t>(36, device + 1)
      .Set<uint32_t>(40, 13)
      .Set<uint32_t>(44, 0)
      .Set<uint32_t>(48, 1)
      .Set<uint32_t>(52, 1)
      .Set<uint32_t>(56, 2)
      .Set<uint32_t>(60, 9)
      .Set<uint64_t>(72, 0)
      .Set<uint32_t>(80, 0);
}

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_CUPTI_HOOKS_RECORD_BYTES_H_
