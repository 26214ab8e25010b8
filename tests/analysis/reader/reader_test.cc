// SPDX-License-Identifier: Apache-2.0
//
// What the reader makes of sound run directories.
#include "analysis/reader/reader.h"
#include "analysis/attribution/build_report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "analysis/output/text/report_text.h"
#include "analysis/reader/process_presence.h"
#include "analysis/report/report.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;

class ReaderTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  Run Load() {
    Result<Run> loaded = LoadRun(run_.path());
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().ToString());
    if (loaded.ok()) return std::move(*loaded);
    Run one_empty_process;
    one_empty_process.processes.resize(1);
    return one_empty_process;
  }

  TemporaryRun run_;
  WriterIdentity identity_;
};

TEST_F(ReaderTest, ReadsRowsAndEventsOfAProcess) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
    writer.Calls({.thread = 9}, {Launch(200, 210, 1)});
    writer.Work({.thread = 9}, {Kernel(300, 500, 1)});
    writer.Sql("INSERT INTO ledger VALUES('backpressure_waits', 3)");
    writer.Sql("INSERT INTO note VALUES(1, 5, 'hello')");
    writer.Sql("INSERT INTO unknown VALUES(1, 600, 700, 'paused')");
    writer.Sql("INSERT INTO utilization VALUES(400, 'GPU-1', 93, 20, -1, -1, -1, -1)");
    writer.Sql("INSERT INTO process_tree VALUES(400, 3, 60, 4096, 20)");
  }
  const Run run = Load();
  ASSERT_EQ(run.processes.size(), 1u);
  ASSERT_EQ(run.processes.front().utilization.size(), 1u);
  EXPECT_EQ(run.processes.front().utilization[0].uuid, "GPU-1");
  EXPECT_EQ(run.processes.front().utilization[0].sample.time_ns, 400);
  EXPECT_EQ(run.processes.front().utilization[0].sample.gpu_percent, 93);
  const ProcessTrace& process = run.processes.front();
  ASSERT_EQ(process.process_tree.size(), 1u);
  EXPECT_EQ(process.process_tree[0].run_delay_ns, 20);
  EXPECT_EQ(process.identity, (ProcessIdentity{"host", 100, 5}));
  EXPECT_EQ(process.span_end_ns, 1000);
  EXPECT_EQ(process.span_end, SpanEnd::kClosed);
  ASSERT_EQ(process.threads.size(), 1u);
  ASSERT_EQ(process.threads[0].events.size(), 2u);
  EXPECT_EQ(process.threads[0].events[1].time_ns, 900);
  EXPECT_EQ(process.threads[0].calls.size(), 1u);
  EXPECT_EQ(process.device_work.size(), 1u);
  EXPECT_EQ(process.LabelOf(kTrain).text, "train");
  EXPECT_EQ(process.DeviceOf(static_cast<DeviceId>(1)).info.multiprocessors, 4u);
  EXPECT_EQ(process.Counted(LedgerCounter::backpressure_waits), 3u);
  EXPECT_EQ(process.notes.size(), 1u);
  EXPECT_EQ(process.unknown.size(), 1u);
  EXPECT_TRUE(run.problems.empty());
}

TEST_F(ReaderTest, ATraceFromBeforeUtilisationWasSampledIsRead) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("DROP TABLE utilization");
  }
  const Run run = Load();
  EXPECT_TRUE(run.problems.empty());
  EXPECT_TRUE(run.processes.at(0).utilization.empty());
}

TEST_F(ReaderTest, ReportsWhatItRead) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
    writer.Calls({.thread = 9}, {Launch(200, 210, 1)});
    writer.Work({.thread = 9}, {Kernel(300, 500, 1)});
  }
  const Result<Report> report = BuildReport(Load());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->device_kind, "real");
  EXPECT_EQ(report->processes[0].gpu_busy_ns, 200);
  EXPECT_EQ(report->processes[0].operations[0].operation, "train");
  EXPECT_EQ(report->processes[0].operations[0].gpu_caused_ns, 200);
  EXPECT_DOUBLE_EQ(report->run.gpu_busy_share, 0.2);
}

