// SPDX-License-Identifier: Apache-2.0
#include "libprofiler/bystanders.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <optional>
#include <string>

#include "libprofiler/shim/shim_info.h"
#include "tests/libprofiler/temp_directory.h"

namespace gpubound {
namespace {

constexpr char kAddress[] = "7f0000000000-7f0000001000 r-xp 00000000 08:01 1234   ";

class BystandersTest : public testing::Test {
 protected:
  void Map(const std::string& path) {
    std::ofstream(maps_, std::ios::app) << kAddress << path << '\n';
  }
  // Twice, and at the end.
  void LookAs(uint32_t shim_flags) {
    start_.shim_flags = shim_flags;
    Begin();
    LookAgain();
    LookAgain();
    LookAtEnd();
  }
  void Begin() { bystanders_.emplace(start_, injected_, &tables_, &ledger_, maps_.c_str()); }
  void LookAgain() {
    bystanders_->LookNowAndThen(now_ns_);
    now_ns_ += Bystanders::kIntervalNs;
    tables_.CopyRowsSince(&positions_, &rows_);
  }
  void LookAtEnd() {
    bystanders_->LookAtEnd();
    tables_.CopyRowsSince(&positions_, &rows_);
  }
  uint64_t Count(LedgerCounter counter) { return counters_[static_cast<size_t>(counter)]; }

