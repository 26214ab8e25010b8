// SPDX-License-Identifier: Apache-2.0
//
// A source with its thread, over a scripted CUPTI. Nothing depends on how fast the thread is: each
// test ends with Stop, which waits. One test at a time.
#ifndef GPUBOUND_TESTS_CUPTI_HOOKS_CUPTI_SOURCE_FIXTURE_H_
#define GPUBOUND_TESTS_CUPTI_HOOKS_CUPTI_SOURCE_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "cupti_hooks/cupti/cupti_source.h"
#include "libprofiler/clock.h"
#include "tests/cupti_hooks/record_bytes.h"
#include "tests/cupti_hooks/recording_host.h"
#include "tests/cupti_hooks/scripted_cupti.h"

namespace gpubound {

inline constexpr int64_t kPlentyNs = 60'000'000'000;

inline ScriptedCupti* g_cupti = nullptr;
inline bool g_simulated = false;

inline int g_libraries = 1;          // how many there are to try
inline bool g_second_works = false;  // whatever the first said

inline bool LoadScripted(const CuptiSearch&, size_t* next, CuptiApi* api, std::string* why) {
  if (g_cupti == nullptr || *next >= static_cast<size_t>(g_libraries)) {
    *why = "no libcupti was found";
    return false;
  }
  ++*next;
  if (*next == 2 && g_second_works) g_cupti->answers.clear();
  *api = g_cupti->api();
  if (*next == 2) api->path = "libcupti-second.so";
  api->simulated_device = g_simulated;
  return true;
}

inline int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

class CuptiSourceFixture : public ::testing::Test {
 protected:
  explicit CuptiSourceFixture(uint32_t version = kCupti13_0) : cupti_(version) {
    g_cupti = &cupti_;
    g_simulated = false;
    g_libraries = 1;
    g_second_works = false;
    options_.load = &LoadScripted;
  }
  ~CuptiSourceFixture() override {
    // A worker that Stop gave up on still has to leave before what it uses is gone.
    while (source_ != nullptr && !source_->HasEnded()) std::this_thread::yield();
    source_.reset();
    g_cupti = nullptr;
  }

  bool Start() {
    source_ = std::make_unique<CuptiSource>(options_);
    before_start_ns_ = NowNs();
    return source_->Start(&host_);
  }
  void Stop(int64_t within_ns = kPlentyNs, AfterStop after = AfterStop::kProgramEnds) {
    source_->Stop(NowNs() + within_ns, after);
  }
  void Kernel(uint64_t start, uint64_t end) {
    cupti_.Emit(KernelBytes(kCupti13_0, "k", start, end));
  }
  void ExpectAllUnknownBecause(const std::string& reason) {
    ASSERT_EQ(host_.unknowns.size(), 1u);
    EXPECT_GE(host_.unknowns[0].from_ns, before_start_ns_);
    EXPECT_EQ(host_.unknowns[0].to_ns, INT64_MAX);
    EXPECT_THAT(host_.unknowns[0].reason, ::testing::HasSubstr(reason));
    EXPECT_THAT(host_.notes, ::testing::ElementsAre(::testing::HasSubstr(reason)));
  }

  ScriptedCupti cupti_;
  RecordingHost host_;
  CuptiOptions options_;
  std::unique_ptr<CuptiSource> source_;
  int64_t before_start_ns_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_CUPTI_HOOKS_CUPTI_SOURCE_FIXTURE_H_