TEST_F(ReaderTest, MergesSegments) {
  {
    SegmentWriter first(run_, identity_, 0);
    first.PutUsualRows();
    first.Scopes({.thread = 1}, {Begin(kTrain, 100)});
    first.Sql("INSERT INTO ledger VALUES('backpressure_waits', 3)");
    SegmentWriter second(run_, identity_, 1);
    second.PutUsualRows();
    second.Scopes({.thread = 1, .first_sequence = 1}, {End(kTrain, 900)}, {1});
    second.Sql("INSERT INTO ledger VALUES('backpressure_waits', 5)");
  }
  const Run run = Load();
  ASSERT_EQ(run.processes.size(), 1u);
  EXPECT_EQ(run.processes[0].threads[0].events.size(), 2u);
  EXPECT_TRUE(run.processes[0].threads[0].resets.empty());
  EXPECT_EQ(run.processes[0].Counted(LedgerCounter::backpressure_waits), 5u);
}

TEST_F(ReaderTest, NodesOfGraphsAreThoseOfAllSegments) {
  const auto put = [](SegmentWriter* writer, const std::string& rows) {
    writer->PutUsualRows();
    writer->Sql("INSERT INTO graph_node VALUES" + rows);
  };
  {
    SegmentWriter first(run_, identity_);
    put(&first, "(7, 3, 0, 1, 'gemm'), (8, 3, 2, 0, 'Memset')");
    SegmentWriter second(run_, identity_, 1);  // cut off before it had repeated all of them
    put(&second, "(8, 4, 2, 0, 'Memset'), (-1, 5, 0, 3, 'last')");
  }
  const Run run = Load();
  const std::vector<GraphNode>& nodes = run.processes.at(0).graph_nodes;
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].info.node, 7u);
  EXPECT_EQ(nodes[0].info.operation, kTrain);
  EXPECT_EQ(nodes[0].name, "gemm");
  EXPECT_EQ(nodes[1].info.graph, 4u);
  EXPECT_EQ(nodes[2].info.node, ~uint64_t{0});
}

TEST_F(ReaderTest, ForgetsUnknownTimeThatALaterSegmentTookBack) {
  {
    SegmentWriter first(run_, identity_, 0);
    first.PutUsualRows();
    first.Sql("INSERT INTO unknown VALUES(1, 0, 9223372036854775807, 'until delivered')");
    SegmentWriter second(run_, identity_, 1);
    second.PutUsualRows();
  }
  EXPECT_TRUE(Load().processes[0].unknown.empty());
}

TEST_F(ReaderTest, KeepsProcessesOfOneRunApart) {
  {
    SegmentWriter parent(run_, identity_);
    parent.PutUsualRows();
    SegmentWriter child(run_, {"host", 101, 6});
    child.PutUsualRows();
    child.Meta("parent_pid", 100);
  }
  const Result<Report> report = BuildReport(Load());
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->processes.size(), 2u);
  EXPECT_EQ(report->run.root, 100);
  EXPECT_EQ(report->processes[1].parent, 100);
  EXPECT_FALSE(report->processes[0].parent.has_value());
}

TEST_F(ReaderTest, GivesCallsToTheThreadThatHadTheIdThen) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("INSERT INTO thread VALUES(2, 200, 'first'), (3, 200, 'second')");
    writer.Scopes({.thread = 2}, {Begin(kTrain, 10), End(kTrain, 20)});
    writer.Scopes({.thread = 3}, {Begin(kTrain, 500), End(kTrain, 600)});
    writer.Calls({.thread = 9}, {Launch(15, 16, 1, 200), Launch(550, 551, 2, 200)});
    writer.Calls({.thread = 9, .first_sequence = 2}, {Launch(700, 701, 3, 300)});
  }
  const ProcessTrace process = Load().processes[0];
  ASSERT_EQ(process.threads.size(), 4u);
  EXPECT_EQ(process.threads[1].calls.size(), 1u);
  EXPECT_EQ(process.threads[2].calls.size(), 1u);
  EXPECT_EQ(process.threads[3].tid, 300u);
}

TEST_F(ReaderTest, ResynchronisesBehindDroppedEvents) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100), Begin(kInner, 200)});
    writer.Scopes({.thread = 1, .first_sequence = 2, .dropped_before = 4}, {End(kTrain, 900)},
                  {Raw(kTrain)});
  }
  const ProcessTrace process = Load().processes[0];
  ASSERT_EQ(process.threads[0].resets.size(), 1u);
  EXPECT_EQ(process.threads[0].resets[0].event_index, 2u);
  EXPECT_EQ(process.threads[0].resets[0].open, std::vector<LabelId>{kTrain});
}

