// SPDX-License-Identifier: Apache-2.0
//
// What an imported run holds beside the figures that tests/oracle compares: names, devices,
// iterations, ledger.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analysis/import/import.h"
#include "analysis/import/import_unassigned.h"
#include "analysis/reader/reader.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using testing_support::TemporaryRun;

class ImportedRun : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  // Imports events, given without the brackets around them, and whatever follows the array.
  void Import(const std::string& events, const std::string& rest = "") {
    ImportFile("{\"traceEvents\": [" + events + "]" + rest + "}");
  }

  void ImportFile(const std::string& bytes) {
    const std::string path = input_.Write("trace.json", bytes);
    const auto summary = ImportTrace(path, output_.path());
    ASSERT_TRUE(summary.ok()) << summary.error().ToString();
    Result<Run> run = LoadRun(output_.path());
    ASSERT_TRUE(run.ok()) << run.error().ToString();
    run_ = std::move(*run);
    EXPECT_THAT(run_.problems, IsEmpty());
  }

  static std::string RealTrace() {
    std::ifstream file(GPUBOUND_TEST_DATA "/kineto/simple_add.json.gz", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  const ProcessTrace& Process() const { return run_.processes.at(0); }

  // (payload, time) of the steps of the first thread.
  std::vector<std::pair<int64_t, int64_t>> Steps() const {
    std::vector<std::pair<int64_t, int64_t>> steps;
    for (const ThreadEvent& event : Process().threads.at(0).events) {
      if (event.kind != SlotKind::kStep) continue;
      steps.emplace_back(static_cast<int64_t>(event.payload), event.time_ns);
    }
    return steps;
  }

  TemporaryRun input_;
  TemporaryRun output_;
  Run run_;
};

constexpr char kOperator[] =
    R"({"ph":"X","cat":"cpu_op","name":"aten::add","pid":4,"tid":5,"ts":10,"dur":10})";

TEST_F(ImportedRun, IsClosedPythonAndImported) {
  Import(kOperator);
  EXPECT_EQ(Process().device_kind, "imported");
  EXPECT_EQ(Process().span_end, SpanEnd::kClosed);
  EXPECT_TRUE(Process().python);
  EXPECT_EQ(Process().name, "trace.json");
  EXPECT_EQ(Process().reporting_tid, 5u);
}

TEST_F(ImportedRun, BeginsAtTheInstantThatTheTraceSays) {
  Import(kOperator, R"(, "baseTimeNanoseconds": 1751410836000000000)");
  EXPECT_EQ(Process().identity.start_realtime_ns, 1751410836000010000);
  EXPECT_EQ(Process().span_begin_ns, 0);
}

TEST_F(ImportedRun, TakesNamesFromMetadataWhereverItStands) {
  Import(std::string(
             R"({"ph":"M","name":"process_name","pid":4,"tid":0,"args":{"name":"python3"}},)") +
         kOperator +
         R"(,{"ph":"M","name":"thread_name","pid":4,"tid":5,"args":{"name":"trainer"}})");
  EXPECT_EQ(Process().name, "python3");
  EXPECT_EQ(Process().threads.at(0).name, "trainer");
}

TEST_F(ImportedRun, KeepsCallsWithTheirLengthAndId) {
  Import(R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel_v7000","pid":4,"tid":5,)"
         R"("ts":1,"dur":2.5,"args":{"correlation":77}})");
  ASSERT_THAT(Process().threads.at(0).calls, SizeIs(1));
  const ApiCall& call = Process().threads.at(0).calls.at(0);
  EXPECT_EQ(call.end_ns - call.start_ns, 2500);
  EXPECT_EQ(call.correlation, 77u);
  EXPECT_EQ(Process().LabelOf(call.label).text, "cudaLaunchKernel");
}

TEST_F(ImportedRun, KeepsTheGeometryOfKernelsAndTheLimitsOfDevices) {
  Import(std::string(kOperator) +
             R"(,{"ph":"X","cat":"kernel","name":"gemm","pid":1,"tid":7,"ts":12,"dur":1,"args":)"
             R"({"device":1,"context":3,"stream":7,"grid":[8,2,1],"block":[128,1,1],)"
             R"("registers per thread":40,"shared memory":1024,"graph node id":9}})",
         R"(, "deviceProperties": [{"id":0,"name":"A"},{"id":1,"name":"B","numSms":132,)"
         R"("maxThreadsPerMultiprocessor":2048,"warpSize":32,"computeMajor":9}])");
  ASSERT_THAT(Process().device_work, SizeIs(1));
  const DeviceWork& work = Process().device_work.at(0);
  const Work& kernel = Process().WorkOf(work.work);
  EXPECT_EQ(kernel.name, "gemm");
  EXPECT_THAT(kernel.info.grid, ElementsAre(8, 2, 1));
  EXPECT_THAT(kernel.info.block, ElementsAre(128, 1, 1));
  EXPECT_EQ(kernel.info.registers_per_thread, 40u);
  EXPECT_EQ(kernel.info.dynamic_shared_bytes, 1024u);
  EXPECT_EQ(work.graph_node, 9u);
  const Device& device = Process().DeviceOf(Process().StreamOf(work.stream).device);
  EXPECT_EQ(device.name, "B");
  EXPECT_EQ(device.info.index, 1u);
  EXPECT_EQ(device.info.multiprocessors, 132u);
  EXPECT_EQ(device.info.max_warps_per_multiprocessor, 64u);
}

TEST_F(ImportedRun, AStepSaysWhereIterationsBeginAndOthersEndThem) {
  Import(R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#6","pid":4,"tid":5,"ts":10,)"
         R"("dur":10},)"
         R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#7","pid":4,"tid":5,"ts":20,)"
         R"("dur":5})");
  const auto begins = static_cast<int64_t>(kIterationsBegin);
  EXPECT_THAT(Steps(), ElementsAre(std::pair(begins, 0), std::pair(6, 10000), std::pair(7, 15000)));
}

TEST_F(ImportedRun, OneThreadTellsTheIterationsOfItsProcess) {
  constexpr char kStep[] =
      R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#6","pid":4,"dur":10,)";
  Import(std::string(kStep) + R"("tid":9,"ts":10},)" + kStep + R"("tid":5,"ts":10},)" + kStep +
         R"("tid":7,"ts":11})");
  ASSERT_THAT(Process().threads, SizeIs(3));
  for (const ThreadTrace& thread : Process().threads) {
    const ThreadEvent& first = thread.events.at(0);
    EXPECT_EQ(first.kind, thread.tid == 5 ? SlotKind::kStep : SlotKind::kBegin);
    if (thread.tid == 5) continue;
    EXPECT_EQ(Process().LabelOf(first.label).kind, LabelKind::kAnnotation);
    EXPECT_EQ(Process().LabelOf(first.label).text, "ProfilerStep#6");
  }
}

TEST_F(ImportedRun, AGapLongerThanASlotHoldsIsKept) {
  Import(std::string(kOperator) +
         R"(,{"ph":"X","cat":"cpu_op","name":"late","pid":4,"tid":5,"ts":9e9,"dur":1})");
  EXPECT_EQ(Process().threads.at(0).events.back().time_ns, 9'000'000'001'000 - 10'000);
}

TEST_F(ImportedRun, MoreEventsThanAChunkHoldsStayInOrder) {
  std::string events = kOperator;
  for (int i = 0; i < 20'000; ++i) {
    events += R"(,{"ph":"X","cat":"cpu_op","name":"op","pid":4,"tid":5,"dur":0.5,"ts":)" +
              std::to_string(40'000 - i) + "}";
  }
  Import(events);
  const std::vector<ThreadEvent>& read = Process().threads.at(0).events;
  ASSERT_THAT(read, SizeIs(2 * 20'001));
  EXPECT_TRUE(std::is_sorted(read.begin(), read.end(),
                             [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; }));
  EXPECT_THAT(Process().threads.at(0).resets, IsEmpty());
}

TEST_F(ImportedRun, CountsWhatItSkippedAndWhatNeverEnded) {
  Import(std::string(kOperator) +
         R"(,{"ph":"X","cat":"cpu_op","name":"a","pid":4,"tid":5,"ts":null,"dur":1})"
         R"(,{"ph":"B","cat":"cpu_op","name":"open","pid":4,"tid":5,"ts":12})");
  EXPECT_EQ(Process().Counted(LedgerCounter::import_events_malformed), 1u);
  EXPECT_EQ(Process().Counted(LedgerCounter::scopes_open_at_end), 1u);
  EXPECT_EQ(Process().span_end_ns, 10'000);
}

TEST_F(ImportedRun, EachProcessSaysWhichOnesThereWere) {
  Import(std::string(kOperator) +
         R"(,{"ph":"X","cat":"cpu_op","name":"a","pid":"rank 1","tid":5,"ts":10,"dur":10})"
         R"(,{"ph":"X","cat":"cpu_op","name":"a","pid":8,"tid":5,"ts":10,"dur":10})");
  ASSERT_TRUE(std::filesystem::remove(output_.File("imported.-2.10000.0.db")));
  ASSERT_TRUE(std::filesystem::remove(output_.File("imported.4.10000.0.db")));
  Result<Run> run = LoadRun(output_.path());
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  EXPECT_EQ(run->Count(LedgerCounter::processes_missing), 2u);
  EXPECT_THAT(run->problems,
              ElementsAre("pid -2 of host imported was imported, but none of its files is there.",
                          "pid 4 of host imported was imported, but none of its files is there."));
}

TEST_F(ImportedRun, AFileThatBreaksOffKeepsWhatIsThereAndSaysWhere) {
  ImportFile("{\"traceEvents\": [" + std::string(kOperator) + R"(, {"ph":"X","cat":"kern)");
  EXPECT_THAT(Process().threads.at(0).events, SizeIs(2));
  EXPECT_EQ(Process().Counted(LedgerCounter::import_cut_short), 1u);
  EXPECT_EQ(Process().Counted(LedgerCounter::import_events_malformed), 0u);
  ASSERT_THAT(Process().notes, SizeIs(1));
  EXPECT_THAT(Process().notes.at(0).text,
              HasSubstr("up to byte 96 only: the end of the file at byte 117"));
}

// What follows the events of a file that breaks off there.
class CutBehindEvents : public ImportedRun, public testing::WithParamInterface<const char*> {};

TEST_P(CutBehindEvents, MissesNone) {
  ImportFile("{\"traceEvents\": [" + std::string(kOperator) + GetParam());
  EXPECT_EQ(Process().Counted(LedgerCounter::import_cut_short), 0u);
  EXPECT_THAT(Process().unknown, IsEmpty());
  ASSERT_THAT(Process().notes, SizeIs(1));
  EXPECT_THAT(Process().notes.at(0).text, HasSubstr(", after all of its events"));
}

INSTANTIATE_TEST_SUITE_P(ImportedRun, CutBehindEvents,
                         testing::Values("]", "]\n", "] ,", "], \"displayTimeUnit\": \"m",
                                         "], \"a\": {\"b\": [1]"));

TEST_F(ImportedRun, TimeAfterTheLastWorkOfAFileThatBreaksOffIsUnknown) {
  ImportFile("[" + std::string(kOperator) +
             R"(,{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":12,"dur":3}, {"ph")");
  ASSERT_THAT(Process().unknown, SizeIs(1));
  EXPECT_EQ(Process().unknown.at(0).start_ns, 5'000);
  EXPECT_EQ(Process().unknown.at(0).end_ns, 10'000);
}

TEST_F(ImportedRun, ACompressedFileThatIsCutShortKeepsWhatIsThere) {
  const std::string whole = RealTrace();
  ImportFile(whole.substr(0, whole.size() / 2));
  EXPECT_EQ(Process().Counted(LedgerCounter::import_cut_short), 1u);
  EXPECT_THAT(Process().notes.at(0).text, HasSubstr("unexpected end of file"));
}

TEST_F(ImportedRun, ACompressedFileThatIsDamagedKeepsWhatIsThere) {
  std::string damaged = RealTrace();
  damaged.replace(damaged.size() / 2, 64, 64, '\x55');
  ImportFile(damaged);
  EXPECT_EQ(Process().Counted(LedgerCounter::import_cut_short), 1u);
}

TEST_F(ImportedRun, AZeroedTailOfABareArrayIsMissing) {
  ImportFile("[" + std::string(kOperator) + "," + std::string(64, '\0'));
  EXPECT_EQ(Process().Counted(LedgerCounter::import_cut_short), 1u);
}

TEST_F(ImportedRun, AnEventThatIsNoJsonIsCountedAndSkipped) {
  Import(std::string(R"({"ph" "X"}, {"ph":"X","cat":"cpu_op","name":"lost", {"a":[1}},)") +
         kOperator);
  EXPECT_THAT(Process().threads.at(0).events, SizeIs(2));
  EXPECT_EQ(Process().Counted(LedgerCounter::import_events_malformed), 2u);
  EXPECT_EQ(Process().Counted(LedgerCounter::import_cut_short), 0u);
}

TEST_F(ImportedRun, AnEventThatIsRefusedMakesNoProcessAndNoDevice) {
  Import(std::string(kOperator) +
         R"(,{"ph":"X","cat":"cpu_op","name":"a","pid":3,"tid":3,"ts":10,"dur":-1})"
         R"(,{"ph":"B","cat":"cpu_op","name":"a","pid":2,"tid":2,"ts":10})"
         R"(,{"ph":"E","pid":2,"tid":2,"ts":9})"
         R"(,{"ph":"X","cat":"kernel","name":"k","pid":7,"tid":7,"ts":"10","dur":1})");
  ASSERT_THAT(run_.processes, SizeIs(1));
  EXPECT_THAT(Process().devices, IsEmpty());
  EXPECT_EQ(Process().Counted(LedgerCounter::import_events_malformed), 3u);
}

TEST_F(ImportedRun, CategoriesThatMayHaveBeenGpuWorkAreNotedWhereThereIsNone) {
  Import(R"({"ph":"X","cat":"cpu_op","name":"a","pid":4,"tid":4,"ts":0,"dur":9},)"
         R"({"ph":"X","cat":"Shader","name":"k","pid":0,"tid":7,"ts":1,"dur":2},)"
         R"({"ph":"B","cat":"draw,foo","name":"k","pid":0,"tid":7,"ts":1},)"
         R"({"ph":"X","cat":"Shader","name":"k","pid":0,"tid":7,"ts":1,"dur":2},)"
         R"({"ph":"X","cat":"ac2g","name":"k","pid":0,"tid":7,"ts":1,"dur":2})");
  ASSERT_THAT(Process().notes, SizeIs(1));
  EXPECT_THAT(Process().notes.at(0).text,
              HasSubstr("most are of category 'Shader' (2 events), 'draw,foo' (1 event), and"));
}

TEST_F(ImportedRun, CategoriesThatMeanNothingAreNotNotedBesideGpuWork) {
  Import(R"({"ph":"X","cat":"cpu_op","name":"a","pid":4,"tid":4,"ts":0,"dur":9},)"
         R"({"ph":"X","cat":"Shader","name":"k","pid":0,"tid":7,"ts":1,"dur":2},)"
         R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2})");
  EXPECT_THAT(Process().notes, IsEmpty());
}

TEST_F(ImportedRun, AWholeNumberMayBeWrittenAsAReal) {
  Import(R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":2,"ts":0,"dur":9},)"
         R"({"ph":"X","cat":"cpu_op","name":"b","pid":1.0,"tid":2.000,"ts":1,"dur":1})");
  ASSERT_THAT(run_.processes, SizeIs(1));
  EXPECT_THAT(Process().threads, SizeIs(1));
}

TEST_F(ImportedRun, WorkOfNoProcessMakesTimeUnknownWhereItsDeviceIsUsed) {
  Import(std::string(R"({"ph":"X","cat":"cuda_runtime","name":"l","pid":4,"tid":4,"ts":0,"dur":50,)"
                     R"("args":{"correlation":1}},)"
                     R"({"ph":"X","cat":"cpu_op","name":"a","pid":5,"tid":5,"ts":0,"dur":50},)"
                     R"({"ph":"X","cat":"kernel","name":"k","pid":3,"tid":7,"ts":1,"dur":2,)"
                     R"("args":{"correlation":1}},)"
                     R"({"ph":"X","cat":"kernel","name":"k","pid":3,"tid":7,"ts":20,"dur":5},)"
                     R"({"ph":"X","cat":"kernel","name":"k","pid":3,"tid":7,"ts":22,"dur":5},)"
                     R"({"ph":"X","cat":"kernel","name":"k","pid":3,"tid":7,"ts":45,"dur":9})"));
  ASSERT_THAT(run_.processes, SizeIs(2));
  const auto& unknown = Process().unknown;
  ASSERT_THAT(unknown, SizeIs(2));
  EXPECT_EQ(unknown.at(0).start_ns, 20'000);
  EXPECT_EQ(unknown.at(0).end_ns, 27'000);
  EXPECT_EQ(unknown.at(1).end_ns, 50'000);
  EXPECT_THAT(run_.processes.at(1).unknown, IsEmpty());
  EXPECT_EQ(Process().notes.at(0).text,
            "device 3 did 16.0 us of work (3 pieces) that no process of the trace launched; what "
            "the processes that use it had of the GPU then is unknown");
}

TEST(UnassignedWork, IsAUnionThatIsCoarserWhereItWouldGrowWithoutBound) {
  UnassignedWork work;
  const DeviceId device{1};
  const auto most = static_cast<int64_t>(UnassignedWork::kMostIntervals);
  for (int64_t i = 0; i < most; ++i) work.Add(device, {4 * i, 4 * i + 1});
  EXPECT_THAT(work.devices().at(device).busy, SizeIs(most));
  work.Add(device, {4 * most, 4 * most + 1});
  const UnassignedWork::OnDevice& on = work.devices().at(device);
  EXPECT_THAT(on.busy, SizeIs(most / 2 + 1));
  EXPECT_EQ(on.busy.front(), (Interval{0, 5}));
  EXPECT_EQ(on.busy.back(), (Interval{4 * most, 4 * most + 1}));
  EXPECT_EQ(on.pieces, static_cast<uint64_t>(most) + 1);
}

TEST_F(ImportedRun, ProcessesAndThreadsMayHaveWordsForNames) {
  Import(R"({"ph":"X","cat":"cpu_op","name":"a","pid":"rank 0","tid":"main","ts":1,"dur":1})");
  EXPECT_LT(Process().identity.pid, 0);
  EXPECT_THAT(Process().threads, SizeIs(1));
}

}  // namespace
}  // namespace gpubound
