// SPDX-License-Identifier: Apache-2.0
//
// Segments, rows and failures of the sink, through a whole collector.
#include "libprofiler/trace_writer.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "libprofiler/env_vars.h"
#include "proto/schema.h"
#include "tests/libprofiler/collector_fixture.h"

namespace gpubound {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class TraceWriterTest : public CollectorFixture {
 protected:
  // Scopes of varying length, which do not compress to nothing.
  void RecordScopes(int count) {
    uint64_t seed = 7;
    for (int i = 0; i < count; ++i) {
      seed = seed * 6364136223846793005u + 1442695040888963407u;
      Scope("update", static_cast<int64_t>(seed >> 40));
      if (i % 10'000 == 0) Drain();
    }
  }
  std::vector<std::string> Databases() { return FilesEndingIn(directory_.path(), ".db"); }
};

TEST_F(TraceWriterTest, ASegmentSaysWhatItIs) {
  StartCollector();
  Finish("_exit");
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.Number("PRAGMA application_id"), kTraceApplicationId);
  EXPECT_EQ(trace.Number("PRAGMA user_version"), kTraceFormatVersion);
  EXPECT_EQ(trace.Meta("pid"), "4321");
  EXPECT_EQ(trace.Meta("start_realtime_ns"), "1700000000000000000");
  EXPECT_EQ(trace.Meta("start_monotonic_ns"), "900000000");
  EXPECT_EQ(trace.Meta("end_monotonic_ns"), std::to_string(Now()));
  EXPECT_EQ(trace.Meta("end_how"), "_exit");
  EXPECT_EQ(trace.Meta("sealed"), "1");
  EXPECT_EQ(trace.Meta("ticks"), "tsc");
  EXPECT_EQ(trace.Meta("device_kind"), "none");
  EXPECT_THAT(trace.Meta("name"), HasSubstr("libprofiler"));
}

TEST_F(TraceWriterTest, EveryVariableIsInTheConfiguration) {
  StartCollector();
  Finish();
  const TraceFile trace(DatabasePath());
  for (const EnvVar& var : kEnvVars) {
    EXPECT_THAT(trace.Column("SELECT key FROM config"), Contains(var.name));
  }
}

TEST_F(TraceWriterTest, AnOpenSegmentIsReadableAndNotSealed) {
  StartCollector();
  Scope("update", 10);
  Drain();
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.Meta("sealed"), "0");
  EXPECT_EQ(trace.Meta("chunks"), "1");
  EXPECT_EQ(trace.Meta("end_how"), "");
  EXPECT_THAT(trace.ThreadEventsOf(1), SizeIs(2));
}

