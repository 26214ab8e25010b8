// SPDX-License-Identifier: Apache-2.0
//
// What a what-if makes of threads beside the reporting one, on traces written down as text: those
// that wait move with it, those that work take the time that they take.
#include <gtest/gtest.h>

#include <string>

#include "analysis/replay/replay.h"
#include "analysis/replay/what_if.h"
#include "tests/golden/scenario.h"

namespace gpubound {
namespace {

constexpr int64_t kIterationNs = 1'000'000;
constexpr int kIterations = 10;

// Iterations of 1 ms: 400 us of simulation, then a kernel of 500 us that the thread waits for.
std::string Loop() {
  std::string text;
  int correlation = 0;
  for (int64_t begin = 0; begin < kIterations * kIterationNs; begin += kIterationNs) {
    const auto at = [begin](int64_t us) { return std::to_string(begin + 1000 * us); };
    const std::string launch = " #" + std::to_string(++correlation) + "\n";
    const std::string sync = " #" + std::to_string(++correlation) + "\n";
    text += "@" + at(0) + " main begin operation simulation\n";
    text += "@" + at(400) + " main end operation simulation\n";
    text += "@" + at(400) + " main begin operation backpropagation\n";
    text += "call main " + at(410) + " " + at(420) + " cudaLaunchKernel" + launch;
    text += "call main " + at(430) + " " + at(940) + " cudaDeviceSynchronize" + sync;
    text += "kernel " + at(430) + " " + at(930) + " k" + launch;
    text += "@" + at(990) + " main end operation backpropagation\n";
  }
  return text;
}

std::string Event(int64_t us, const std::string& what) {
  return "@" + std::to_string(1000 * us) + " " + what + "\n";
}

// The loop of the main thread, beside |other| of a second one; the length of the whole where device
// work takes no time.
double WithoutDeviceMs(const std::string& other, const std::string& loop = Loop()) {
  golden::Scenario scenario =
      golden::ParseScenario("span 0 10000000\nthread main\nthread other\n" + loop + other);
  EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
  ReplayOptions options;
  const Result<Scaling> free_device = ParseScaling("device:0");
  EXPECT_TRUE(free_device.ok());
  options.changes.scalings = {*free_device};
  const Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
  EXPECT_TRUE(replayed.ok());
  const ReplayFacts& facts = (*replayed).facts.at(0);
  return static_cast<double>(facts.span_end_ns - facts.span_begin_ns) / 1e6;
}

double Alone() { return WithoutDeviceMs(""); }

TEST(ParkedThreadTest, TheLoopAloneIsAsFastAsItsCpuPart) { EXPECT_NEAR(Alone(), 5.0, 0.2); }

TEST(ParkedThreadTest, AFunctionThatOnlyWaitsIsNoFloor) {
  EXPECT_DOUBLE_EQ(WithoutDeviceMs(Event(0, "other begin layer python:threading.wait") +
                                   Event(10'000, "other end layer python:threading.wait")),
                   Alone());
}

TEST(ParkedThreadTest, WorkNowAndThenMovesWithTheLoop) {
  std::string logging;
  for (int64_t i = 0; i < kIterations; ++i) {
    logging += Event(1000 * i + 100, "other begin operation logging");
    logging += Event(1000 * i + 150, "other end operation logging");
  }
  EXPECT_DOUBLE_EQ(WithoutDeviceMs(logging), Alone());
}

TEST(ParkedThreadTest, AnActorThatWorksThroughoutIsAFloor) {
  std::string acting;
  for (int64_t i = 0; i < 2 * kIterations; ++i) {
    acting += Event(500 * i, "other begin operation acting");
    acting += Event(500 * i + 490, "other end operation acting");
  }
  EXPECT_NEAR(WithoutDeviceMs(acting), 10.0, 0.02);
}

TEST(ParkedThreadTest, SoIsAFrameworkOrSimulatorAtWork) {
  for (const std::string layer : {"backend", "simulator"}) {
    EXPECT_NEAR(WithoutDeviceMs(Event(0, "other begin layer " + layer + ":work") +
                                Event(10'000, "other end layer " + layer + ":work")),
                10.0, 0.02)
        << layer;
  }
}

// Two iterations of 5 ms, of which the thread waits 4.5 ms for a kernel.
std::string LoopOfLongWaits() {
  std::string text;
  for (int64_t i = 0; i < 2; ++i) {
    const auto at = [i](int64_t us) { return std::to_string(1000 * (5000 * i + us)); };
    const std::string launch = " #" + std::to_string(2 * i + 1) + "\n";
    const std::string sync = " #" + std::to_string(2 * i + 2) + "\n";
    text += "@" + at(0) + " main begin operation backpropagation\n";
    text += "call main " + at(200) + " " + at(210) + " cudaLaunchKernel" + launch;
    text += "call main " + at(300) + " " + at(4800) + " cudaDeviceSynchronize" + sync;
    text += "kernel " + at(220) + " " + at(4790) + " k" + launch;
    text += "@" + at(4900) + " main end operation backpropagation\n";
  }
  return text;
}

// What happens now and then while another thread sits in one call says nothing of how long that
// call has to be.
TEST(ParkedThreadTest, WorkNowAndThenIsNoFloorUnderALongCall) {
  const double alone = WithoutDeviceMs("", LoopOfLongWaits());
  EXPECT_LT(alone, 1.3);
  std::string logging;
  std::string sampling;
  std::string flushing;
  std::string waiting;
  for (int64_t us = 100; us < 10'000; us += 500) {
    logging +=
        Event(us, "other begin operation logging") + Event(us + 5, "other end operation logging");
    sampling += Event(us, "other phase sampling");
    const std::string begin = std::to_string(1000 * us);
    const std::string end = std::to_string(1000 * (us + 5));
    flushing += "overhead other " + begin + " " + end + " CUPTI_BUFFER_FLUSH\n";
    waiting += Event(us, "other begin layer wait:time.sleep") +
               Event(us + 495, "other end layer wait:time.sleep");
  }
  EXPECT_DOUBLE_EQ(WithoutDeviceMs(sampling, LoopOfLongWaits()), alone);
  EXPECT_DOUBLE_EQ(WithoutDeviceMs(flushing, LoopOfLongWaits()), alone);
  EXPECT_DOUBLE_EQ(WithoutDeviceMs(waiting, LoopOfLongWaits()), alone);
  EXPECT_NEAR(WithoutDeviceMs(logging, LoopOfLongWaits()), alone, 0.1);
}

}  // namespace
}  // namespace gpubound