TEST_F(ReaderTest, TakesDroppedDeviceRecordsAsUnknownTime) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Work({.thread = 9}, {Kernel(100, 200, 1)});
    writer.Work({.thread = 9, .first_sequence = 1, .dropped_before = 3}, {Kernel(700, 800, 5)});
  }
  const ProcessTrace process = Load().processes[0];
  ASSERT_EQ(process.unknown.size(), 1u);
  EXPECT_EQ(process.unknown[0].start_ns, 200);
  EXPECT_EQ(process.unknown[0].end_ns, 700);
}

TEST_F(ReaderTest, LeavesTheDirectoryOfAKilledProcessAsItIs) {
  SegmentWriter writer(run_, identity_);
  writer.UseLog();
  writer.PutUsualRows();
  writer.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
  writer.Close(/*keep_log=*/true);
  const std::vector<std::string> before = run_.Names();
  ASSERT_EQ(before.size(), 3u);
  EXPECT_EQ(Load().processes[0].threads[0].events.size(), 2u);
  EXPECT_EQ(run_.Names(), before);
}

TEST_F(ReaderTest, ReadsALogWhoseIndexIsMissingFromACopy) {
  SegmentWriter writer(run_, identity_);
  writer.UseLog();
  writer.PutUsualRows();
  writer.Close(/*keep_log=*/true);
  ASSERT_EQ(std::remove((writer.path() + "-shm").c_str()), 0);
  const std::vector<std::string> before = run_.Names();
  EXPECT_EQ(Load().processes[0].name, "program");
  EXPECT_EQ(run_.Names(), before);
}

TEST_F(ReaderTest, ReadsWhileTheProcessStillWrites) {
  SegmentWriter writer(run_, identity_);
  writer.UseLog();
  writer.PutUsualRows();
  EXPECT_EQ(Load().processes[0].threads[0].events.size(), 0u);
  writer.Scopes({.thread = 1}, {Begin(kTrain, 100)});
  EXPECT_EQ(Load().processes[0].threads[0].events.size(), 1u);
}

TEST_F(ReaderTest, TakesTheEndOfAKilledRootFromTheLauncher) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100)});
  }
  run_.Write("run.json",
             R"({"format":"gpubound.run.v1","host":"host","root_pid":100,
                 "start_monotonic_ns":0,"end_monotonic_ns":777,"signal":9,"command":["a","b"]})");
  const Run run = Load();
  EXPECT_EQ(run.processes[0].span_end, SpanEnd::kLauncherWait);
  EXPECT_EQ(run.processes[0].span_end_ns, 777);
  EXPECT_EQ(run.processes[0].Counted(LedgerCounter::process_not_closed), 1u);
  EXPECT_EQ(run.info->signal, 9);
  EXPECT_EQ(run.info->command.size(), 2u);
}

TEST_F(ReaderTest, AProcessThatStillRunsHasNotLostItsEnd) {
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof(host) - 1), 0);
  const auto report_of = [&](const WriterIdentity& identity) {
    const TemporaryRun run;
    SegmentWriter writer(run, identity);
    writer.UseLog();
    writer.PutUsualRows();
    writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    writer.Meta("sealed", 1);  // and the next one is not there yet
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100), Begin(kInner, 200)});
    Result<Report> report = BuildReport(*LoadRun(run.path()));
    EXPECT_TRUE(report.ok());
    TextOptions options;
    options.full = true;
    return RenderText(*report, options);
  };
  const std::string running = report_of({host, getpid(), RealtimeNow()});
  EXPECT_NE(running.find("still runs"), std::string::npos);
  EXPECT_EQ(running.find("process_not_closed"), std::string::npos);
  EXPECT_EQ(running.find("live_mapping_unavailable"), std::string::npos);
  EXPECT_EQ(running.find("segments_missing"), std::string::npos);
  EXPECT_EQ(running.find("scopes_open_at_end"), std::string::npos);
  for (const WriterIdentity& ended : {WriterIdentity{host, INT32_MAX, RealtimeNow()},
                                      WriterIdentity{"another", getpid(), RealtimeNow()}}) {
    const std::string report = report_of(ended);
    EXPECT_EQ(report.find("still runs"), std::string::npos);
    EXPECT_NE(report.find("process_not_closed"), std::string::npos);
    EXPECT_NE(report.find("scopes_open_at_end"), std::string::npos);
  }
}

