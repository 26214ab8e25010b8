// SPDX-License-Identifier: Apache-2.0
//
// Sampling against the stand-in libnvidia-ml, whose script CMake sets: GPU 93 %, no power reading.
#include "cupti_hooks/sampling/utilization_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <thread>

#include "libprofiler/clock.h"
#include "tests/cupti_hooks/recording_host.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int64_t kPlentyNs = 60'000'000'000;

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

class UtilizationSourceTest : public ::testing::Test {
 protected:
  UtilizationSourceTest() {
    options_.nvml = GPUBOUND_TEST_NVML;
    options_.interval_ns = 1'000'000;
  }
  bool Start() {
    source_ = std::make_unique<UtilizationSource>(options_);
    return source_->Start(&host_);
  }
  void AwaitSamples(int count) {
    while (host_.samples < count) std::this_thread::yield();
  }
  void Stop() { source_->Stop(NowNs() + kPlentyNs, AfterStop::kProgramEnds); }

  UtilizationOptions options_;
  RecordingHost host_;
  std::unique_ptr<UtilizationSource> source_;
};

TEST_F(UtilizationSourceTest, SaysWhatNvmlSaysOfEachDevice) {
  const int64_t before = NowNs();
  ASSERT_TRUE(Start());
  AwaitSamples(3);
  Stop();
  const auto& [uuid, sample] = host_.utilization.at(0);
  EXPECT_EQ(uuid, "GPU-67707562-6f75-6e64-7369-6d0000000000");
  EXPECT_EQ(host_.utilization.at(1).first, "GPU-67707562-6f75-6e64-7369-6d0000000001");
  EXPECT_EQ(sample.gpu_percent, 93);
  EXPECT_EQ(sample.memory_percent, 20);
  EXPECT_EQ(sample.memory_used_bytes, 1 << 30);
  EXPECT_EQ(sample.sm_mhz, 1980);
  EXPECT_EQ(sample.memory_mhz, 2619);
  EXPECT_GE(sample.time_ns, before);
  EXPECT_EQ(host_.CountOf(LedgerCounter::nvml_unavailable), 0u);
}

TEST_F(UtilizationSourceTest, WhatTheDeviceDoesNotTellIsNotKnown) {
  ASSERT_TRUE(Start());
  AwaitSamples(1);
  Stop();
  EXPECT_EQ(host_.utilization.at(0).second.power_mw, kNotKnown);
}

TEST_F(UtilizationSourceTest, SaysWhoUsesEachDeviceOnce) {
  ASSERT_TRUE(Start());
  AwaitSamples(9);
  Stop();
  ASSERT_EQ(host_.clients.size(), 4u) << "this process and that of MPS, on two devices";
  const RecordingHost::Client& own = host_.clients[0];
  EXPECT_EQ(own.client.pid, static_cast<uint32_t>(getpid()));
  EXPECT_FALSE(own.client.through_mps);
  EXPECT_EQ(own.client.first_ns, host_.utilization.at(0).second.time_ns);
  EXPECT_EQ(own.uuid, host_.utilization.at(0).first);
  EXPECT_EQ(own.name, "utilization_sou");
  EXPECT_TRUE(host_.clients[1].client.through_mps);
  EXPECT_EQ(host_.clients[2].uuid, host_.utilization.at(1).first);
}

TEST_F(UtilizationSourceTest, GoesOnUntilItIsStopped) {
  ASSERT_TRUE(Start());
  AwaitSamples(30);
  Stop();
  const int samples = host_.samples;
  EXPECT_GE(host_.process_trees.size(), 9u);
  EXPECT_GT(host_.process_trees.back().resident_bytes, 0);
  Stop();
  EXPECT_EQ(host_.samples, samples);
}

TEST_F(UtilizationSourceTest, WithoutNvmlTheProcessTreeIsSampled) {
  options_.nvml = "/nowhere/libnvidia-ml.so.1";
  ASSERT_TRUE(Start());
  AwaitSamples(2);
  Stop();
  EXPECT_THAT(host_.utilization, IsEmpty());
  EXPECT_EQ(host_.CountOf(LedgerCounter::nvml_unavailable), 1u);
  EXPECT_THAT(host_.facts.at("nvml_unavailable"), HasSubstr("/nowhere/libnvidia-ml.so.1"));
  EXPECT_THAT(host_.notes, IsEmpty()) << "it is no failure of ours";
}

TEST_F(UtilizationSourceTest, ALibraryThatIsNoNvmlIsLeftAlone) {
  options_.nvml = "libm.so.6";
  ASSERT_TRUE(Start());
  AwaitSamples(1);
  Stop();
  EXPECT_EQ(host_.CountOf(LedgerCounter::nvml_unavailable), 1u);
}

TEST_F(UtilizationSourceTest, SwitchedOffItHasNoThread) {
  options_.interval_ns = 0;
  EXPECT_FALSE(Start());
  Stop();
  EXPECT_EQ(host_.samples, 0);
}

TEST_F(UtilizationSourceTest, MeasuresNoDeviceWork) {
  ASSERT_TRUE(Start());
  int64_t now = 0;
  EXPECT_FALSE(source_->records_device_work());
  EXPECT_FALSE(source_->ReadClock(&now));
  EXPECT_STREQ(source_->name(), "utilization");
  Stop();
}

TEST_F(UtilizationSourceTest, AForkChildHasNoThreadToWaitFor) {
  ASSERT_TRUE(Start());
  const pid_t child = fork();
  if (child == 0) {
    source_->AbandonInForkChild();
    source_->Stop(NowNs() + kPlentyNs, AfterStop::kProgramEnds);
    source_.reset();
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  Stop();
}

}  // namespace
}  // namespace gpubound
