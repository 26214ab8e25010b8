// SPDX-License-Identifier: Apache-2.0
//
// The device model on virtual time: every start and end is a number that one can work out by hand.
#include "tests/sim/sim_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace gpubound::sim {
namespace {

using ::testing::ElementsAre;
using Interval = std::pair<TimeNs, TimeNs>;

DeviceModelConfig NoLatency() {
  DeviceModelConfig config;
  config.launch_latency_ns = 0;
  config.copy_fixed_ns = 0;
  config.copy_bytes_per_ns = 1.0;
  return config;
}

class SimDeviceTest : public ::testing::Test {
 protected:
  explicit SimDeviceTest(const DeviceModelConfig& config = NoLatency()) { Use(config); }

  void Use(const DeviceModelConfig& config) {
    device_ = std::make_unique<SimDevice>(config);
    device_->set_on_complete([this](const Op& op) {
      order_.push_back(op.name);
      ran_[op.name] = {op.start_ns, op.end_ns};
    });
  }
  StreamIndex Stream(uint32_t device = 0) { return device_->CreateStream(device, true); }
  StreamIndex NonBlockingStream() { return device_->CreateStream(0, false); }

  OpId Kernel(StreamIndex stream, const std::string& name, TimeNs duration, TimeNs now) {
    return device_->Submit(stream, Spec(name, duration), now);
  }
  OpId Copy(StreamIndex stream, const std::string& name, uint8_t copy_kind, TimeNs duration,
            TimeNs now) {
    OpSpec spec = Spec(name, duration);
    spec.kind = OpKind::kMemcpy;
    spec.work.copy_kind = copy_kind;
    return device_->Submit(stream, std::move(spec), now);
  }
  static OpSpec Spec(const std::string& name, TimeNs duration) {
    OpSpec spec;
    spec.name = name;
    spec.duration_ns = duration;
    return spec;
  }
  // Lets everything run; returns the time at which the device fell idle.
  TimeNs RunToIdle() {
    while (const auto next = device_->NextEventNs()) device_->Advance(*next);
    EXPECT_TRUE(device_->Idle());
    return device_->now();
  }
  Interval Ran(const std::string& name) { return ran_.at(name); }

