// SPDX-License-Identifier: Apache-2.0
//
// Which libcupti is asked for hardware counters. What it answers, counters_test of
// tests/integration runs end to end.
#include "cupti_hooks/sampling/counter_source.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "cupti_hooks/sampling/pm_sampling_api.h"
#include "libprofiler/clock.h"
#include "tests/cupti_hooks/recording_host.h"

#if GPUBOUND_HAVE_PM_SAMPLING

namespace gpubound {
namespace {

constexpr int64_t kPlentyNs = 60'000'000'000;

std::string g_asked;
std::atomic<bool> g_was_asked{false};

bool Ask(const CuptiSearch& search, size_t*, CuptiApi*, std::string* why) {
  g_asked = search.override_path;
  g_was_asked = true;
  *why = "only asked";
  return false;
}

TEST(CounterSourceTest, AsksTheLibraryThatRecordsWhicheverWasLoadedFirst) {
  SetCuptiInUse("/toolkit/libcupti.so.13");
  RecordingHost host;
  host.devices_used = 1;
  CounterOptions options;
  options.library_path = "/chosen/libcupti.so.12";
  options.load = &Ask;
  CounterSource source(options);
  ASSERT_TRUE(source.Start(&host));
  while (!g_was_asked) std::this_thread::yield();
  source.Stop(static_cast<int64_t>(ReadMonotonicNs()) + kPlentyNs, AfterStop::kProgramEnds);
  EXPECT_EQ(g_asked, "/toolkit/libcupti.so.13");
}

TEST(CounterSourceTest, SaysWhyNothingWasSampledWhereWorkWasMissed) {
  for (const bool recorded : {false, true}) {
    SetCuptiInUse(recorded ? "/toolkit/libcupti.so.13" : "");
    RecordingHost host;
    CounterSource source(CounterOptions{});
    ASSERT_TRUE(source.Start(&host));
    source.Stop(static_cast<int64_t>(ReadMonotonicNs()) + kPlentyNs, AfterStop::kProgramEnds);
    EXPECT_EQ(host.CountOf(LedgerCounter::counters_unavailable), recorded ? 0u : 1u)
        << "a program that is recorded and used no GPU misses nothing";
  }
}

TEST(CounterSourceTest, SaysThatTheProgramWasTooShort) {
  SetCuptiInUse("/toolkit/libcupti.so.13");
  RecordingHost host;
  CounterOptions options;
  options.poll_ns = kPlentyNs;
  CounterSource source(options);
  ASSERT_TRUE(source.Start(&host));
  while (host.devices_asked == 0) std::this_thread::yield();
  host.devices_used = 1;  // as the last delivery tells
  source.Stop(static_cast<int64_t>(ReadMonotonicNs()) + kPlentyNs, AfterStop::kProgramEnds);
  EXPECT_EQ(host.CountOf(LedgerCounter::counters_unavailable), 1u);
}

}  // namespace
}  // namespace gpubound

#endif