  TempDirectory directory_;
  const std::string maps_ = directory_.path() + "/maps";
  uint64_t counters_[kLiveMaxLedger] = {};
  Ledger ledger_{counters_};
  DeviceTables tables_{&ledger_};
  DeviceTablePositions positions_;
  DeviceTableRows rows_;
  ProcessStart start_{.realtime_ns = 1, .monotonic_ns = 500, .pid = 7};
  std::atomic<bool> injected_{false};
  std::optional<Bystanders> bystanders_;
  int64_t now_ns_ = 0;
};

TEST_F(BystandersTest, GraphicsDriversAreCountedOnceEach) {
  Map("/usr/lib/libGLX_nvidia.so.580.1");
  Map("/usr/lib/libGLX_nvidia.so.580.1");
  Map("/usr/lib/libEGL_nvidia.so.0");
  LookAs(0);
  EXPECT_EQ(Count(LedgerCounter::graphics_libraries_mapped), 2u);
}

TEST_F(BystandersTest, WhatAnApplicationLinksIsNoDriver) {
  Map("/usr/lib/libGL.so.1");
  Map("/home/me/libGLX_nvidia.so/notes.txt");
  Map("[heap]");
  LookAs(0);
  EXPECT_EQ(Count(LedgerCounter::graphics_libraries_mapped), 0u);
}

TEST_F(BystandersTest, AnotherToolsInjectionMakesGpuTimeUnknownOnceTheDriverIsThere) {
  Map("/usr/lib/libcuda.so.580.1");
  LookAs(GPUBOUND_SHIM_FOREIGN_CUDA_INJECTION);
  EXPECT_EQ(Count(LedgerCounter::cupti_held_by_other), 1u);
  ASSERT_EQ(rows_.unknowns.size(), 1u);
  EXPECT_EQ(rows_.unknowns[0].from_ns, 500);
  EXPECT_EQ(rows_.unknowns[0].to_ns, INT64_MAX);
  ASSERT_EQ(rows_.notes.size(), 1u);
  EXPECT_THAT(rows_.notes[0].text, testing::HasSubstr("CUDA_INJECTION64_PATH"));
}

TEST_F(BystandersTest, WithoutTheDriverThereIsNoGpuTimeToMiss) {
  Map("/usr/lib/libcudart.so.13");
  LookAs(GPUBOUND_SHIM_FOREIGN_CUDA_INJECTION);
  EXPECT_EQ(Count(LedgerCounter::cupti_held_by_other), 0u);
  EXPECT_TRUE(rows_.unknowns.empty());
}

TEST_F(BystandersTest, OurOwnInjectionLeavesGpuTimeKnown) {
  Map("/usr/lib/libcuda.so.580.1");
  LookAs(0);
  EXPECT_TRUE(rows_.unknowns.empty());
}

TEST_F(BystandersTest, CudaThatLoadedNobodyMakesGpuTimeUnknown) {
  Map("/dev/nvidia-uvm");
  LookAs(0);
  EXPECT_EQ(Count(LedgerCounter::cupti_unavailable), 1u);
  ASSERT_EQ(rows_.unknowns.size(), 1u);
  EXPECT_EQ(rows_.unknowns[0].from_ns, 500);
  EXPECT_EQ(rows_.unknowns[0].to_ns, INT64_MAX);
  ASSERT_EQ(rows_.notes.size(), 1u);
  EXPECT_THAT(rows_.notes[0].text, testing::HasSubstr("without CUDA_INJECTION64_PATH"));
}

TEST_F(BystandersTest, AProgramThatEndsSoonIsLookedAtOnce) {
  Begin();
  Map("/dev/nvidia-uvm");
  LookAtEnd();
  EXPECT_EQ(Count(LedgerCounter::cupti_unavailable), 1u);
}

TEST_F(BystandersTest, CudaThatIsJustBeingInitialisedIsNotYetSuspected) {
  Map("/dev/nvidia-uvm");
  Begin();
  LookAgain();
  injected_ = true;  // a moment later
  LookAgain();
  LookAtEnd();
  EXPECT_TRUE(rows_.unknowns.empty());
}

TEST_F(BystandersTest, CudaThatHasCalledUsLeavesGpuTimeKnown) {
  Map("/dev/nvidia-uvm");
  injected_ = true;
  LookAs(0);
  EXPECT_TRUE(rows_.unknowns.empty());
}

TEST_F(BystandersTest, WhoAsksNvmlAboutTheGpuDoesNotUseIt) {
  Map("/dev/nvidiactl");
  Map("/usr/lib/libcuda.so.580.1");
  LookAs(0);
  EXPECT_TRUE(rows_.unknowns.empty());
}

TEST_F(BystandersTest, AForkChildCannotUseTheCudaOfItsParent) {
  Map("/dev/nvidia-uvm");
  start_.forked = true;
  LookAs(0);
  EXPECT_TRUE(rows_.unknowns.empty());
}

TEST_F(BystandersTest, AForkChildCanUseCudaOfItsOwn) {
  start_.forked = true;
  Begin();
  LookAgain();
  Map("/dev/nvidia-uvm");
  LookAtEnd();
  EXPECT_EQ(rows_.unknowns.size(), 1u);
}

TEST_F(BystandersTest, AnotherToolsNvtxIsSaid) {
  LookAs(GPUBOUND_SHIM_FOREIGN_NVTX_INJECTION);
  EXPECT_EQ(Count(LedgerCounter::nvtx_not_injected), 1u);
}

TEST_F(BystandersTest, AnInterpreterThatIsOpenedPrivatelyIsNoticed) {
  Map("/opt/libpython/plugin.so");
  EXPECT_FALSE(ScanMaps(maps_.c_str()).python_library);
  Map("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0");
  Begin();
  LookAtEnd();
  EXPECT_TRUE(HasPython());
}

TEST_F(BystandersTest, APythonThatRunsWithoutTheHookIsSaidOnce) {
  LookAs(GPUBOUND_SHIM_NO_PYTHON_HOOK);
  EXPECT_EQ(Count(LedgerCounter::python_without_extension), 0u) << "as of a shell";
  NotePythonRuns();
  LookAs(GPUBOUND_SHIM_NO_PYTHON_HOOK);
  EXPECT_EQ(Count(LedgerCounter::python_without_extension), 1u);
  LookAs(0);
  EXPECT_EQ(Count(LedgerCounter::python_without_extension), 1u);
}

TEST_F(BystandersTest, LinesAcrossTheBlocksOfALongFileAreWhole) {
  for (int i = 0; i < 2000; ++i)
    Map("/usr/lib/python3/library-number-" + std::to_string(i) + ".so");
  Map("/usr/lib/libcuda.so.1");
  for (int i = 0; i < 2000; ++i)
    Map("/usr/lib/python3/further-library-" + std::to_string(i) + ".so");
  EXPECT_TRUE(ScanMaps(maps_.c_str()).cuda_driver);
}

TEST_F(BystandersTest, MapsThatCannotBeReadHoldNothing) {
  EXPECT_FALSE(ScanMaps("/nonexistent/maps").cuda_driver);
}

}  // namespace
}  // namespace gpubound