  std::unique_ptr<SimDevice> device_;
  std::vector<std::string> order_;
  std::map<std::string, Interval> ran_;
};

TEST_F(SimDeviceTest, OperationsOfOneStreamRunOneAfterTheOther) {
  const StreamIndex stream = Stream();
  Kernel(stream, "first", 100, 10);
  Kernel(stream, "second", 50, 20);
  EXPECT_EQ(RunToIdle(), 160);
  EXPECT_EQ(Ran("first"), Interval(10, 110));
  EXPECT_EQ(Ran("second"), Interval(110, 160));
}

TEST_F(SimDeviceTest, StreamsOverlap) {
  Kernel(Stream(), "a", 100, 0);
  Kernel(Stream(), "b", 100, 30);
  RunToIdle();
  EXPECT_EQ(Ran("a"), Interval(0, 100));
  EXPECT_EQ(Ran("b"), Interval(30, 130));
}

TEST_F(SimDeviceTest, ComputeSlotsBoundTheOverlap) {
  DeviceModelConfig config = NoLatency();
  config.compute_slots = 2;
  Use(config);
  for (const char* name : {"a", "b", "c"}) Kernel(Stream(), name, 100, 0);
  RunToIdle();
  EXPECT_EQ(Ran("b"), Interval(0, 100));
  EXPECT_EQ(Ran("c"), Interval(100, 200));
}

TEST_F(SimDeviceTest, CopiesOfOneDirectionShareAnEngine) {
  Copy(Stream(), "to device", 1, 100, 0);
  Copy(Stream(), "also to device", 1, 100, 0);
  Copy(Stream(), "from device", 2, 100, 0);
  RunToIdle();
  EXPECT_EQ(Ran("to device"), Interval(0, 100));
  EXPECT_EQ(Ran("also to device"), Interval(100, 200));
  EXPECT_EQ(Ran("from device"), Interval(0, 100));
}

TEST_F(SimDeviceTest, LaunchLatencyDelaysAnIdleDeviceOnly) {
  DeviceModelConfig config = NoLatency();
  config.launch_latency_ns = 5;
  Use(config);
  const StreamIndex stream = Stream();
  Kernel(stream, "first", 100, 0);
  Kernel(stream, "queued", 100, 1);
  RunToIdle();
  EXPECT_EQ(Ran("first"), Interval(5, 105));
  EXPECT_EQ(Ran("queued"), Interval(105, 205));
}

TEST_F(SimDeviceTest, DurationsComeFromTheScriptByName) {
  DeviceModelConfig config = NoLatency();
  config.kernel_ns = 7;
  config.kernel_duration_ns = {{"gemm", 40}};
  Use(config);
  Kernel(Stream(), "gemm", -1, 0);
  Kernel(Stream(), "other", -1, 0);
  RunToIdle();
  EXPECT_EQ(Ran("gemm"), Interval(0, 40));
  EXPECT_EQ(Ran("other"), Interval(0, 7));
}

TEST_F(SimDeviceTest, CopyDurationFollowsBandwidth) {
  OpSpec spec = Spec("copy", -1);
  spec.kind = OpKind::kMemcpy;
  spec.bytes = 64;
  device_->Submit(Stream(), std::move(spec), 0);
  RunToIdle();
  EXPECT_EQ(Ran("copy"), Interval(0, 64));
}

TEST_F(SimDeviceTest, EventIsReachedWhenWhatPrecedesItIsDone) {
  const StreamIndex stream = Stream();
  const EventIndex event = device_->CreateEvent();
  Kernel(stream, "before", 100, 0);
  device_->RecordEvent(event, stream, 1);
  Kernel(stream, "after", 100, 2);
  EXPECT_EQ(device_->EventTime(event), std::nullopt);
  RunToIdle();
  EXPECT_EQ(device_->EventTime(event), 100);
}

TEST_F(SimDeviceTest, WaitingStreamStartsAfterTheEvent) {
  const StreamIndex first = Stream();
  const StreamIndex second = Stream();
  const EventIndex event = device_->CreateEvent();
  Kernel(first, "producer", 100, 0);
  device_->RecordEvent(event, first, 0);
  Kernel(first, "unrelated", 100, 0);
  device_->WaitEvent(second, event, 1);
  Kernel(second, "consumer", 10, 2);
  RunToIdle();
  EXPECT_EQ(Ran("consumer"), Interval(100, 110));
}

TEST_F(SimDeviceTest, WaitForEventThatWasNeverRecordedIsNoWait) {
  const StreamIndex stream = Stream();
  device_->WaitEvent(stream, device_->CreateEvent(), 0);
  Kernel(stream, "kernel", 10, 0);
  RunToIdle();
  EXPECT_EQ(Ran("kernel"), Interval(0, 10));
}

TEST_F(SimDeviceTest, RecordingAnEventAgainForgetsTheFirstTime) {
  const StreamIndex stream = Stream();
  const EventIndex event = device_->CreateEvent();
  device_->RecordEvent(event, stream, 0);
  RunToIdle();
  Kernel(stream, "kernel", 100, 10);
  device_->RecordEvent(event, stream, 10);
  EXPECT_EQ(device_->EventTime(event), std::nullopt);
  RunToIdle();
  EXPECT_EQ(device_->EventTime(event), 110);
}

TEST_F(SimDeviceTest, LegacyStreamWaitsForBlockingStreamsAndTheyForIt) {
  const StreamIndex blocking = Stream();
  Kernel(blocking, "before", 100, 0);
  Kernel(0, "legacy", 10, 1);
  Kernel(blocking, "after", 10, 2);
  RunToIdle();
  EXPECT_EQ(Ran("legacy"), Interval(100, 110));
  EXPECT_EQ(Ran("after"), Interval(110, 120));
}

TEST_F(SimDeviceTest, NonBlockingStreamIgnoresTheLegacyStream) {
  Kernel(0, "legacy", 100, 0);
  Kernel(NonBlockingStream(), "free", 10, 1);
  RunToIdle();
  EXPECT_EQ(Ran("free"), Interval(1, 11));
}

TEST_F(SimDeviceTest, StreamIsFullAtItsQueueDepthUntilAnOperationCompletes) {
  DeviceModelConfig config = NoLatency();
  config.queue_depth = 2;
  Use(config);
  const StreamIndex stream = Stream();
  Kernel(stream, "a", 100, 0);
  EXPECT_TRUE(device_->HasRoom(stream));
  Kernel(stream, "b", 100, 0);
  device_->Advance(99);
  EXPECT_FALSE(device_->HasRoom(stream));
  device_->Advance(100);
  EXPECT_TRUE(device_->HasRoom(stream));
}

TEST_F(SimDeviceTest, GraphNodesFollowTheirEdgesAndTheStreamFollowsTheGraph) {
  const StreamIndex stream = Stream();
  const std::vector<GraphNode> diamond = {{Spec("root", 10), {}},
                                          {Spec("left", 100), {0}},
                                          {Spec("right", 20), {0}},
                                          {Spec("sink", 5), {1, 2}}};
  Kernel(stream, "before", 50, 0);
  device_->SubmitGraph(stream, diamond, 0, 1);
  Kernel(stream, "after", 1, 2);
  RunToIdle();
  EXPECT_EQ(Ran("root"), Interval(50, 60));
  EXPECT_EQ(Ran("left"), Interval(60, 160));
  EXPECT_EQ(Ran("right"), Interval(60, 80));
  EXPECT_EQ(Ran("sink"), Interval(160, 165));
  EXPECT_EQ(Ran("after"), Interval(165, 166));
}

TEST_F(SimDeviceTest, GraphAsAWholeLastsFromItsFirstNodeToItsLast) {
  std::vector<Interval> graphs;
  device_->set_on_complete([&](const Op& op) {
    if (op.user == 42) graphs.emplace_back(op.start_ns, op.end_ns);
  });
  device_->SubmitGraph(Stream(), {{Spec("a", 10), {}}, {Spec("b", 30), {}}}, 42, 7);
  RunToIdle();
  EXPECT_THAT(graphs, ElementsAre(Interval(7, 37)));
}

TEST_F(SimDeviceTest, DevicesDoNotShareSlots) {
  DeviceModelConfig config = NoLatency();
  config.devices = 2;
  config.compute_slots = 1;
  Use(config);
  Kernel(Stream(0), "on first", 100, 0);
  Kernel(Stream(1), "on second", 100, 0);
  RunToIdle();
  EXPECT_EQ(Ran("on second"), Interval(0, 100));
}

TEST_F(SimDeviceTest, TiesGoToWhatWasSubmittedFirst) {
  for (const char* name : {"c", "a", "b"}) Kernel(Stream(), name, 10, 0);
  RunToIdle();
  EXPECT_THAT(order_, ElementsAre("c", "a", "b"));
}

TEST_F(SimDeviceTest, ExternalBodyEndsWhenItsOwnerSaysSo) {
  const StreamIndex stream = Stream();
  OpSpec spec = Spec("body", -1);
  spec.external_body = true;
  const OpId id = device_->Submit(stream, std::move(spec), 0);
  device_->Advance(5);
  EXPECT_THAT(device_->TakeDispatched(), ElementsAre(id));
  EXPECT_EQ(device_->NextEventNs(), std::nullopt);
  device_->FinishBody(id, 5, 90);
  Kernel(stream, "after", 10, 95);
  RunToIdle();
  EXPECT_EQ(Ran("body"), Interval(5, 90));
  EXPECT_EQ(Ran("after"), Interval(95, 105));
}

TEST_F(SimDeviceTest, ExternalBodyTakesAtLeastItsScriptedDuration) {
  DeviceModelConfig config = NoLatency();
  config.kernel_duration_ns = {{"body", 1000}};
  Use(config);
  OpSpec spec = Spec("body", -1);
  spec.external_body = true;
  const OpId id = device_->Submit(Stream(), std::move(spec), 0);
  device_->Advance(0);
  device_->FinishBody(id, 0, 90);
  RunToIdle();
  EXPECT_EQ(Ran("body"), Interval(0, 1000));
}

TEST_F(SimDeviceTest, EffectAtTheEndIsVisibleToWhatDependsOnIt) {
  const StreamIndex stream = Stream();
  int value = 0;
  int seen = -1;
  OpSpec copy = Spec("copy", 10);
  copy.at_end = [&] { value = 1; };
  OpSpec reader = Spec("reader", 10);
  reader.body = [&] { seen = value; };
  device_->Submit(stream, std::move(copy), 0);
  device_->Submit(stream, std::move(reader), 0);
  RunToIdle();
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace gpubound::sim