// As on a network filesystem: no log, no mapping, no lock.
TEST_F(ReaderTest, ReadsAProcessThatIsInTheMiddleOfATransactionAgain) {
  char host[256] = {};
  ASSERT_EQ(gethostname(host, sizeof(host) - 1), 0);
  identity_ = {host, getpid(), RealtimeNow()};
  SegmentWriter writer(run_, identity_);
  writer.PutUsualRows();
  writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
  writer.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 200)});
  writer.Sql("UPDATE chunk SET crc=crc+1");
  int waited = 0;
  const Result<Run> run = LoadRunWaiting(run_.path(), [&] {
    if (++waited == 2) writer.Sql("UPDATE chunk SET crc=crc-1");
  });
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(waited, 2);
  EXPECT_EQ(run->processes[0].Counted(LedgerCounter::chunks_corrupt), 0u);
  EXPECT_EQ(run->processes[0].threads[0].events.size(), 2u);
  EXPECT_TRUE(run->problems.empty());
}

TEST_F(ReaderTest, EndsAKilledProcessAtItsLastEvent) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100)});
    writer.Work({.thread = 9}, {Kernel(100, 432, 1)});
  }
  const Run run = Load();
  EXPECT_EQ(run.processes[0].span_end, SpanEnd::kLastEvent);
  EXPECT_EQ(run.processes[0].span_end_ns, 432);
}

// While it waits for the GPU a process makes no events.
TEST_F(ReaderTest, EndsAKilledProcessAtTheLastSampleOfItsClocks) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100)});
    writer.Work({.thread = 9}, {Kernel(100, 200, 1)});
    writer.Sql("INSERT INTO clock VALUES(7, 700, 700, 700, 700, 1)");
    writer.Sql("INSERT INTO unknown VALUES(1, 200, 9223372036854775807, 'not delivered')");
  }
  const Run run = Load();
  EXPECT_EQ(run.processes[0].span_end, SpanEnd::kLastEvent);
  EXPECT_EQ(run.processes[0].span_end_ns, 700);
  const Result<Report> report = BuildReport(run);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->processes[0].operations[0].unknown_ns, 500);
}

TEST_F(ReaderTest, EndsAProcessThatExecutedAnotherWhereThatBegan) {
  {
    SegmentWriter before(run_, {"host", 100, 5});
    before.PutUsualRows();
    before.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    SegmentWriter after(run_, {"host", 100, 6});
    after.PutUsualRows();
    after.Meta("start_monotonic_ns", 400);
  }
  const Result<Report> report = BuildReport(Load());
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->processes[0].span_end, SpanEnd::kReplaced);
  EXPECT_EQ(report->processes[0].span_ns, 400);
  EXPECT_EQ(report->run.wall_ns, 1000);
}

TEST_F(ReaderTest, AcceptsARunInWhichNothingWasRecorded) {
  run_.Write("run.json", R"({"format":"gpubound.run.v1","host":"host","root_pid":100,
                             "start_monotonic_ns":10,"end_monotonic_ns":60})");
  const Run run = Load();
  EXPECT_TRUE(run.processes.empty());
  ASSERT_EQ(run.problems.size(), 1u);
  EXPECT_NE(run.problems[0].find("or what did could not be recorded"), std::string::npos);
  EXPECT_NE(run.problems[0].find("or an LD_PRELOAD of its own"), std::string::npos);
  const Result<Report> report = BuildReport(run);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->run.wall_ns, 50);
  EXPECT_EQ(report->run.root, 100);
}

TEST_F(ReaderTest, ReadsOnWithoutAnUnreadableRunJson) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
  }
  run_.Write("run.json", "{\"format\": ");
  const Run run = Load();
  EXPECT_FALSE(run.info.has_value());
  EXPECT_EQ(run.processes.size(), 1u);
  EXPECT_EQ(run.problems.size(), 1u);
}

}  // namespace
}  // namespace gpubound