TEST_F(TraceWriterTest, AClosedTraceIsOnePrivateFile) {
  StartCollector();
  Scope("update", 10);
  Finish();
  const std::vector<std::string> files = FilesEndingIn(directory_.path(), "");
  ASSERT_THAT(files, SizeIs(1)) << "no log, no live mapping left";
  struct stat info = {};
  ASSERT_EQ(stat(files[0].c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(TraceWriterTest, AFullSegmentIsSealedAndTheNextRepeatsWhatItsChunksNeed) {
  settings_.segment_bytes = 100'000;
  StartCollector();
  RecordScopes(100'000);
  Finish();
  ASSERT_GT(Databases().size(), 2u);
  uint64_t next = 0;
  for (size_t segment = 0; segment < Databases().size(); ++segment) {
    const TraceFile trace(DatabasePath(segment));
    EXPECT_EQ(trace.Meta("sealed"), "1");
    EXPECT_EQ(trace.Meta("chunks"), trace.Text("SELECT count(*) FROM chunk"));
    EXPECT_EQ(trace.Meta("segment"), std::to_string(segment));
    EXPECT_THAT(trace.Column("SELECT text FROM label"), Contains("update"));
    EXPECT_EQ(trace.Text("SELECT name FROM thread WHERE id=1"), "main");
    for (const auto& chunk : trace.Chunks(EventFamily::kThread)) {
      EXPECT_EQ(chunk.row.first_sequence, next);
      next += chunk.row.sequence_count;
    }
  }
  EXPECT_EQ(next, 200'000u);
}

// Also one that nobody closes, as after a kill.
class RowCounts : public TraceWriterTest, public testing::WithParamInterface<bool> {};

INSTANTIATE_TEST_SUITE_P(OpenAndClosed, RowCounts, testing::Bool());

TEST_P(RowCounts, ASegmentSaysHowManyRowsEachTableHas) {
  StartCollector();
  Scope("update", 100);
  Drain();
  Scope("collect", 100);
  Drain();
  if (GetParam()) Finish();
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.Meta("chunks"), trace.Text("SELECT count(*) FROM chunk"));
  const std::vector<std::string> tables = trace.Column(
      "SELECT name FROM sqlite_master WHERE type='table' AND name NOT IN ('chunk','row_count') "
      "ORDER BY name");
  EXPECT_EQ(trace.Column("SELECT name FROM row_count ORDER BY name"), tables);
  EXPECT_EQ(trace.Meta("row_counts"), std::to_string(tables.size()));
  for (const std::string& table : tables) {
    EXPECT_EQ(trace.Number("SELECT rows FROM row_count WHERE name='" + table + "'"),
              trace.Number("SELECT count(*) FROM " + table))
        << table;
  }
}

TEST_F(TraceWriterTest, RecordingStopsWithALineWhereSomebodyRemovesTheRunDirectory) {
  StartCollector();
  Scope("update", 100);
  Drain();
  std::filesystem::remove_all(directory_.path());
  Scope("update", 100);
  testing::internal::CaptureStderr();
  Drain();
  Scope("update", 100);
  Drain();
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              testing::MatchesRegex("gpubound: cannot write [^\n]*removed[^\n]*\n"));
}

TEST_F(TraceWriterTest, DeviceRowsAreWritten) {
  StartCollector();
  DeviceHost* host = collector_->host();
  DeviceInfo info{.index = 0, .multiprocessors = 132, .simulated = true};
  info.uuid[0] = 0xab;
  const DeviceId device = host->DefineDevice(info, "H200");
  const StreamId stream = host->InternStream(device, 1, 7);
  const WorkId work = host->InternWork({.kind = WorkKind::kKernel, .grid = {4, 1, 1}}, "gemm");
  DeviceSink* sink = host->NewSink();
  sink->Append(DeviceRecord{.start_ns = 5,
                            .end_ns = 9,
                            .bytes = 0,
                            .graph_node = 0,
                            .correlation = 3,
                            .stream = stream,
                            .work = work,
                            .graph = 0});
  sink->Publish();
  Finish();
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.Meta("device_kind"), "simulated");
  EXPECT_EQ(trace.Text("SELECT name FROM device WHERE multiprocessors=132"), "H200");
  EXPECT_EQ(trace.Text("SELECT uuid FROM device"), "GPU-ab000000-0000-0000-0000-000000000000");
  EXPECT_EQ(trace.Number("SELECT stream FROM stream"), 7);
  EXPECT_EQ(trace.Number("SELECT grid_x FROM work WHERE name='gemm'"), 4);
  EXPECT_EQ(trace.Number("SELECT event_count FROM chunk WHERE family=3"), 1);
}

TEST_F(TraceWriterTest, NodesOfGraphsAreWrittenWithTheOperationThatCapturedThem) {
  StartCollector();
  DeviceHost* host = collector_->host();
  const LabelId layer =
      collector_->labels()->Intern(LabelKind::kLayer, Layer::kBackend, "", "torch");
  EXPECT_EQ(host->OpenOperation(), LabelId{});
  const LabelId range = host->InternRange("library", "step");
  host->BeginScope(range);
  EXPECT_EQ(host->OpenOperation(), range);
  host->BeginScope(Operation("update"));
  host->BeginScope(layer);
  EXPECT_EQ(host->OpenOperation(), Operation("update")) << "neither the layer nor the annotation";
  host->DefineGraphNode({.node = 9, .graph = 2, .type = 0, .operation = host->OpenOperation()},
                        "gemm");
  Finish();
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.Text("SELECT text FROM graph_node JOIN label ON label.id = operation "
                       "WHERE node=9 AND graph=2 AND name='gemm'"),
            "update");
}

TEST_F(TraceWriterTest, SamplesAreWrittenOnceWhateverTheNumberOfSegments) {
  settings_.segment_bytes = 100'000;
  StartCollector();
  UtilizationSample sample;
  sample.time_ns = 7;
  sample.gpu_percent = 93;
  collector_->host()->AddSample(sample, "GPU-1");
  collector_->host()->AddSample(
      {.time_ns = 8, .processes = 3, .cpu_ns = 5, .resident_bytes = 6, .run_delay_ns = 9});
  Drain();
  RecordScopes(100'000);
  Finish();
  ASSERT_GT(Databases().size(), 1u);
  const TraceFile first(DatabasePath(0));
  EXPECT_EQ(first.Number("SELECT gpu_percent FROM utilization WHERE time_ns=7 AND uuid='GPU-1'"),
            93);
  EXPECT_EQ(first.Number("SELECT power_mw FROM utilization"), -1);
  EXPECT_EQ(first.Number("SELECT run_delay_ns FROM process_tree WHERE processes=3"), 9);
  EXPECT_EQ(TraceFile(DatabasePath(1)).Number("SELECT count(*) FROM utilization"), 0);
}

TEST_F(TraceWriterTest, TimeSinceTheLastDeliveryIsUnknownUntilTheTraceIsClosed) {
  StartCollector();
  collector_->host()->DeliveredUntil(5'000);
  Drain();
  {
    const TraceFile trace(DatabasePath());
    EXPECT_EQ(trace.Number("SELECT start_ns FROM unknown"), 5'000);
    EXPECT_EQ(trace.Number("SELECT end_ns FROM unknown"), INT64_MAX);
  }
  Finish();
  EXPECT_EQ(TraceFile(DatabasePath()).Number("SELECT count(*) FROM unknown"), 0);
}

TEST_F(TraceWriterTest, NotesAndUnknownTimeOfASourceAreKept) {
  StartCollector();
  collector_->host()->MarkUnknown(100, 200, "paused");
  testing::internal::CaptureStderr();
  collector_->host()->Note("CUPTI is held by another tool");
  collector_->host()->Note("CUPTI is held by another tool");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "gpubound: CUPTI is held by another tool\n");
  Finish();
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.Text("SELECT reason FROM unknown WHERE start_ns=100 AND end_ns=200"), "paused");
  EXPECT_EQ(trace.Number("SELECT count(*) FROM note"), 1);
}

// The disk is full from the third megabyte on. In a child, since the limit cannot be taken back.
class FullDiskTest : public TraceWriterTest {
 protected:
  void LimitFileSize(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {bytes, bytes};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  [[noreturn]] void RecordOnFullDisk() {
    settings_.segment_bytes = uint64_t{1} << 40;
    StartCollector();
    LimitFileSize(3 << 20);
    for (int i = 0; i < 30; ++i) RecordScopes(50'000);
    const uint64_t errors = collector_->ledger()->Get(LedgerCounter::sink_write_errors);
    Finish();
    std::_Exit(errors == 1 ? 0 : 1);
  }
};

TEST_F(FullDiskTest, TheSinkStopsSaysSoOnceAndLeavesWhatWasWrittenReadable) {
  const std::string path = directory_.path();
  EXPECT_EXIT(RecordOnFullDisk(), testing::ExitedWithCode(0),
              "^gpubound: cannot write .*\\.0\\.db: .*; recording stops here, the program goes "
              "on\n$");
}

TEST_F(FullDiskTest, WhatWasCommittedBeforeDecodes) {
  // A death test's child has a directory of its own; this one shares ours.
  const pid_t child = fork();
  if (child == 0) {
    if (std::freopen("/dev/null", "w", stderr) == nullptr) std::_Exit(3);
    RecordOnFullDisk();
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const TraceFile trace(DatabasePath());
  EXPECT_EQ(trace.Text("PRAGMA integrity_check"), "ok");
  EXPECT_GT(trace.ThreadEventsOf(1).size(), 100'000u);
}

TEST_F(TraceWriterTest, ADatabaseThatExistsIsNeverOverwritten) {
  StartCollector();
  Scope("update", 1);
  Finish();
  const std::string before = TraceFile(DatabasePath()).Meta("end_how");
  CollectorOptions options;
  options.settings.run_directory = directory_.path();
  options.start = collector_->start();
  options.clock = &clock_;
  options.start_flusher = false;
  testing::internal::CaptureStderr();
  EXPECT_EQ(Collector::Create(std::move(options)), nullptr);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("File exists"));
  EXPECT_EQ(TraceFile(DatabasePath()).Meta("end_how"), before);
  EXPECT_THAT(FilesEndingIn(directory_.path(), ".live"), IsEmpty());
}

}  // namespace
}  // namespace gpubound
