// SPDX-License-Identifier: Apache-2.0
//
// A record is read no further than it is long in the release that wrote it: the last one of a
// buffer ends where the program's memory does.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tests/cupti_hooks/convert_fixture.h"

namespace gpubound {
namespace {

class ActivityBoundsTest : public ConvertFixture {
 protected:
  ActivityBoundsTest() : page_bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    void* const pages =
        mmap(nullptr, 2 * page_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return;
    page_ = static_cast<uint8_t*>(pages);
    mprotect(page_ + page_bytes_, page_bytes_, PROT_NONE);
  }
  ~ActivityBoundsTest() override {
    if (page_ != nullptr) munmap(page_, 2 * page_bytes_);
  }
  // Reading on behind |record| is a fault. How many records came of it.
  uint64_t ConvertAtTheEdge(const RecordBytes& record) {
    const size_t length = record.bytes().size();
    if (page_ == nullptr) return 0;
    uint8_t* const place = page_ + page_bytes_ - length;
    std::memcpy(place, record.bytes().data(), length);
    converter_.Convert(place, length);
    return converter_.TakeCounts().records;
  }

 private:
  const size_t page_bytes_;
  uint8_t* page_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(Cupti, ActivityBoundsTest, ReleasesOfCupti(), ReleaseName);

TEST_P(ActivityBoundsTest, OfDeviceWork) {
  EXPECT_EQ(ConvertAtTheEdge(KernelBytes(version(), "k", 1000, 2000)), 1u);
  EXPECT_EQ(ConvertAtTheEdge(MemcpyBytes(version(), 1, 1000, 2000)), 1u);
  EXPECT_EQ(ConvertAtTheEdge(PeerCopyBytes(version(), 0)), 2u) << "one for each end";
  EXPECT_EQ(ConvertAtTheEdge(Blank(kKindMemset, version())
                                 .Set<uint64_t>(16, 1000)
                                 .Set<uint64_t>(24, 2000)
                                 .Set<uint32_t>(32, 0)),
            1u);
  EXPECT_EQ(ConvertAtTheEdge(Blank(kKindGraphTrace, version())
                                 .Set<uint64_t>(8, 1000)
                                 .Set<uint64_t>(16, 2000)
                                 .Set<uint32_t>(24, 0)),
            1u);
}

TEST_P(ActivityBoundsTest, OfCallsAndOverheads) {
  constexpr uint32_t kLaunch = 211;
  EXPECT_EQ(ConvertAtTheEdge(ApiCallBytes(version(), kKindRuntime, kLaunch, 900, 950)), 1u);
  EXPECT_EQ(ConvertAtTheEdge(
                Blank(kKindOverhead, version()).Set<uint64_t>(24, 100).Set<uint64_t>(32, 200)),
            1u);
}

TEST_P(ActivityBoundsTest, OfDevicesAndContexts) {
  constexpr uint8_t kYes = 1;
  EXPECT_EQ(ConvertAtTheEdge(Blank(kKindDevice, version())
                                 .Set<uint32_t>(112, 0)
                                 .Set<const char*>(136, nullptr)
                                 .Set<uint8_t>(144, kYes)    // visible
                                 .Set<uint8_t>(145, kYes)),  // a slice: its uuid comes last
            1u);
  const bool tells = version() >= kCupti12_4;
  EXPECT_EQ(ConvertAtTheEdge(Blank(kKindContext, version())), tells ? 1u : 0u);
}

}  // namespace
}  // namespace gpubound
