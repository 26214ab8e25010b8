// SPDX-License-Identifier: Apache-2.0
//
// What the trace keeps of one stream's waiting for another: the edges of the dependency graph that
// the order within a stream does not give.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "proto/sync_types.h"
#include "tests/integration/command_run.h"

namespace gpubound {
namespace {

constexpr int kHandOvers = 20;
// Of CUpti_ActivitySynchronizationType.
constexpr uint32_t kStreamWaitsForEvent = 2;

struct Way {
  const char* name;
  const char* cupti;        // the release
  bool driver_api = false;  // the program calls the driver's functions, not the runtime's
};

class DependencyEdges : public CommandRun, public testing::WithParamInterface<Way> {
 protected:
  void HandOver() {
    const Json script = {{"cupti", GetParam().cupti}, {"driver_api", GetParam().driver_api}};
    runner().Set("GPUBOUND_SIM_SCRIPT", script.dump());
    const Outcome outcome = Victim("events", kHandOvers);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
    run_ = Load();
    ASSERT_EQ(run_.processes.size(), 1u);
  }
  const ProcessTrace& process() const { return run_.processes[0]; }
  std::vector<Sync> OfType(uint32_t type) const {
    std::vector<Sync> found;
    std::copy_if(process().syncs.begin(), process().syncs.end(), std::back_inserter(found),
                 [&](const Sync& sync) { return sync.type == type; });
    return found;
  }
  std::vector<Sync> Waits() const { return OfType(kStreamWaitsForEvent); }
  std::vector<Sync> Records() const { return OfType(kSyncEventRecorded); }
  // The streams, by CUPTI's number, of all work called |name|.
  std::set<uint32_t> StreamsOf(const std::string& name) const {
    std::set<uint32_t> streams;
    for (const DeviceWork& work : process().device_work) {
      if (process().WorkOf(work.work).name == name) {
        streams.insert(process().StreamOf(work.stream).stream);
      }
    }
    return streams;
  }
  int64_t CallsOf(const std::string& name) const {
    int64_t calls = 0;
    for (const ThreadTrace& thread : process().threads) {
      calls += std::count_if(thread.calls.begin(), thread.calls.end(), [&](const ApiCall& call) {
        return process().LabelOf(call.label).text == name;
      });
    }
    return calls;
  }

  gpubound::Run run_;
};

INSTANTIATE_TEST_SUITE_P(Releases, DependencyEdges,
                         testing::Values(Way{"Cupti11_8", "11.8"}, Way{"Cupti12_0", "12.0"},
                                         Way{"Cupti12_8", "12.8"}, Way{"Cupti13_1", "13.1"},
                                         Way{"Driver13_1", "13.1", true}),
                         [](const testing::TestParamInfo<Way>& way) { return way.param.name; });

TEST_P(DependencyEdges, EveryWaitOfAStreamIsKeptWithItsEvent) {
  HandOver();
  const std::vector<Sync> waits = Waits();
  ASSERT_EQ(waits.size(), static_cast<size_t>(kHandOvers));
  for (const Sync& wait : waits) EXPECT_EQ(wait.event, waits[0].event);
  EXPECT_NE(waits[0].event, 0u);
}

TEST_P(DependencyEdges, TheWaitNamesTheStreamThatWaits) {
  HandOver();
  const std::set<uint32_t> waiting = StreamsOf("optimizer_step");
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_NE(waiting, StreamsOf("policy_forward"));
  for (const Sync& wait : Waits()) EXPECT_EQ(wait.stream, *waiting.begin());
}

TEST_P(DependencyEdges, EveryRecordingOfTheEventIsKeptWithTheStreamItWasRecordedIn) {
  HandOver();
  const std::vector<Sync> records = Records();
  ASSERT_EQ(records.size(), static_cast<size_t>(kHandOvers));
  const std::set<uint32_t> recorded_in = StreamsOf("policy_forward");
  ASSERT_EQ(recorded_in.size(), 1u);
  for (const Sync& record : records) {
    EXPECT_EQ(record.stream, *recorded_in.begin());
    EXPECT_EQ(record.event, Waits()[0].event);
  }
}

TEST_P(DependencyEdges, EachWaitComesAfterTheRecordingThatItWaitsFor) {
  HandOver();
  const std::vector<Sync> records = Records();
  const std::vector<Sync> waits = Waits();
  ASSERT_EQ(records.size(), waits.size());
  for (size_t i = 0; i < waits.size(); ++i) {
    EXPECT_GE(waits[i].start_ns, records[i].end_ns);
    if (i > 0) {
      EXPECT_GE(records[i].start_ns, waits[i - 1].end_ns);
    }
  }
}

TEST_P(DependencyEdges, TheCallsThatMadeTheEdgeAreKept) {
  HandOver();
  const bool driver = GetParam().driver_api;
  EXPECT_EQ(CallsOf(driver ? "cuEventRecord" : "cudaEventRecord"), kHandOvers);
  EXPECT_EQ(CallsOf(driver ? "cuStreamWaitEvent" : "cudaStreamWaitEvent"), kHandOvers);
  EXPECT_EQ(CallsOf(driver ? "cudaEventRecord" : "cuEventRecord"), 0)
      << "one call, whoever else is called for it";
}

}  // namespace
}  // namespace gpubound
